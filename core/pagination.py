"""Pages of long lists."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.core.paginator import EmptyPage, Page, PageNotAnInteger, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

from core.text import to_latin_digits

PAGE_SIZE = 50


class CappedPaginator(Paginator[Any]):
    """Pages of the first `most` rows. Rows beyond are not counted: `more` says whether there are any."""

    def __init__(self, queryset: QuerySet[Any], size: int, most: int) -> None:
        super().__init__(queryset, size)
        self._rows, self._most = queryset, most

    @cached_property
    def _counted(self) -> int:
        return self._rows[: self._most + 1].count()

    @cached_property
    def count(self) -> int:
        return min(self._counted, self._most)

    @property
    def more(self) -> bool:
        return self._counted > self._most


def paginate(
    request: HttpRequest,
    queryset: QuerySet[Any] | list[Any],
    size: int = PAGE_SIZE,
    *,
    most: int | None = None,
) -> Page[Any]:
    """The page named by `?page=`; a word gives the first page, a number past the end the last one.

    The rows are counted once (`page.paginator.count` is kept). `queryset` must be ordered. With `most`, for
    conditions that no index answers, no more than so many are counted and paged through.
    """
    if most is not None and isinstance(queryset, QuerySet):
        paginator: Paginator[Any] = CappedPaginator(queryset, size, most)
    else:
        paginator = Paginator(queryset, size)
    wanted = to_latin_digits(request.GET.get("page", "1"))
    try:
        return paginator.page(wanted)
    except PageNotAnInteger:
        return paginator.page(1)
    except EmptyPage:
        return paginator.page(paginator.num_pages if wanted.lstrip("-").isdigit() and int(wanted) > 0 else 1)

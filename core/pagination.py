"""Pages of long lists."""

from __future__ import annotations

from typing import Any

from django.core.paginator import EmptyPage, Page, PageNotAnInteger, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

from core.text import to_latin_digits

PAGE_SIZE = 50


def paginate(request: HttpRequest, queryset: QuerySet[Any] | list[Any], size: int = PAGE_SIZE) -> Page[Any]:
    """The page named by `?page=`; a word gives the first page, a number past the end the last one.

    The rows are counted once (`page.paginator.count` is kept). `queryset` must be ordered.
    """
    paginator: Paginator[Any] = Paginator(queryset, size)
    wanted = to_latin_digits(request.GET.get("page", "1"))
    try:
        return paginator.page(wanted)
    except PageNotAnInteger:
        return paginator.page(1)
    except EmptyPage:
        return paginator.page(paginator.num_pages if wanted.lstrip("-").isdigit() and int(wanted) > 0 else 1)

"""Pages of long lists."""

from __future__ import annotations

import pytest
from django.test import RequestFactory
from pytest_django import DjangoAssertNumQueries

from core import clock
from core.models import Heartbeat
from core.pagination import paginate


def number_for(page: str, rows: int = 120) -> int:
    return paginate(RequestFactory().get("/", {"page": page}), list(range(rows))).number


@pytest.mark.parametrize(
    ("wanted", "number"),
    [("1", 1), ("3", 3), ("۲", 2), ("99", 3), ("0", 1), ("-4", 1), ("next", 1), ("", 1), ("1.5", 1)],
)
def test_a_wrong_page_gives_the_nearest_sensible_one(wanted: str, number: int) -> None:
    assert number_for(wanted) == number


def test_without_a_page_the_first_is_shown() -> None:
    assert list(paginate(RequestFactory().get("/"), list(range(120))))[-1] == 49


def test_an_empty_list_has_one_empty_page() -> None:
    assert number_for("7", rows=0) == 1


@pytest.mark.django_db
@pytest.mark.parametrize(("rows", "count", "more"), [(2, 2, False), (3, 3, False), (4, 3, True)])
def test_no_more_rows_are_counted_than_asked_for(rows: int, count: int, more: bool) -> None:
    Heartbeat.objects.bulk_create(Heartbeat(name=str(n), at=clock.now()) for n in range(rows))

    page = paginate(RequestFactory().get("/?page=9"), Heartbeat.objects.order_by("name"), size=2, most=3)

    assert (page.paginator.count, getattr(page.paginator, "more", None)) == (count, more)
    assert page.number == page.paginator.num_pages <= 2


@pytest.mark.django_db
def test_rows_are_counted_once(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    Heartbeat.objects.bulk_create(Heartbeat(name=name, at=clock.now()) for name in "abc")
    with django_assert_num_queries(2):
        page = paginate(RequestFactory().get("/"), Heartbeat.objects.order_by("name"), size=2)
        assert [row.name for row in page] == ["a", "b"]
        assert (page.paginator.count, page.paginator.num_pages) == (3, 2)

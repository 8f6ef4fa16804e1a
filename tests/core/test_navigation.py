"""Who sees which entry of the navigation, and which one is current."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.urls import path

from core import navigation
from core.context_processors import Shell
from core.navigation import NavItem


def _page(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


urlpatterns = [
    path("", _page, name="home"),
    path("people/", _page, name="people"),
    path("people/lists/", _page, name="lists"),
    *[path(f"page-{i}/", _page, name=f"page-{i}") for i in range(9)],
]
pytestmark = pytest.mark.urls(__name__)


@pytest.fixture(autouse=True)
def _own_entries() -> Iterator[None]:
    others = dict(navigation._items)
    navigation._items.clear()
    yield
    navigation._items.clear()
    navigation._items.update(others)


def request(path: str = "/", *permissions: str) -> HttpRequest:
    made = RequestFactory().get(path)
    made.permissions = frozenset(permissions)  # type: ignore[attr-defined]
    made.workspace = SimpleNamespace(pk=1, name="Sun")  # type: ignore[attr-defined]
    made.user = SimpleNamespace(is_authenticated=True)  # type: ignore[assignment]
    return made


def register(*names: str, **more: object) -> None:
    for order, name in enumerate(names):
        navigation.register(NavItem(key=name, label=name, url_name=name, order=order, **more))  # type: ignore[arg-type]


def keys(asked: HttpRequest) -> list[str]:
    return [link.key for group in navigation.groups_for(asked) for link in group.links]


def test_an_entry_needs_its_permission() -> None:
    register("people", permission="targets.view")
    assert keys(request("/")) == []
    assert keys(request("/", "targets.view")) == ["people"]


def test_an_entry_without_permission_is_for_every_member() -> None:
    register("people")
    assert keys(request("/")) == ["people"]


def test_an_entry_whose_page_does_not_exist_is_left_out() -> None:
    register("people", "nowhere")
    assert keys(request("/")) == ["people"]


def test_an_entry_can_be_switched_off() -> None:
    register("people", enabled=lambda _request: False)
    assert keys(request("/")) == []


def test_an_unknown_group_is_refused() -> None:
    with pytest.raises(ValueError, match="nosuch"):
        register("people", group="nosuch")


def test_groups_stand_in_their_order_and_empty_ones_are_left_out() -> None:
    navigation.register(NavItem(key="b", label="b", url_name="lists", order=1, group="settings"))
    navigation.register(NavItem(key="a", label="a", url_name="people", order=2))
    assert [group.key for group in navigation.groups_for(request("/"))] == ["", "settings"]


@pytest.mark.parametrize(
    ("path", "current"),
    [
        ("/", {"home": "page", "people": "", "lists": ""}),
        ("/people/", {"home": "", "people": "page", "lists": ""}),
        ("/people/7/", {"home": "", "people": "true", "lists": ""}),
        ("/people/lists/3/", {"home": "", "people": "", "lists": "true"}),
        ("/else/", {"home": "", "people": "", "lists": ""}),
    ],
)
def test_the_nearest_entry_is_current(path: str, current: dict[str, str]) -> None:
    register("home", "people", "lists")
    links = [link for group in navigation.groups_for(request(path)) for link in group.links]
    assert {link.key: link.current for link in links} == current


def test_a_phone_shows_four_entries_and_keeps_the_rest_behind_more() -> None:
    register(*[f"page-{i}" for i in range(7)])
    links = navigation.groups_for(request("/"))[0].links
    assert [link.key for link in links if not link.extra] == ["page-0", "page-1", "page-2", "page-3"]


def test_five_entries_need_no_more() -> None:
    register(*[f"page-{i}" for i in range(5)])
    assert not any(link.extra for link in navigation.groups_for(request("/"))[0].links)


def test_nobody_sees_navigation_before_signing_in() -> None:
    register("people")
    made = request("/")
    made.user = SimpleNamespace(is_authenticated=False)  # type: ignore[assignment]
    assert Shell(made).groups == []


def test_nobody_sees_navigation_outside_a_workspace() -> None:
    register("people")
    made = request("/")
    made.workspace = None  # type: ignore[attr-defined]
    assert Shell(made).groups == []


def test_the_shell_needs_no_middleware() -> None:
    """Error pages may be drawn before any of it ran."""
    made = Shell(RequestFactory().get("/x/?y=1"))
    assert (made.next, made.signed_in, made.groups) == ("/x/?y=1", False, [])


@pytest.mark.parametrize(("cookie", "theme"), [("dark", "dark"), ("light", "light"), ('"><b>', ""), ("", "")])
def test_only_known_themes_are_taken_from_the_cookie(cookie: str, theme: str) -> None:
    made = request("/")
    made.COOKIES["theme"] = cookie
    assert Shell(made).theme == theme


class Unreachable:
    """A person whose row cannot be read because the database is down."""

    @property
    def is_authenticated(self) -> bool:
        raise RuntimeError("no database")


@pytest.mark.parametrize("name", ["400", "500", "csrf"])
def test_the_page_of_a_fault_does_not_ask_who_is_there(name: str) -> None:
    made = request("/")
    made.user = Unreachable()  # type: ignore[assignment]
    assert "<h1" in render_to_string(f"errors/{name}.html", {}, made)

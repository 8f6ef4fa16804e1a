"""The site's navigation: apps register entries when they start, the shell shows what a person may open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

PHONE_TABS = 4  # the rest is behind "More"
GROUPS: dict[str, str | Promise] = {
    "": "",
    "automation": _("Automation"),
    "messages": _("Messages"),
    "settings": _("Settings"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NavItem:
    """One entry. `permission` "" means every member; `enabled` hides the entry while it answers False."""

    key: str
    label: str | Promise
    url_name: str
    permission: str = ""
    order: int = 100
    icon: str = "lists"
    group: str = ""
    enabled: Callable[[HttpRequest], bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NavLink:
    """An entry as the page draws it. `current` is "page", "true" (a page below it) or ""."""

    key: str
    label: str | Promise
    url: str
    icon: str
    current: str
    extra: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NavGroup:
    key: str
    label: str | Promise
    links: tuple[NavLink, ...]


_items: dict[str, NavItem] = {}


def register(item: NavItem) -> None:
    """Add an entry, or replace the one with the same key. Raises ValueError for an unknown group."""
    if item.group not in GROUPS:
        raise ValueError(f"no navigation group named {item.group!r}")
    _items[item.key] = item


def unregister(key: str) -> None:
    """Take an entry away; nothing happens if there is none."""
    _items.pop(key, None)


def resolve(url_name: str) -> str:
    """The address of a page without arguments, or "" while no app offers it."""
    try:
        return reverse(url_name)
    except NoReverseMatch:
        return ""


def _visible(request: HttpRequest) -> list[tuple[NavItem, str]]:
    held: frozenset[str] = getattr(request, "permissions", frozenset())
    groups = list(GROUPS)
    shown: list[tuple[NavItem, str]] = []
    for item in sorted(_items.values(), key=lambda i: (groups.index(i.group), i.order, i.key)):
        if item.permission and item.permission not in held:
            continue
        url = resolve(item.url_name)
        if url and (item.enabled is None or item.enabled(request)):
            shown.append((item, url))
    return shown


def _nearest(path: str, urls: list[str]) -> str:
    """The longest address that `path` lies at or below; the site's root matches itself only."""
    below = [url for url in urls if path == url or (url != "/" and path.startswith(url))]
    return max(below, key=len, default="")


def groups_for(request: HttpRequest) -> list[NavGroup]:
    """The navigation of this person on this page, in order; empty groups are left out.

    The phone's tabs are the first `PHONE_TABS` entries by their `order`, whatever group they are in.
    """
    shown = _visible(request)
    here = _nearest(request.path, [url for _item, url in shown])
    by_order = sorted((item for item, _url in shown), key=lambda i: (i.order, i.key))
    tabs = {item.key for item in (by_order if len(by_order) <= PHONE_TABS + 1 else by_order[:PHONE_TABS])}
    groups: list[NavGroup] = []
    for key, label in GROUPS.items():
        links = tuple(
            NavLink(
                key=item.key,
                label=item.label,
                url=url,
                icon=item.icon,
                current=("page" if request.path == url else "true") if url == here else "",
                extra=item.key not in tabs,
            )
            for item, url in shown
            if item.group == key
        )
        if links:
            groups.append(NavGroup(key=key, label=label, links=links))
    return groups

"""What every page's frame needs: language, theme, navigation, addresses of the shell's own actions."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import get_language, get_language_info

from core import navigation

THEMES = ("light", "dark")
SHELL_PAGES = (
    "home", "sign-in", "sign-out", "set-language", "switch", "account", "workspace-list",
    "search", "search-suggestions",
)  # fmt: skip


class Shell:
    """The frame of one page. Each part is worked out when a template asks for it.

    Attributes of the request that middleware has not set count as missing, and language and theme touch
    neither session nor database: a page that reports their failure uses only those.
    """

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        self.language = (get_language() or settings.LANGUAGE_CODE).split("-")[0]
        self.dir = "rtl" if get_language_info(self.language)["bidi"] else "ltr"
        theme = request.COOKIES.get("theme", "")
        self.theme = theme if theme in THEMES else ""
        self.next = request.get_full_path()

    @property
    def languages(self) -> list[dict[str, str]]:
        """The languages of the site, each named in itself."""
        names = {code: get_language_info(code)["name_local"] for code, _name in settings.LANGUAGES}
        return [
            {"code": code, "name": name, "current": "true" if code == self.language else ""}
            for code, name in names.items()
        ]

    @cached_property
    def signed_in(self) -> bool:
        user = getattr(self._request, "user", None)
        return user is not None and bool(user.is_authenticated)

    @property
    def workspace(self) -> Any:
        return getattr(self._request, "workspace", None) if self.signed_in else None

    @property
    def stopped_at(self) -> datetime | None:
        """Since when nothing is sent in the workspace because somebody stopped everything."""
        moment: datetime | None = getattr(self.workspace, "sending_stopped_at", None)
        return moment

    @property
    def workspaces(self) -> Iterable[Any]:
        """What the switcher offers."""
        return getattr(self._request, "workspace_choices", ()) if self.signed_in else ()

    @cached_property
    def groups(self) -> list[navigation.NavGroup]:
        return navigation.groups_for(self._request) if self.workspace is not None else []

    @property
    def extra_links(self) -> list[navigation.NavLink]:
        """What a phone shows behind "More"."""
        return [link for group in self.groups for link in group.links if link.extra]

    @property
    def more_current(self) -> bool:
        return any(link.current for link in self.extra_links)

    @cached_property
    def urls(self) -> dict[str, str]:
        """Addresses of the shell's own pages, "" for those that no app offers."""
        return {page.replace("-", "_"): navigation.resolve(f"workspaces:{page}") for page in SHELL_PAGES}


def shell(request: HttpRequest) -> dict[str, Shell]:
    return {"shell": Shell(request)}

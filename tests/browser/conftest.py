"""Pages in Debian's Chromium. Every test fails on a console message, a script error or a CSP violation.

Choose the surroundings with `@pytest.mark.parametrize("screen", ["desktop", "phone"], indirect=True)` and in
the same way `language` (fa, en) and `theme` ("", light, dark). Environment: CHROMIUM is the browser's
path; PEYK_SCREENSHOTS a folder that `shot` saves pictures to (nothing is saved without it).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client
from playwright.sync_api import Browser, ConsoleMessage, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import people

# Playwright's event loop makes Django refuse every query of a test as unsafe otherwise.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
ARGS = [
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SCREENS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 900}},
    "tablet": {"viewport": {"width": 800, "height": 1000}, "has_touch": True},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
    "narrow": {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True},
}
expect.set_options(timeout=15_000)
_REPORT_CSP = (
    "document.addEventListener('securitypolicyviolation', "
    "(e) => window.peykReport(`CSP ${e.violatedDirective} ${e.blockedURI}`))"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    path = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    return {**browser_type_launch_args, "executable_path": path, "args": ARGS}


class Watch:
    """What the browser complained about. `allow` names what a test provokes on purpose."""

    def __init__(self) -> None:
        self.complaints: list[str] = []
        self._allowed: list[str] = []

    def allow(self, part: str) -> None:
        self._allowed.append(part)

    def console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.text} ({message.location.get('url', '')})")

    def unexpected(self) -> list[str]:
        return [line for line in self.complaints if not any(part in line for part in self._allowed)]


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def screen(request: pytest.FixtureRequest) -> str:
    return getattr(request, "param", "desktop")


@pytest.fixture
def language(request: pytest.FixtureRequest) -> str:
    return getattr(request, "param", "fa")


@pytest.fixture
def theme(request: pytest.FixtureRequest) -> str:
    return getattr(request, "param", "")


@pytest.fixture
def page(
    browser: Browser, live_server: LiveServer, watch: Watch, screen: str, language: str, theme: str
) -> Iterator[Page]:
    """A page on the given screen, in the given language and theme; addresses are the live server's."""
    context = browser.new_context(
        base_url=live_server.url, reduced_motion="reduce", timezone_id="Asia/Tehran", **SCREENS[screen]
    )
    cookies = {django_settings.LANGUAGE_COOKIE_NAME: language} | ({"theme": theme} if theme else {})
    context.add_cookies(
        [{"name": name, "value": value, "url": live_server.url} for name, value in cookies.items()]
    )
    page = context.new_page()
    page.set_default_timeout(30_000)  # a busy machine is no fault of the page
    page.on("console", watch.console)
    page.on("pageerror", lambda error: watch.complaints.append(str(error)))
    page.expose_function("peykReport", lambda line: watch.complaints.append(line))
    page.add_init_script(_REPORT_CSP)
    yield page
    context.close()
    assert not watch.unexpected()


@pytest.fixture
def sign_in(page: Page, live_server: LiveServer) -> Callable[[Any], None]:
    """`sign_in(user)`: the page goes on as this person, without the sign-in form."""

    def sign_in(user: Any) -> None:
        client = Client()
        client.force_login(user, backend=people.BACKEND)
        name = django_settings.SESSION_COOKIE_NAME
        page.context.add_cookies(
            [{"name": name, "value": client.cookies[name].value, "url": live_server.url}]
        )

    return sign_in


@pytest.fixture
def shot(page: Page, screen: str, language: str, theme: str) -> Callable[[str], None]:
    """`shot("name")`: a picture of the whole page, if PEYK_SCREENSHOTS names a folder."""

    def shot(name: str) -> None:
        folder = os.environ.get("PEYK_SCREENSHOTS")
        if folder:
            file = Path(folder) / f"{name}-{screen}-{language}{'-' + theme if theme else ''}.png"
            page.evaluate("window.scrollTo(0, 0)")
            page.screenshot(path=file, full_page=True)

    return shot

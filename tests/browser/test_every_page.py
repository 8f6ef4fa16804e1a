"""Every page of the site, found through the list of addresses: readable by everybody, on every screen.

Each page is opened once in each language. The two visits take the opposite theme and width of each other,
and pages take turns, so that every pair of language, theme and width meets half of all pages; reflow at 320
pixels is asked on every visit. With PEYK_EVERY_LOOK in the environment each page is seen in all of them,
which takes six times as long.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, ViewportSize

from core import clock as core_clock
from tests import sample_site
from tests.browser import tour
from tests.browser.accessibility import violations
from tests.clocks import MovableClock
from tests.people import client_of
from workspaces import guide
from workspaces.models import User

pytestmark = pytest.mark.django_db(transaction=True)
WIDE: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
NARROW: ViewportSize = {"width": 320, "height": 640}
THEMES = ("dark", "light")
EVERY_LOOK = "PEYK_EVERY_LOOK" in os.environ
_TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize("language", ["fa", "en"], indirect=True)
def test_every_page_is_accessible_and_fits(
    page: Page, sign_in: Callable[[Any], None], clock: MovableClock, language: str
) -> None:
    site = sample_site.build(clock)
    sign_in(site.owner)
    faults: list[str] = []
    # The dearest rule, and colours know no language.
    skipped = ["color-contrast"] if language == "en" and not EVERY_LOOK else []
    stops = list(tour.stops(site, client_of(site.owner, language=language)))
    assert len(stops) > 50
    for turn, stop in enumerate(stops):
        page.goto(stop.address)
        for theme, size in looks(turn, language):
            page.set_viewport_size(size)
            page.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
            found = violations(page, without=skipped)
            faults += [f"{stop.name} ({theme}, {size['width']}): {fault}" for fault in found]
        page.set_viewport_size(NARROW)
        too_wide = page.evaluate(_TOO_WIDE)
        faults += [f"{stop.name}: {too_wide} pixels too wide at 320"] if too_wide > 0 else []

    assert not faults, "\n".join(faults)


def looks(turn: int, language: str) -> list[tuple[str, ViewportSize]]:
    """The themes and sizes in which the page of this turn is seen."""
    if EVERY_LOOK:
        return [(theme, size) for theme in THEMES for size in (WIDE, PHONE)]
    return [(THEMES[turn % 2], (WIDE, PHONE)[(turn // 2 + (language == "en")) % 2])]


@pytest.mark.skipif("PEYK_GUIDE" not in os.environ, reason="script/guide names the folder for its pictures")
@pytest.mark.parametrize("language", ["fa", "en"], indirect=True)
def test_the_guides_pictures(
    page: Page, sign_in: Callable[[Any], None], clock: MovableClock, language: str
) -> None:
    folder = Path(os.environ["PEYK_GUIDE"]) / language
    folder.mkdir(parents=True, exist_ok=True)
    site = sample_site.build(clock)
    sign_in(site.owner)
    User.objects.update(last_login=core_clock.now())
    width, height = guide.PICTURE_SIZE
    page.set_viewport_size({"width": width, "height": height})
    for name in wanted(language):
        page.goto(tour.address_of(tour.address_name(name), site))
        page.wait_for_load_state("networkidle")
        (folder / f"{name}.webp").write_bytes(picture(page))


def wanted(language: str) -> list[str]:
    """The pictures that the guide names, each once."""
    names = [
        name
        for slug in guide.CHAPTERS
        for name in guide.picture_names((guide.FOLDER / language / f"{slug}.md").read_text(encoding="utf-8"))
    ]
    return list(dict.fromkeys(names))


def picture(page: Page) -> bytes:
    """The visible part of the page, small: Chromium itself writes WebP."""
    session = page.context.new_cdp_session(page)
    taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": 60})
    return base64.b64decode(taken["data"])

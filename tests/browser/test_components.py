"""The shared components, on a page that has all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_django import Settings

from core import navigation
from tests.browser.accessibility import assert_accessible
from tests.browser.conftest import Watch
from tests.browser.sample import nav_items

pytestmark = pytest.mark.django_db(transaction=True)
EVERY_LOOK = [
    pytest.param("desktop", "fa", "light"),
    pytest.param("desktop", "en", "dark"),
    pytest.param("phone", "fa", "dark"),
    pytest.param("phone", "en", "light"),
    pytest.param("tablet", "fa", "light"),
]
looks = pytest.mark.parametrize(("screen", "language", "theme"), EVERY_LOOK, indirect=True)


@pytest.fixture(autouse=True)
def gallery(settings: Settings) -> Iterator[None]:
    templates: Any = deepcopy(settings.TEMPLATES)
    templates[0]["DIRS"] = [*templates[0]["DIRS"], Path(__file__).parent / "templates"]
    settings.TEMPLATES = templates
    settings.ROOT_URLCONF = "tests.browser.gallery"
    others = dict(navigation._items)
    navigation._items.clear()
    for item in nav_items():
        navigation.register(item)
    yield
    navigation._items.clear()
    navigation._items.update(others)


@looks
def test_every_component_is_accessible(page: Page, shot: Callable[[str], None]) -> None:
    page.goto("/")
    assert_accessible(page)
    shot("components")


@looks
def test_the_pages_of_errors_are_accessible(page: Page, shot: Callable[[str], None]) -> None:
    for name in ("400", "403", "404", "500", "csrf", "refused"):
        page.goto(f"/error/{name}/")
        assert_accessible(page)
        shot(f"error-{name}")


@looks
def test_the_page_before_sign_in_is_accessible(page: Page, shot: Callable[[str], None]) -> None:
    page.goto("/auth/")
    assert_accessible(page)
    shot("auth")


@pytest.mark.parametrize("screen", ["narrow", "phone", "tablet"], indirect=True)
def test_the_page_never_scrolls_sideways(page: Page) -> None:
    page.goto("/")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize(("language", "direction"), [("fa", "rtl"), ("en", "ltr")], indirect=["language"])
def test_the_page_says_its_language_and_direction(page: Page, language: str, direction: str) -> None:
    page.goto("/")
    assert page.evaluate("[document.documentElement.lang, document.documentElement.dir]") == [
        language,
        direction,
    ]


@pytest.mark.parametrize("screen", ["phone"], indirect=True)
def test_on_a_phone_the_last_entries_are_behind_more(page: Page) -> None:
    page.goto("/")
    audit = page.get_by_role("link", name="رویدادنامه")
    expect(audit).to_have_count(0)
    page.get_by_text("بیشتر").click()
    expect(audit).to_be_visible()
    assert_accessible(page)


@pytest.mark.parametrize("screen", ["desktop", "phone"], indirect=True)
def test_a_dialog_opens_and_gives_the_focus_back(page: Page) -> None:
    page.goto("/")
    page.locator("#stop-open").click()
    expect(page.get_by_role("dialog", name="کمپین متوقف شود؟")).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Escape")
    expect(page.locator("#stop-open")).to_be_focused()


@pytest.mark.parametrize("screen", ["phone"], indirect=True)
def test_on_a_phone_a_dialog_is_a_sheet_at_the_bottom(page: Page) -> None:
    page.goto("/")
    page.locator("#stop-open").click()
    box = page.locator("#stop").bounding_box()
    assert box is not None
    assert (box["x"], box["width"], box["y"] + box["height"]) == (0, 390, 844)


def test_a_click_beside_a_dialog_closes_it(page: Page) -> None:
    page.goto("/")
    page.locator("#stop-open").click()
    page.mouse.click(10, 10)
    expect(page.locator("#stop")).to_be_hidden()
    expect(page.locator("#stop-open")).to_be_focused()

    page.locator("#main").focus()  # the dialog says only now that it was closed: nobody is called back
    page.locator("#stop").evaluate("(dialog) => dialog.dispatchEvent(new Event('close'))")
    expect(page.locator("#main")).to_be_focused()


def test_a_message_of_the_last_page_is_shown_once(page: Page) -> None:
    page.goto("/?toast=1")
    expect(page.get_by_role("status").get_by_text("کمپین ذخیره شد.")).to_have_count(1)


def test_a_message_can_be_closed(page: Page) -> None:
    page.goto("/?toast=1")
    page.locator("[data-toast-close]").click()
    expect(page.locator(".toast")).to_have_count(0)


def test_an_htmx_answer_speaks_in_the_live_region_and_moves_the_focus(page: Page) -> None:
    page.goto("/")
    page.locator("#ping-button").click()
    expect(page.get_by_role("status").get_by_text("ذخیره شد")).to_be_visible()
    expect(page.locator("#ping-result")).to_be_focused()


def test_an_error_page_in_answer_to_htmx_becomes_a_message(page: Page, watch: Watch) -> None:
    watch.allow("409")
    page.goto("/")
    page.locator("#refuse-button").click()
    expect(page.get_by_role("status").get_by_text("این کار انجام نشد: کمپین در حال اجراست.")).to_be_visible()
    expect(page.locator("#ping-box")).to_be_empty()


def test_an_htmx_request_that_is_sent_elsewhere_opens_that_page(page: Page) -> None:
    page.goto("/")
    page.locator("#moved-button").click()
    expect(page).to_have_url(re.compile("/auth/$"))


def test_a_lost_answer_is_reported(page: Page, watch: Watch) -> None:
    watch.allow("net::ERR_FAILED")
    watch.allow("Failed to fetch")
    page.goto("/")
    page.route("**/ping/", lambda route: route.abort())
    page.locator("#ping-button").click()
    expect(page.get_by_role("status").get_by_text("کارساز پاسخ نداد")).to_be_visible()


def test_a_theme_is_remembered_for_the_next_page(page: Page) -> None:
    page.goto("/")
    page.get_by_label("پوسته").click()
    page.get_by_role("button", name="تیره").click()
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(16, 21, 28)"


def test_escape_closes_a_menu_and_gives_the_focus_back(page: Page) -> None:
    page.goto("/")
    opener = page.get_by_label("حساب شما").first
    opener.click()
    page.keyboard.press("Escape")
    expect(page.get_by_text("sara@example.org")).to_be_hidden()
    expect(opener).to_be_focused()


def test_the_calendar_opens_at_the_typed_day_and_is_accessible(page: Page) -> None:
    page.goto("/")
    page.locator("#id_starts_on").fill("۱۴۰۵/۱۲/۱۰")
    page.locator("#plain-form jalali-date button").click()
    expect(page.get_by_role("button", name="دوشنبه ۱۰ اسفند ۱۴۰۵")).to_be_focused()
    assert_accessible(page)


def test_the_calendar_is_driven_by_the_keyboard(page: Page) -> None:
    page.goto("/")
    page.locator("#id_starts_on").fill("1405/12/29")
    page.locator("#plain-form jalali-date button").click()
    for key in ("ArrowLeft", "PageDown", "Enter"):  # the next day is 1 Farvardin, then a month later
        page.keyboard.press(key)
    expect(page.locator("#id_starts_on")).to_have_value("1406/02/01")


@pytest.mark.parametrize("language", ["en"], indirect=True)
def test_in_english_the_calendar_is_gregorian(page: Page) -> None:
    page.goto("/")
    page.locator("#id_starts_on").fill("2026-02-28")
    page.locator("#plain-form jalali-date button").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#id_starts_on")).to_have_value("2026-03-01")


def test_the_counter_follows_the_text(page: Page) -> None:
    page.goto("/")
    page.locator("#id_body").fill("س" * 71)
    counter = page.locator("#plain-form part-counter")
    expect(counter).to_contain_text("۲ پارت")
    expect(counter).to_contain_text("۷۱ نویسه")


def test_a_form_with_problems_takes_the_focus(page: Page) -> None:
    page.goto("/")
    expect(page.locator("#b-errors")).to_be_focused()


def test_a_menu_in_a_table_is_not_cut_off(page: Page) -> None:
    page.goto("/")
    page.locator(".table .menu summary").first.click()
    page.get_by_role("button", name="حذف").click()
    expect(page.get_by_role("dialog", name="حذف شود؟")).to_be_visible()

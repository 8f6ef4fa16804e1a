"""Inbound messages, their settings, usage and prices in a browser: readable, reachable, nothing cut off."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from campaigns.models import Campaign
from core import clock as core_clock
from core.tenancy import workspace_scope
from sms.inbound.processing import process
from sms.models import InboundSettings, InboundSms, Script, SmsPrice, SmsUsage
from targets.models import Target
from tests.browser.accessibility import assert_accessible
from tests.clocks import MovableClock
from tests.factories import make
from tests.people import make_member, make_workspace
from tests.scenario import open_scripted_channel
from tests.sms.inbound.relaying import relay, token_of
from workspaces.models import Role, User, Workspace

pytestmark = pytest.mark.django_db(transaction=True)
EVERYWHERE = [
    pytest.mark.parametrize("screen", ["desktop", "phone"], indirect=True),
    pytest.mark.parametrize("language", ["fa", "en"], indirect=True),
]


def everywhere(test: Any) -> Any:
    for mark in EVERYWHERE:
        test = mark(test)
    return test


@pytest.fixture
def boss(clock: MovableClock) -> User:
    """The owner of a workspace that people wrote to and that sent for two months."""
    workspace = make_workspace("kaveh", name="کتاب کاوه")
    with workspace_scope(workspace.pk):
        open_scripted_channel()
        make(
            InboundSettings, workspace, opt_out_words=["دیگه نفرست"], confirmation="لغو شد. عضویت دوباره: ۱۲"
        )
        make(Target, workspace, name="سارا رضایی", mobile="09123456789")
        token = token_of(workspace)
        for number, text in (
            ("9123456789", "سلام، این کتاب را هنوز دارید؟ قیمتش چند است؟"),
            ("9123456789", "لغو ۱۱"),
            ("9350000000", "off"),
            ("9360000000", "Do you ship to Shiraz? 📚"),
            ("MCI", "بسته‌ی اینترنت شما رو به پایان است"),
        ):
            relay(token, body=text, **{"from": number})
            clock.advance(minutes=7)
        relay(token, **{"from": "9350000000", "body": "۱۲"})
        process(InboundSms.objects.values_list("pk", flat=True), core_clock.now())
        unread = {"sender": "9123456789", "msg": "سلام"}
        make(InboundSms, workspace, number="", sender="", text="", unread=unread)
        fill_two_months(workspace)
    return make_member(workspace, Role.OWNER)


def fill_two_months(workspace: Workspace) -> None:
    names = ("یلدا ۱۴۰۵", "Black Friday", "سبد رهاشده")
    campaigns = [make(Campaign, workspace, name=name).pk for name in names]
    make(SmsPrice, workspace, rials=1450, valid_from=date(2026, 3, 21))
    make(SmsPrice, workspace, rials="1620.50", valid_from=date(2026, 11, 25))
    make(SmsPrice, workspace, line="50001", rials=980, valid_from=date(2026, 3, 21))
    for n in range(30):
        make(
            SmsUsage, workspace, sent_on=core_clock.now() - timedelta(days=n), sms_count=n % 3 + 1,
            counted_parts=n % 3 + n % 2 or 1, line=("50001", "30002", "")[n % 3],
            campaign_id=campaigns[n % 3] if n % 4 else None, event_type="automation" if n % 4 else "test",
            script=Script.LATIN if n % 5 == 0 else Script.PERSIAN,
        )  # fmt: skip


def look(page: Page, url: str, shot: Callable[[str], None], name: str) -> None:
    page.goto(url)
    expect(page.locator("h1")).to_be_visible()
    assert_accessible(page)
    width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width == 0, "the page is wider than the screen"
    shot(name)


@everywhere
def test_the_pages_are_readable_and_accessible(
    page: Page, boss: User, sign_in: Callable[[Any], None], shot: Callable[[str], None]
) -> None:
    sign_in(boss)
    look(page, "/automation/inbound/", shot, "inbound")
    look(page, "/automation/inbound/?effect=opted_out", shot, "inbound-filtered")
    look(page, "/settings/sms/inbound", shot, "inbound-settings")
    look(page, "/automation/usage/", shot, "usage")
    look(page, "/settings/sms/prices", shot, "prices")


@pytest.mark.parametrize("screen", ["desktop", "phone"], indirect=True)
def test_the_timeline_shows_what_the_person_wrote(
    page: Page, boss: User, sign_in: Callable[[Any], None], shot: Callable[[str], None]
) -> None:
    sign_in(boss)
    page.goto("/automation/inbound/")
    page.get_by_role("link", name="سارا رضایی").first.click()
    page.goto(page.url + "?tab=automation")

    expect(page.get_by_text("لغو ۱۱")).to_be_visible()
    assert_accessible(page)
    shot("timeline")


def test_a_price_is_added_and_removed_with_the_keyboard_and_a_question(
    page: Page, boss: User, sign_in: Callable[[Any], None]
) -> None:
    sign_in(boss)
    page.goto("/settings/sms/prices")
    page.get_by_label("قیمت هر پارت به ریال").fill("۲۰۰۰")
    page.get_by_label("از روز").fill("۱۴۰۵/۱۰/۰۱")
    page.get_by_label("از روز").press("Enter")
    expect(page.get_by_text("۲٬۰۰۰")).to_be_visible()

    row = page.locator("tr", has_text="۲٬۰۰۰")
    row.get_by_role("button").first.click()
    page.locator("dialog[open]").get_by_role("button", name="بله").click()
    expect(page.get_by_text("۲٬۰۰۰")).to_have_count(0)


def test_a_download_comes_as_a_file(page: Page, boss: User, sign_in: Callable[[Any], None]) -> None:
    sign_in(boss)
    page.goto("/automation/usage/")
    page.get_by_text("دریافت فایل").click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="تک‌تک پیام‌ها (csv)").click()

    assert waiting.value.suggested_filename == "usage-1405-09-messages.csv"

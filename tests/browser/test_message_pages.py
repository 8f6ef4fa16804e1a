"""The message log, unknown outcomes, templates, hours of lines and the estimate in a browser."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from campaigns.models import Campaign
from core import clock as core_clock
from core.tenancy import workspace_scope
from sms.line_windows import every_day
from sms.models import LineRule, ProviderAccount, SmsLog, SmsLogEvent, SmsPrice, SmsSettings, SmsTemplate
from sms.settlement import FOR_GOOD
from tests.browser.accessibility import assert_accessible
from tests.clocks import MovableClock
from tests.factories import make
from tests.people import make_member, make_workspace
from tests.scenario import Scenario, send, wait
from workspaces.models import Role, User, Workspace

pytestmark = pytest.mark.django_db(transaction=True)
EVERYWHERE = pytest.mark.parametrize(
    ("screen", "language"), [("desktop", "fa"), ("phone", "en")], indirect=True
)
PAGES = {
    "sms-logs": "/automation/sms-logs/",
    "sms-unknown": "/automation/sms-unknown/",
    "sms-template-new": "/automation/sms-templates/new",
    "sms-lines": "/settings/sms/lines",
    "sms-settings": "/settings/sms/",
}


@pytest.fixture
def boss(clock: MovableClock) -> User:
    """The owner of a workspace that has sent, and of some messages does not know whether it has."""
    workspace = make_workspace("kaveh", name="کتاب کاوه")
    with workspace_scope(workspace.pk):
        Scenario(send("سلام {target.first_name}، کتاب تازه رسید"), wait(1), send("یادآوری"), people=6)
        SmsSettings.objects.update(low_credit_below=50_000, forbidden_words=["قمار"], refuse_links=True)
        ProviderAccount.objects.update(credit="12500.5", credit_at=core_clock.now())
        make(SmsPrice, workspace, rials=1450, valid_from=core_clock.now().date())
        _fill_log(workspace)
        make(SmsTemplate, workspace, name="خوش‌آمد", body="سلام {target.first_name|دوست}، خوش آمدی")
        make(SmsTemplate, workspace, name="Welcome", body="Hello {target.first_name}, “glad” to see you")
        make(
            LineRule, workspace, line="*", operator="mci", finality_hours=None,
            window=every_day("08:00", "22:00", "Asia/Tehran"),
        )  # fmt: skip
        make(LineRule, workspace, line="50001", finality_hours=48)
    return make_member(workspace, Role.OWNER)


def _fill_log(workspace: Workspace) -> None:
    now = core_clock.now()
    for status, code in (
        ("delivered", ""), ("undelivered", "phone_unreachable"), ("rejected", "operator_blocked"),
        ("skipped", "frequency_cap"), ("expired", "expired"), ("failed", "proven_absent"),
    ):  # fmt: skip
        make(SmsLog, workspace, status=status, error_code=code, provider="melipayamak", sender_number="50001")
    for lookup_at, why in ((now + timedelta(minutes=8), "list_incomplete"), (FOR_GOOD, "equal_texts")):
        row = make(
            SmsLog, workspace, status="unknown", error_code="answer_timeout", provider="melipayamak",
            sender_number="50001", lookup_at=lookup_at, request_at=now - timedelta(hours=2),
            final_message="سلام سارا، کتاب تازه رسید",
        )  # fmt: skip
        SmsLogEvent.objects.create(
            workspace=workspace, sms_log=row, event="lookup", provider_status="undecided",
            payload={"why": why, "lines_read": 120}, dedupe_key="lookup:1", occurred_at=now,
        )  # fmt: skip


def fits(page: Page) -> None:
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{page.url} is {wide} pixels too wide"


@EVERYWHERE
def test_the_pages_fit_and_can_be_read_by_everybody(
    page: Page, sign_in: Callable[[Any], None], shot: Callable[[str], None], boss: User
) -> None:
    sign_in(boss)
    campaign = Campaign.unscoped.get().pk
    unknown = SmsLog.unscoped.filter(status="unknown").first()
    assert unknown is not None
    pages = {
        **PAGES,
        "sms-log": f"/automation/sms-logs/{unknown.pk}",
        "campaign-estimate": f"/automation/campaigns/{campaign}/estimate",
    }
    for name, address in pages.items():
        page.goto(address)
        fits(page)
        shot(name)
        assert_accessible(page)


@pytest.mark.parametrize("language", ["en"], indirect=True)
def test_the_preview_follows_the_typing_and_marks_what_makes_it_dear(
    page: Page, sign_in: Callable[[Any], None], boss: User
) -> None:
    sign_in(boss)
    page.goto(PAGES["sms-template-new"])
    page.get_by_label("Text").fill("Your “code” is ready and waits for you. " + "So much more to say. " * 3)

    expect(page.locator("#preview mark").first).to_have_text("“")
    page.get_by_label("Text").fill("با قمار")
    expect(page.locator("#preview")).to_contain_text("Word that is not allowed")


@pytest.mark.parametrize("language", ["en"], indirect=True)
def test_an_unknown_message_is_looked_up_again_by_a_button(
    page: Page, sign_in: Callable[[Any], None], boss: User
) -> None:
    sign_in(boss)
    page.goto(PAGES["sms-unknown"])
    page.get_by_role("button", name="Look up again").first.click()

    expect(page.get_by_text("The message is looked up at the provider now.")).to_be_visible()

"""The page of a campaign while it lives: it refreshes without jumping, rests unseen, and can be printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from campaigns.models import Campaign
from core import clock as core_clock
from core.tenancy import workspace_scope
from sms.models import SmsLog
from tests.browser.accessibility import assert_accessible
from tests.clocks import MovableClock
from tests.factories import make
from tests.people import make_member, make_workspace
from tests.scenario import Scenario, send
from workspaces.models import Role, User

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def boss(clock: MovableClock) -> User:
    """The owner of a workspace with a campaign that has sent something today."""
    workspace = make_workspace("kaveh", name="کتاب کاوه")
    with workspace_scope(workspace.pk):
        Scenario(send("سلام"), people=4)
        campaign = Campaign.objects.get().pk
        for status in ("delivered", "delivered", "failed"):
            make(SmsLog, workspace, campaign_id=campaign, status=status, request_at=core_clock.now())
    return make_member(workspace, Role.OWNER)


def ask_again(page: Page) -> None:
    with page.expect_response(lambda response: "/live" in response.url):
        page.evaluate("document.getElementById('numbers').dispatchEvent(new Event('refresh'))")


@pytest.mark.parametrize("screen", ["phone"], indirect=True)
def test_a_living_page_stays_as_people_left_it(
    page: Page, sign_in: Callable[[Any], None], boss: User, shot: Callable[[str], None]
) -> None:
    sign_in(boss)
    address = f"/automation/campaigns/{Campaign.unscoped.get().pk}"
    page.goto(address)
    page.locator("#chart-days-table summary").click()
    table = page.locator("#chart-days-table .table-box")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    table.focus()
    page.evaluate("window.scrollTo(0, 700)")
    SmsLog.unscoped.filter(status="failed").update(status="delivered")
    ask_again(page)
    expect(page.locator("#card-sent .card-value")).to_have_text("۳")
    assert table.is_visible()
    assert table.evaluate("box => box === document.activeElement")
    assert page.evaluate("window.scrollY") == 700
    assert_accessible(page)
    shot("dashboard")

    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/live" in request.url else None)
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    page.evaluate("document.getElementById('numbers').dispatchEvent(new Event('refresh'))")
    page.wait_for_timeout(100)
    assert asked == []
    page.evaluate("Object.defineProperty(document, 'hidden', {value: false, configurable: true})")
    with page.expect_response(lambda response: "/live" in response.url):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    page.emulate_media(media="print")
    assert page.locator("nav.nav").is_hidden()
    assert page.locator("#chart-days-table").is_hidden()
    assert page.locator("#chart-days svg").is_visible()
    page.emulate_media(media="screen")

    page.goto(f"{address}/targets?status=failed")
    filters = page.locator(".filters-box")
    expect(filters.locator("summary")).to_contain_text("۱")
    assert filters.locator("form").is_hidden()
    filters.locator("summary").click()
    expect(filters.locator("form")).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(filters.locator("form")).to_be_visible()
    assert filters.locator("summary").is_hidden()

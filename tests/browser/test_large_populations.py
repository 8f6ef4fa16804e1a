"""The brake, the rule for new people, and work on very many people, as they are met in a browser."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC

import pytest
from playwright.sync_api import Page, expect

from campaigns import newcomer_checks, newcomers
from core import clock as core_clock
from core.tenancy import workspace_scope
from sms.models import SmsLog
from targets.filters import TargetFilter
from tests.browser.accessibility import assert_accessible
from tests.campaigns import builders
from tests.clocks import MONDAY_MORNING, MovableClock
from tests.factories import make, make_job
from tests.people import make_member, make_workspace
from workspaces.models import Role, Workspace

pytestmark = pytest.mark.django_db(transaction=True)
NO_SCROLL = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


def looked_at(page: Page, shot: Callable[[str], None], name: str) -> None:
    assert_accessible(page)
    assert page.evaluate(NO_SCROLL)
    shot(name)


@pytest.mark.parametrize(("screen", "language"), [("desktop", "fa"), ("narrow", "en")], indirect=True)
def test_stopping_everything_a_rule_and_a_large_job(
    page: Page, sign_in: Callable[..., None], shot: Callable[[str], None]
) -> None:
    core_clock.use_process_clock(MovableClock(MONDAY_MORNING.astimezone(UTC)))
    try:
        workspace = make_workspace("kaveh")
        owner = make_member(workspace, Role.OWNER)
        with workspace_scope(workspace.pk):
            campaign, job = _campaign_with_history(workspace)
        sign_in(owner)

        page.goto(f"/automation/campaigns/{campaign}/newcomers")
        looked_at(page, shot, "newcomers")
        page.locator("#id_status").select_option("new")
        expect(page.locator("#count")).to_contain_text(("2", "۲")[page.locator("html[lang=fa]").count()])

        page.goto(f"/automation/campaigns/{campaign}/enrol/large?source=everybody")
        expect(page.locator("#groups .card").first).to_be_visible()
        looked_at(page, shot, "enrol-large")

        page.goto(f"/automation/campaigns/jobs/{job}")
        looked_at(page, shot, "job")

        page.goto("/automation/campaigns/stop")
        page.locator("#reason").fill("فهرست اشتباه بود")
        page.locator("form button.btn-danger").click()
        expect(page.locator("#sending-stopped")).to_be_visible()
        looked_at(page, shot, "stopped")
        page.goto(f"/automation/campaigns/{campaign}")
        expect(page.locator("#sending-stopped")).to_be_visible()
        looked_at(page, shot, "stopped-campaign")
    finally:
        core_clock.use_process_clock(None)


def _campaign_with_history(workspace: Workspace) -> tuple[int, int]:
    campaign = builders.running()
    people = builders.people(2, city="شیراز")
    builders.enrol(campaign, people[:1])
    newcomers.save_rule(
        campaign.pk,
        filters=TargetFilter({"city": "شیراز"}),
        daily_cap=50,
        include_existing=True,
        user=None,
    )
    newcomer_checks.check(campaign.pk, core_clock.now())
    make(SmsLog, workspace, status="sending")
    job = make_job(
        workspace, campaign=campaign, total=40_000, done=15_000,
        counts={"changed": 14_900, "illegal_change": 100}, order={"operation": "pause", "filter": {}},
    )  # fmt: skip
    return campaign.pk, job.pk

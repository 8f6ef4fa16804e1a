"""A version that this release cannot read holds its own people up, and nobody else's."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from automation import definition_cache, registry
from automation.models import WorkflowExecution
from automation.runtime.runner import process_executions
from automation.runtime.tick import run_tick
from automation.states import ExecutionStatus
from campaigns.models import Campaign, CampaignStatus
from core.tenancy import current_workspace_id
from tests.automation.runtime.test_runner import claimed
from tests.clocks import MovableClock
from tests.scenario import Scenario, send
from workspaces.models import User, Workspace

pytestmark = pytest.mark.django_db
FOLLOWUP = {"type": "action", "subtype": "create_followup", "config": {"title": "تماس"}}


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


@pytest.fixture
def lose_followups(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A release that no longer knows this kind of step."""

    def lose() -> None:
        monkeypatch.delitem(registry._actions, "create_followup")
        definition_cache.clear()

    return lose


def test_nobody_of_it_is_claimed_and_the_other_campaigns_are_served(lose_followups: Callable[[], None]):
    unreadable, other = Scenario(send(), FOLLOWUP), Scenario(send())
    lose_followups()
    report = unreadable.tick()
    assert (unreadable.statuses(), other.statuses()) == ({"active": 1}, {"completed": 1})
    assert report.skipped == {"version_unreadable": 1}


def test_a_worker_that_cannot_read_it_fails_nobody(lose_followups: Callable[[], None], clock: MovableClock):
    scenario = Scenario(send(), FOLLOWUP)
    for _ in range(4):
        ids, token = claimed(scenario, clock)
        with pytest.MonkeyPatch.context() as patch:
            patch.delitem(registry._actions, "create_followup")
            definition_cache.clear()
            process_executions(current_workspace_id(), ids, token)
        definition_cache.clear()
        clock.advance(minutes=6)
        scenario.tick()
    assert (scenario.statuses(), len(scenario.provider.accepted)) == ({"completed": 1}, 1)


def test_it_does_not_keep_other_campaigns_from_starting(
    lose_followups: Callable[[], None], clock: MovableClock
):
    campaigns = [Scenario(send(), FOLLOWUP).campaign, Scenario(send()).campaign]
    WorkflowExecution.objects.update(status=ExecutionStatus.PENDING, next_run_at=None, eligible_at=None)
    Campaign.objects.update(status=CampaignStatus.SCHEDULED, starts_at=clock.at - timedelta(minutes=1))
    lose_followups()
    run_tick()
    statuses = [Campaign.objects.get(pk=campaign.pk).status for campaign in campaigns]
    assert statuses == [CampaignStatus.SCHEDULED, CampaignStatus.ACTIVE]


def test_the_page_of_the_campaign_says_so(
    lose_followups: Callable[[], None], owner: User, client_of: Callable[..., Client]
):
    scenario = Scenario(send(), FOLLOWUP)
    lose_followups()
    page = client_of(owner, language="en").get(reverse("campaigns:detail", args=[scenario.campaign.pk]))
    assert "cannot be read by this release (node_subtype_unknown)" in page.content.decode()

"""What the scheduler and the workers are told of campaigns."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from automation import publishing
from automation.models import AutomationSettings, Workflow, WorkflowExecution, WorkflowVersion
from campaigns.models import Campaign
from campaigns.policy import CampaignPolicies, policy_of
from core.tenancy import workspace_scope
from tests.campaigns import builders
from tests.campaigns.test_actions import in_status
from tests.clocks import MovableClock
from workspaces.models import Workspace

pytestmark = pytest.mark.usefixtures("workspace", "clock")

MORNINGS = {"timezone": "Asia/Tehran", "days": {"sat": [["08:00", "12:00"]]}}
NIGHTS = {"timezone": "Asia/Tehran", "days": {"sun": [["20:00", "24:00"]]}}
NOONS = {"days": {"mon": [["12:00", "13:00"]]}}


def due(clock: MovableClock) -> list[int]:
    return [found.policy.campaign_id for found in CampaignPolicies().due(clock.now())]


def with_somebody(**details: Any) -> Campaign:
    """A running campaign with one person due."""
    campaign = builders.running(**details)
    builders.enrol(campaign, builders.people(1))
    return campaign


def test_only_running_campaigns_are_served(clock: MovableClock) -> None:
    running = with_somebody()
    for status in ("draft", "scheduled", "paused", "completed", "cancelled"):
        other = with_somebody()
        columns = {"paused_at": clock.now()} if status == "paused" else {}
        Campaign.objects.filter(pk=other.pk).update(status=status, **columns)

    assert due(clock) == [running.pk]


def test_a_campaign_whose_people_all_wait_is_left_alone(clock: MovableClock) -> None:
    campaign = with_somebody()
    WorkflowExecution.objects.update(next_run_at=clock.now() + timedelta(seconds=1))
    assert due(clock) == []
    clock.advance(seconds=1)
    assert due(clock) == [campaign.pk]


@pytest.mark.parametrize("sends", [True, False])
def test_it_is_told_apart_which_kind_of_step_is_due(clock: MovableClock, *, sends: bool) -> None:
    with_somebody()
    WorkflowExecution.objects.update(consumes_budget=sends)
    (found,) = CampaignPolicies().due(clock.now())
    assert (found.sends, found.light) == (sends, not sends)


@pytest.mark.parametrize(
    ("status", "running", "reason"),
    [
        ("draft", False, ""),
        ("scheduled", False, ""),
        ("active", True, ""),
        ("paused", False, ""),
        ("completed", False, "campaign_ended"),
        ("cancelled", False, "campaign_cancelled"),
    ],
)
def test_a_named_campaign_is_told_as_it_stands(
    status: str, running: bool, reason: str, clock: MovableClock
) -> None:
    policy = policy_of(in_status(status, clock))
    assert (policy.running, policy.ended_reason) == (running, reason)


def workflow_with(settings: dict[str, Any]) -> Workflow:
    """A workflow whose published version has these settings."""
    made = publishing.create_workflow(name="خوشامد", template_key="single_message", user=None)
    WorkflowVersion.objects.filter(workflow=made).update(settings=settings)
    publishing.publish(made, user=None)
    made.refresh_from_db()
    return made


def test_nothing_runs_from_the_very_end_on(clock: MovableClock) -> None:
    campaign = with_somebody(ends_at=clock.now() + timedelta(hours=1))
    clock.advance(hours=1)

    assert due(clock) == []
    policy = policy_of(campaign)
    assert (policy.running, policy.ended_reason) == (False, "campaign_ended")


def test_the_campaigns_window_comes_first_then_the_versions_then_the_workspaces(workspace: Workspace) -> None:
    AutomationSettings.objects.create(workspace=workspace, default_send_window=NOONS)
    nights = workflow_with({"send_window": NIGHTS})
    assert days_of(builders.draft(nights, send_window=MORNINGS)) == {"sat"}
    assert days_of(builders.draft(nights)) == {"sun"}

    plain = builders.draft(workflow_with({}))
    assert days_of(plain) == {"mon"}
    AutomationSettings.objects.update(default_send_window=None)
    assert policy_of(plain).send_window is None


def test_limits_come_from_the_campaign_the_version_and_the_workspace(workspace: Workspace) -> None:
    AutomationSettings.objects.create(workspace=workspace, global_daily_limit=12)
    workflow = workflow_with({"daily_limit": 5, "on_unknown_outcome": "hold"})
    campaign = builders.draft(workflow, daily_limit=10, stop_statuses=frozenset({"converted"}))

    policy = policy_of(campaign)
    assert (policy.campaign_limit, policy.workflow_limit, policy.workspace_limit) == (10, 5, 12)
    assert (policy.on_unknown, policy.stop_statuses) == ("hold", frozenset({"converted"}))


def test_automation_has_its_own_time_zone_if_it_wants_one(workspace: Workspace) -> None:
    campaign = builders.draft()
    assert policy_of(campaign).timezone == "Asia/Tehran"
    AutomationSettings.objects.create(workspace=workspace, timezone="Europe/Berlin", enabled=False)
    policy = policy_of(campaign)
    assert (policy.timezone, policy.automation_enabled) == ("Europe/Berlin", False)


def test_a_closed_workspace_runs_nothing(workspace: Workspace, clock: MovableClock) -> None:
    campaign = with_somebody()
    workspace.is_active = False
    workspace.save()

    assert due(clock) == []
    assert policy_of(campaign).running is False


def test_all_workspaces_cost_three_queries(
    clock: MovableClock, other_workspace: Workspace, django_assert_num_queries: Callable[..., Any]
) -> None:
    first = [with_somebody().pk for _ in range(2)]
    with workspace_scope(other_workspace.pk):
        second = [with_somebody().pk for _ in range(2)]

    with django_assert_num_queries(3):
        found = due(clock)
    assert found == [*first, *second]


def test_another_workspaces_campaign_is_not_told(other_workspace: Workspace) -> None:
    campaign = builders.draft()
    assert CampaignPolicies().for_campaigns(other_workspace.pk, [campaign.pk]) == {}


def days_of(campaign: Any) -> set[str]:
    window = policy_of(campaign).send_window
    assert window is not None
    assert window["timezone"]
    return {day for day, spans in window["days"].items() if spans}

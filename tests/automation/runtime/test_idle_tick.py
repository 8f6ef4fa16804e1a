"""A tick with nothing due asks the same few questions however much waits."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from automation.models import WorkflowExecution
from automation.runtime.tick import run_tick
from automation.states import ExecutionStatus
from campaigns.models import Campaign
from core.tenancy import workspace_scope
from tests.clocks import MovableClock
from tests.people import make_workspace
from tests.scenario import Scenario

pytestmark = pytest.mark.django_db

STATEMENTS = 3  # the heartbeat, the agenda of all steps, the campaigns with somebody due


def waiting_campaigns(count: int, clock: MovableClock) -> None:
    """`count` running campaigns, each with somebody who waits for another day."""
    scenario = Scenario(people=1)
    model, walk = scenario.campaign, scenario.execution()
    copies = Campaign.objects.bulk_create(
        Campaign(
            workspace_id=model.workspace_id, name=f"کمپین {number}", workflow_id=model.workflow_id,
            workflow_version_id=model.workflow_version_id, status=model.status,
            daily_limit=100 if number % 2 else None,
        )
        for number in range(count - 1)
    )  # fmt: skip
    fields = {field.attname for field in WorkflowExecution._meta.concrete_fields} - {"id", "campaign_id"}
    values = {name: getattr(walk, name) for name in fields}
    WorkflowExecution.objects.bulk_create(
        WorkflowExecution(**values, campaign_id=campaign.pk) for campaign in copies
    )
    WorkflowExecution.objects.update(status=ExecutionStatus.WAITING, next_run_at=clock.at + timedelta(days=1))


def statements_of_a_tick() -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        report = run_tick()
    assert not report.did_something
    return [query["sql"] for query in queries]


@pytest.mark.parametrize(("workspaces", "campaigns"), [(1, 1), (1, 20), (10, 2), (4, 50)])
def test_an_idle_tick_asks_as_many_questions_whatever_waits(
    clock: MovableClock, workspaces: int, campaigns: int
) -> None:
    for number in range(workspaces):
        with workspace_scope(make_workspace(f"shop{number}").pk):
            waiting_campaigns(campaigns, clock)
    run_tick()  # the first one asks the queue for a sign of life
    assert len(statements_of_a_tick()) == STATEMENTS


def test_an_empty_installation_costs_no_more(clock: MovableClock) -> None:
    run_tick()
    assert len(statements_of_a_tick()) == STATEMENTS


def test_a_day_whose_limit_is_used_up_costs_a_constant_number_a_workspace(clock: MovableClock) -> None:
    """People in line cost one count each campaign, but no claim, no budget and no readiness of its own."""
    with workspace_scope(make_workspace("shop").pk):
        waiting_campaigns(20, clock)
        Campaign.objects.update(daily_limit=0)
        clock.advance(days=1)
        run_tick()
        with CaptureQueriesContext(connection) as queries:
            report = run_tick()
    assert (report.claimed, report.deferred_limit) == (0, 20)
    assert len([query for query in queries if query["sql"].startswith("UPDATE")]) == 1  # the heartbeat
    assert len(queries) <= STATEMENTS + 6 + 20

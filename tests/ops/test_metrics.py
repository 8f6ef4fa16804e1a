"""What the monitoring system is told of campaigns and messages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from automation.models import WorkflowExecution
from automation.states import ExecutionStatus
from campaigns.models import CampaignStatus
from config import metrics
from tests import factories
from tests.clocks import MovableClock
from tests.plans import plan_by
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


def due(workspace: Workspace, clock: MovableClock, *, minutes: int, sends: bool, **campaign: Any) -> None:
    """One person of a running campaign who has been due for so long."""
    running = factories.make_campaign(workspace, **{"status": CampaignStatus.ACTIVE, **campaign})
    execution = factories.make_execution(workspace, campaign=running)
    moment = clock.now() - timedelta(minutes=minutes)
    WorkflowExecution.objects.filter(pk=execution.pk).update(
        status=ExecutionStatus.WAITING, consumes_budget=sends, next_run_at=moment, eligible_at=moment
    )


def ages() -> dict[str, float]:
    return {gauge.labels["step"]: gauge.value for gauge in metrics.due_age()}


def test_nobody_due_is_an_age_of_nothing(workspace: Workspace, clock: MovableClock) -> None:
    assert ages() == {"send": 0, "other": 0}


def test_the_longest_waiting_step_counts_sends_and_others_apart(
    workspace: Workspace, clock: MovableClock
) -> None:
    due(workspace, clock, minutes=3, sends=True)
    due(workspace, clock, minutes=9, sends=True)
    due(workspace, clock, minutes=1, sends=False)

    assert ages() == {"send": 540, "other": 60}


def test_a_step_that_is_due_later_has_no_age(workspace: Workspace, clock: MovableClock) -> None:
    due(workspace, clock, minutes=-30, sends=True)

    assert ages() == {"send": 0, "other": 0}


def test_a_paused_campaign_is_not_late(workspace: Workspace, clock: MovableClock) -> None:
    due(workspace, clock, minutes=9, sends=True, status=CampaignStatus.PAUSED, paused_at=clock.now())

    assert ages() == {"send": 0, "other": 0}


def test_claimed_steps_are_counted_by_status(workspace: Workspace, clock: MovableClock) -> None:
    execution = factories.make_execution(workspace)
    WorkflowExecution.objects.filter(pk=execution.pk).update(
        status=ExecutionStatus.QUEUED, lock_token=uuid4(), locked_at=clock.now()
    )

    assert {gauge.labels["status"]: gauge.value for gauge in metrics.claimed()} == {
        "queued": 1,
        "processing": 0,
    }


def test_recent_messages_are_counted_by_status_over_all_workspaces(
    workspace: Workspace, other_workspace: Workspace
) -> None:
    factories.make_sms_log(workspace, status="delivered")
    factories.make_sms_log(other_workspace, status="delivered")
    factories.make_sms_log(workspace, status="unknown")

    counts = {gauge.labels["status"]: gauge.value for gauge in metrics.recent_messages()}

    assert counts == {"delivered": 2, "unknown": 1}


def test_no_label_holds_anything_personal(workspace: Workspace) -> None:
    log = factories.make_sms_log(workspace)

    assert log.phone_number not in str(list(metrics.recent_messages()))


def test_a_scrape_costs_the_same_with_more_campaigns(
    workspace: Workspace, clock: MovableClock, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for minutes in range(5):
        due(workspace, clock, minutes=minutes, sends=True)

    with django_assert_num_queries(3):
        for source in (metrics.due_age, metrics.claimed, metrics.recent_messages):
            list(source())


@pytest.mark.postgres
@pytest.mark.skipif(connection.vendor != "postgresql", reason="the plan is PostgreSQL's")
def test_the_oldest_due_step_is_found_in_the_claims_index(workspace: Workspace, clock: MovableClock) -> None:
    due(workspace, clock, minutes=3, sends=True)
    with CaptureQueriesContext(connection) as seen:
        ages()
    sql = seen.captured_queries[0]["sql"]
    # Whatever sorts a few rows costs as much as the index that has them in order.
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_sort = off")
    plan = plan_by("execution_due", WorkflowExecution, sql)

    assert plan.count("execution_due") == 2, plan

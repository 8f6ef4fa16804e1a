"""Waiting for an event in the runtime: who is woken, what ends the wait, what a delivery never touches."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from automation import control
from automation.control_moves import Operation
from automation.models import WorkflowExecution, WorkflowExecutionEvent
from automation.runtime import claim
from automation.runtime.event_waits import deliver_event
from automation.runtime.runner import process_executions
from automation.states import ExecutionStatus
from core.tenancy import current_workspace_id
from engine.types import NO_TIMEOUT
from tests.clocks import MovableClock
from tests.engine.building import wait, wait_for
from tests.graphs import GraphScenario, ScriptedEvents, events_from, message
from tests.plans import plan_by
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db

BRANCHES = ["start -> e", "e -> came", "e.timeout -> late"]


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


@pytest.fixture
def events() -> Iterator[ScriptedEvents]:
    source = ScriptedEvents()
    with events_from(source):
        yield source


def waiting(people: int = 1, **config: Any) -> GraphScenario:
    """Everybody waits for `paid`; two hours at most unless told otherwise."""
    scenario = GraphScenario(
        wait_for("e", **{"amount": 2, "unit": "hours", **config}), message("came"), message("late"),
        edges=BRANCHES, people=people,
    )  # fmt: skip
    scenario.settle()
    return scenario


def subject(scenario: GraphScenario, index: int = 0) -> tuple[str, int]:
    return "target", scenario.targets[index].pk


def pay(
    scenario: GraphScenario, events: ScriptedEvents, clock: MovableClock, index: int = 0, **data: Any
) -> int:
    """The event is stored, then delivered, as an ingest does."""
    events.happen(scenario.targets[index].pk, "paid", clock.at, **data)
    return deliver_event(current_workspace_id(), "paid", subject(scenario, index), clock.at)


def test_a_wait_stores_its_event_and_its_time_out(clock: MovableClock):
    row = waiting().row()
    assert (row.status, row.waiting_event) == (ExecutionStatus.WAITING, "paid")
    assert row.next_run_at == row.wake_at == clock.at + timedelta(hours=2)


def test_without_a_time_out_nothing_but_the_event_is_due():
    row = waiting(amount=None, unit=None).row()
    assert row.next_run_at == NO_TIMEOUT


def test_the_event_ends_the_wait(events: ScriptedEvents, clock: MovableClock):
    scenario = waiting()
    clock.advance(hours=1)
    assert pay(scenario, events, clock) == 1
    clock.advance(minutes=1)
    scenario.settle()
    assert scenario.texts() == ["came"]
    assert scenario.row().waiting_event == ""


def test_only_who_did_it_is_woken(events: ScriptedEvents, clock: MovableClock):
    scenario = waiting(people=3)
    clock.advance(hours=1)
    pay(scenario, events, clock, 1)
    scenario.settle()
    assert [sent.to for sent in scenario.provider.accepted] == [scenario.targets[1].mobile]


def test_the_time_out_leads_another_way(events: ScriptedEvents, clock: MovableClock):
    scenario = waiting()
    clock.advance(hours=2)
    scenario.settle()
    assert scenario.texts() == ["late"]


def test_an_event_in_time_wins_over_a_time_out_that_is_worked_late(
    events: ScriptedEvents, clock: MovableClock
):
    scenario = waiting()
    clock.advance(hours=1)
    pay(scenario, events, clock)
    clock.advance(hours=5)
    scenario.settle()
    assert scenario.texts() == ["came"]


def test_an_event_after_the_time_out_changes_nothing(events: ScriptedEvents, clock: MovableClock):
    scenario = waiting()
    clock.advance(hours=3)
    pay(scenario, events, clock)
    scenario.settle()
    assert scenario.texts() == ["late"]


def test_a_delivery_told_twice_wakes_once(events: ScriptedEvents, clock: MovableClock):
    scenario = waiting()
    clock.advance(hours=1)
    assert [pay(scenario, events, clock), pay(scenario, events, clock)] == [1, 0]
    scenario.settle()
    assert scenario.texts() == ["came"]


@pytest.mark.parametrize(("name", "kind"), [("seen", "target"), ("", "target"), ("paid", "deal")])
def test_what_nobody_waits_for_wakes_nobody(
    name: str, kind: str, events: ScriptedEvents, clock: MovableClock
):
    scenario = waiting()
    clock.advance(hours=1)
    assert deliver_event(current_workspace_id(), name, (kind, scenario.targets[0].pk), clock.at) == 0


def test_another_workspace_s_event_wakes_nobody(
    events: ScriptedEvents, clock: MovableClock, other_workspace: Workspace
):
    scenario = waiting()
    clock.advance(hours=1)
    assert deliver_event(other_workspace.pk, "paid", subject(scenario), clock.at) == 0
    assert scenario.row().next_run_at == clock.at + timedelta(hours=1)


def test_an_event_that_the_filter_refuses_leaves_the_wait_as_it_is(
    events: ScriptedEvents, clock: MovableClock
):
    scenario = waiting(filter=[{"field": "amount", "operator": ">=", "value": 100}])
    clock.advance(hours=1)
    pay(scenario, events, clock, amount=50)
    scenario.settle()
    row = scenario.row()
    assert (row.status, row.waiting_event) == (ExecutionStatus.WAITING, "paid")
    assert row.next_run_at == clock.at + timedelta(hours=1)
    pay(scenario, events, clock, amount=500)
    scenario.settle()
    assert scenario.texts() == ["came"]


def test_two_waits_for_one_event_need_two(events: ScriptedEvents, clock: MovableClock):
    scenario = GraphScenario(
        wait_for("e"), wait_for("f"), message("came"), edges=["start -> e", "e -> f", "f -> came"]
    )
    scenario.settle()
    clock.advance(hours=1)
    pay(scenario, events, clock)
    scenario.settle()
    assert scenario.at() == "f"
    clock.advance(hours=1)
    pay(scenario, events, clock)
    scenario.settle()
    assert scenario.texts() == ["came"]


def test_what_happened_before_the_wait_does_not_end_it(events: ScriptedEvents, clock: MovableClock):
    events.happen(1, "paid", clock.at)
    scenario = waiting()
    events.happen(scenario.targets[0].pk, "paid", clock.at - timedelta(minutes=1))
    clock.advance(minutes=5)
    scenario.settle()
    assert deliver_event(current_workspace_id(), "paid", subject(scenario), clock.at) == 1
    scenario.settle()
    assert scenario.at() == "e"


def test_an_event_that_came_before_a_late_worker_got_there_is_seen(
    events: ScriptedEvents, clock: MovableClock
):
    """The step was allowed at ten, the worker came at five past: what happened between counts."""
    scenario = GraphScenario(
        wait("w", 1, "hour"), wait_for("e"), message("came"), edges=["start -> w", "w -> e", "e -> came"]
    )
    scenario.settle()
    clock.advance(hours=1, minutes=2)
    pay(scenario, events, clock)
    clock.advance(minutes=3)
    scenario.settle()
    assert scenario.texts() == ["came"]


def test_a_wait_that_ended_is_told_with_its_reason(events: ScriptedEvents, clock: MovableClock):
    scenario = waiting(people=2)
    clock.advance(hours=1)
    pay(scenario, events, clock, 0)
    clock.advance(hours=2)
    scenario.settle()
    lines = WorkflowExecutionEvent.objects.filter(type="wait_finished").order_by("execution_id")
    assert [line.data.get("reason") for line in lines] == [None, "timeout"]


# -- under a claim ----------------------------------------------------------------------------------


def claimed(scenario: GraphScenario, clock: MovableClock) -> tuple[list[int], Any]:
    token = uuid4()
    ids = claim.claim_due(scenario.campaign.pk, consuming=False, limit=10, token=token, now=clock.at)
    assert ids
    return ids, token


def test_a_claimed_walk_is_not_touched_and_sees_the_event_itself(events: ScriptedEvents, clock: MovableClock):
    scenario = waiting()
    clock.advance(hours=2)
    ids, token = claimed(scenario, clock)
    before = WorkflowExecution.objects.values().get(pk=ids[0])
    events.happen(scenario.targets[0].pk, "paid", clock.at)  # at the very end of the wait: in time
    assert deliver_event(current_workspace_id(), "paid", subject(scenario), clock.at) == 0
    assert WorkflowExecution.objects.values().get(pk=ids[0]) == before
    process_executions(current_workspace_id(), ids, token)
    scenario.settle()
    assert scenario.texts() == ["came"]


def test_a_worker_whose_lease_is_over_cannot_undo_the_waking(events: ScriptedEvents, clock: MovableClock):
    scenario = waiting()
    clock.advance(hours=1)
    pay(scenario, events, clock)
    process_executions(current_workspace_id(), [scenario.row().pk], uuid4())
    assert scenario.row().next_run_at == clock.at
    scenario.settle()
    assert scenario.texts() == ["came"]


def test_an_event_during_a_pause_is_seen_when_the_person_goes_on(events: ScriptedEvents, clock: MovableClock):
    scenario = waiting(amount=None, unit=None)
    pk = scenario.row().pk
    control.change(pk, Operation.PAUSE, user=None)
    clock.advance(hours=1)
    assert pay(scenario, events, clock) == 0
    control.change(pk, Operation.RESUME, user=None)
    scenario.settle()
    assert scenario.texts() == ["came"]


def test_a_restart_waits_for_nothing_of_the_round_before(events: ScriptedEvents, clock: MovableClock):
    scenario = waiting()
    clock.advance(hours=2)
    scenario.settle()
    control.change(scenario.row().pk, Operation.RESTART, user=None)
    row = scenario.row()
    assert (row.waiting_event, row.cycle, row.is_holdout, row.variant) == ("", 2, False, "")


def test_a_frozen_campaign_keeps_the_event_for_later(events: ScriptedEvents, clock: MovableClock):
    scenario = waiting()
    scenario.campaign.status, scenario.campaign.paused_at = "paused", clock.at
    scenario.campaign.save()
    clock.advance(hours=1)
    pay(scenario, events, clock)
    scenario.settle()
    assert scenario.texts() == []
    scenario.campaign.status, scenario.campaign.paused_at = "active", None
    scenario.campaign.save()
    clock.advance(hours=8)
    scenario.settle()
    assert scenario.texts() == ["came"]


# -- what it costs ----------------------------------------------------------------------------------


def test_one_update_wakes_all_walks_of_a_person(events: ScriptedEvents, clock: MovableClock):
    first = waiting()
    second = first.execution()
    second.pk, second.campaign = None, waiting(people=0).campaign
    second.save(force_insert=True)
    clock.advance(hours=1)
    with CaptureQueriesContext(connection) as captured:
        assert pay(first, events, clock) == 2
    updates = [query["sql"] for query in captured if query["sql"].startswith("UPDATE")]
    assert len(updates) == 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="the planner of PostgreSQL is asked")
def test_the_look_up_of_who_waits_is_served_by_its_index(clock: MovableClock):
    rows = WorkflowExecution.objects.filter(
        subject_type="target", subject_id=1, status="waiting", waiting_event="paid", next_run_at__gt=clock.at
    ).exclude(waiting_event="")
    sql, values = rows.query.sql_with_params()
    assert "execution_waits_for" in plan_by("execution_waits_for", WorkflowExecution, sql, values)

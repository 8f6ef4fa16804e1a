from __future__ import annotations

import itertools
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction

from automation.models import WorkflowExecution
from automation.states import CLAIMED, EDGES, ENDED, LIVE, ExecutionStatus
from core.tenancy import HistoryIsAppendOnly
from core.transitions import IllegalTransition, try_transition
from tests.clocks import MONDAY_MORNING, MovableClock
from tests.scenario import Scenario
from workspaces.models import Workspace

ALL = list(ExecutionStatus)


def shape(status: str, clock: MovableClock) -> dict[str, Any]:
    """The columns that must go with a status."""
    return {
        "active_key": 1 if status in LIVE else None,
        "lock_token": uuid4() if status in CLAIMED else None,
        "locked_at": clock.at if status in CLAIMED else None,
        "completed_at": clock.at if status in ENDED else None,
        "paused_at": clock.at if status == "paused" else None,
        "next_run_at": clock.at,
        "eligible_at": clock.at,
    }


@pytest.mark.django_db
@pytest.mark.parametrize(("source", "to"), list(itertools.product(ALL, ALL)))
def test_exactly_the_moves_of_the_table_are_possible(
    workspace: Workspace, clock: MovableClock, source: str, to: str
):
    row = Scenario().execution()
    rows = WorkflowExecution.objects.filter(pk=row.pk)
    rows.update(status=source, **shape(source, clock))
    legal = to in EDGES[source]
    try:
        moved = try_transition(rows, edges=EDGES, to=to, source=source, **shape(to, clock))
    except IllegalTransition:
        moved = False
    assert moved is legal
    assert rows.get().status == (to if legal else source)


@pytest.mark.django_db
def test_a_stale_revision_moves_nothing(workspace: Workspace, clock: MovableClock):
    row = Scenario().execution()
    rows = WorkflowExecution.objects.filter(pk=row.pk)
    assert try_transition(rows, edges=EDGES, to="paused", held=0, **shape("paused", clock))
    assert not try_transition(rows, edges=EDGES, to="cancelled", held=0, **shape("cancelled", clock))


@pytest.mark.django_db
@pytest.mark.parametrize(
    "columns",
    [
        {"status": "sleeping"},
        {"status": "queued"},  # claimed without a lock
        {"status": "completed", "active_key": None},  # ended without a time
        {"status": "active", "active_key": None},  # live without its key
        {"status": "waiting", "next_run_at": None},  # waiting for nothing
        {"lock_token": uuid4()},  # a lock nobody holds
        {"status": "paused"},  # paused at no moment
        {"paused_at": MONDAY_MORNING},  # a pause that nobody is in
    ],
)
def test_the_database_refuses_rows_that_make_no_sense(
    workspace: Workspace, clock: MovableClock, columns: dict[str, object]
):
    row = Scenario().execution()
    with pytest.raises(IntegrityError), transaction.atomic():
        WorkflowExecution.objects.filter(pk=row.pk).update(**columns)


@pytest.mark.django_db
def test_executions_and_history_cannot_be_deleted(workspace: Workspace, clock: MovableClock):
    scenario = Scenario()
    scenario.settle()
    row = scenario.execution()
    event = row.events.first()
    assert event is not None
    for attempt in (
        row.delete,
        WorkflowExecution.objects.all().delete,
        event.delete,
        event.save,
        row.events.all().delete,
        lambda: row.events.all().update(type="completed"),
        scenario.logs()[0].delete,
    ):
        with pytest.raises(HistoryIsAppendOnly):
            attempt()


def test_every_status_is_in_the_table():
    assert set(EDGES) == set(ExecutionStatus)

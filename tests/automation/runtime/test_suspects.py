"""What may have killed its worker is worked apart, at a constant price for what only lost its message."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from automation.models import WorkflowExecution
from automation.runtime import claim
from automation.runtime.reaper import reap
from automation.runtime.runner import process_executions
from core import failpoints
from core.tenancy import current_workspace_id
from tests.clocks import MovableClock
from tests.scenario import Scenario
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


class Died(BaseException):
    """The worker is gone."""


def die() -> None:
    raise Died


def claimed(scenario: Scenario, clock: MovableClock) -> tuple[list[int], UUID]:
    token = uuid4()
    ids = claim.claim_due(scenario.campaign.pk, consuming=True, limit=100, token=token, now=clock.at)
    return ids, token


def message_is_lost(scenario: Scenario, clock: MovableClock) -> None:
    claimed(scenario, clock)
    clock.advance(minutes=6)
    reap(clock.at)


def statements(people: int, clock: MovableClock) -> int:
    scenario = Scenario(people=people, cap=500)
    message_is_lost(scenario, clock)
    ids, token = claimed(scenario, clock)
    with CaptureQueriesContext(
        connection,
    ) as seen:
        process_executions(current_workspace_id(), ids, token)
    assert scenario.statuses() == {"completed": people}
    return len(seen)


def test_a_message_that_was_lost_marks_its_people_and_counts_nothing(clock: MovableClock):
    scenario = Scenario(people=3)
    message_is_lost(scenario, clock)
    rows = WorkflowExecution.objects.all()
    assert {row.failures for row in rows} == {0}
    assert all(row.suspected_at for row in rows)


def test_suspects_cost_a_constant_number_of_statements(clock: MovableClock):
    statements(2, clock)  # whatever is read once a process
    assert statements(5, clock) == statements(40, clock)


def test_a_suspect_that_dies_is_seen_and_its_mates_are_worked_alone(clock: MovableClock):
    scenario = Scenario(people=3, cap=10)
    message_is_lost(scenario, clock)
    ids, token = claimed(scenario, clock)
    with failpoints.acting("after_lone_take", die), pytest.raises(Died):
        process_executions(current_workspace_id(), ids, token)
    clock.advance(minutes=6)
    reap(clock.at)
    assert {row.failures for row in WorkflowExecution.objects.all()} == {1}
    takes: list[int] = []
    ids, token = claimed(scenario, clock)
    with failpoints.acting("after_lone_take", lambda: takes.append(1), once=False):
        process_executions(current_workspace_id(), ids, token)
    assert (len(takes), scenario.statuses()) == (3, {"completed": 3})


def test_whoever_went_on_is_no_suspect_any_more(clock: MovableClock):
    scenario = Scenario(people=2)
    message_is_lost(scenario, clock)
    scenario.settle()
    rows = WorkflowExecution.objects.values_list("suspected_at", "failures")
    assert set(rows) == {(None, 0)}

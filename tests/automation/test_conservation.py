"""entered = moved on + waiting + in work + held + ended, and the names of those who break it."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command

from automation import control
from automation.conservation import Report, Visits, check
from automation.control_moves import Operation
from automation.models import WorkflowExecution
from automation.runtime import claim
from automation.runtime.runner import process_executions
from blacklist.models import BlacklistEntry
from core.tenancy import current_workspace_id, workspace_scope
from sms.types import Outcome
from tests.clocks import MovableClock
from tests.scenario import Scenario, assert_conserved, end, outcome, send, wait
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


def step(report: Report, key: str) -> Visits:
    return next(row for row in report.steps if row.key == key)


def test_every_state_is_counted_where_the_person_stands():
    scenario = Scenario(send("یک"), wait(1), send("دو"), people=6)
    BlacklistEntry.objects.create(workspace_id=current_workspace_id(), value=scenario.targets[0].mobile)
    scenario.settle()
    control.change(scenario.execution(1).pk, Operation.PAUSE, user=None)
    control.change(scenario.execution(2).pk, Operation.REMOVE, user=None)

    report = check(scenario.campaign.pk)
    first, pause = step(report, "n_000001"), step(report, "n_000002")
    assert (first.entered, first.moved_on, first.held) == (6, 5, 1)
    assert (pause.entered, pause.waiting, pause.held, pause.ended) == (5, 3, 1, 1)
    assert report.holds


def test_whoever_has_not_begun_is_on_the_way():
    scenario = Scenario(people=3)
    report = check(scenario.campaign.pk)
    assert (report.steps, report.on_the_way, report.holds) == ([], {scenario.campaign.pk: 3}, True)


def test_restarts_and_retries_are_conserved(clock: MovableClock):
    scenario = Scenario(send("یک"), wait(1), send("دو"), people=3)
    scenario.provider.answer = lambda _sms, _nth: outcome(Outcome.REFUSED, "18")
    scenario.settle()
    scenario.provider.answer = None
    control.change(scenario.execution(0).pk, Operation.RETRY_STEP, user=None)
    control.change(scenario.execution(1).pk, Operation.RESTART, user=None)
    assert_conserved()
    scenario.run_to_end(clock)
    control.change(scenario.execution(0).pk, Operation.RESTART, user=None)
    scenario.run_to_end(clock)
    assert scenario.statuses() == {"completed": 2, "failed": 1}


def test_loops_are_conserved(clock: MovableClock):
    scenario = Scenario(send("هر روز"), end("loop", delay={"amount": 1, "unit": "day"}, max_cycles=3))
    scenario.run_to_end(clock)
    assert len(scenario.provider.accepted) == 3


def test_an_interrupted_worker_s_repeated_arrival_counts_once(clock: MovableClock):
    scenario = Scenario(send("یک"), wait(1), send("دو"))

    def die(_sms: object, _nth: int) -> None:
        raise SystemExit("killed")

    scenario.provider.answer = die  # type: ignore[assignment]
    token = uuid4()
    ids = claim.claim_due(scenario.campaign.pk, consuming=True, limit=9, token=token, now=clock.at)
    with pytest.raises(SystemExit):
        process_executions(current_workspace_id(), ids, token)
    report = check()
    assert (step(report, "n_000001").in_work, report.holds) == (1, True)
    scenario.provider.answer = None
    clock.advance(minutes=6)
    scenario.settle()
    assert step(check(), "n_000001").entered == 1
    assert_conserved()


def test_a_step_given_up_after_three_interruptions_is_told_in_the_history(clock: MovableClock):
    from automation.runtime.reaper import reap

    scenario = Scenario()
    row = scenario.execution()
    WorkflowExecution.objects.filter(pk=row.pk).update(
        status="processing", lock_token=uuid4(), locked_at=clock.at - timedelta(minutes=6), failures=2
    )
    reap(clock.at)
    assert (scenario.execution().status, scenario.events()) == ("failed", ["recovered", "failed"])
    assert_conserved()


def test_a_row_its_history_does_not_know_is_named():
    scenario = Scenario(people=2)
    scenario.settle()
    row = scenario.execution(1)
    rows = WorkflowExecution.objects.filter(pk=row.pk)
    rows.update(status="paused", active_key=1, completed_at=None, paused_at=row.completed_at)
    found = [(broken.execution, broken.problem) for broken in check().broken]
    assert found == [(row.pk, "is paused, but its history says ended")]


def test_somebody_moved_behind_the_history_s_back_unbalances_two_steps():
    scenario = Scenario(send("یک"), wait(1), send("دو"), people=2)
    scenario.settle()
    row = scenario.execution()
    other = scenario.version.nodes.get(node_key="n_000003")
    WorkflowExecution.objects.filter(pk=row.pk).update(current_node=other)
    report = check()
    assert {visits.key for visits in report.steps if not visits.balanced} == {"n_000002", "n_000003"}
    assert [broken.execution for broken in report.broken] == [row.pk]


def test_the_command_names_the_broken_and_fails():
    scenario = Scenario(people=2)
    scenario.settle()
    row = scenario.execution()
    rows = WorkflowExecution.objects.filter(pk=row.pk)
    rows.update(status="paused", active_key=1, completed_at=None, paused_at=row.completed_at)
    out = StringIO()
    with pytest.raises(SystemExit) as caught:
        call_command("conservation_check", stdout=out)
    assert caught.value.code == 1
    assert f"execution {row.pk} " in out.getvalue()


def test_the_command_is_quiet_about_what_holds():
    scenario = Scenario(people=2)
    scenario.settle()
    out = StringIO()
    call_command("conservation_check", "--campaign", str(scenario.campaign.pk), "--json", stdout=out)
    assert json.loads(out.getvalue())["holds"] is True


def test_all_workspaces_are_checked(other_workspace: Workspace):
    Scenario().settle()
    with workspace_scope(other_workspace.pk):
        Scenario().settle()
    assert {visits.workspace for visits in check().steps} == {current_workspace_id(), other_workspace.pk}

"""A walk whose message may have gone out: it waits for the provider's word and never sends without proof."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from automation.models import DailyCounter, WorkflowExecution
from automation.runtime import claim, spool
from automation.runtime.reaper import reap
from automation.runtime.runner import process_executions
from automation.states import ExecutionStatus
from core import failpoints
from core.tenancy import current_workspace_id
from sms.delivery import poll_due
from sms.models import SmsLog, SmsStatus
from sms.reconcile import reconcile_due
from sms.simulator.server import Simulator
from sms.types import OutboundSms, Outcome
from tests.clocks import MovableClock
from tests.people import client_of
from tests.scenario import OFFICE_HOURS, Scenario, assert_conserved, outcome, send, wait
from tests.sms.simulator_fixture import gateway_to, simulator
from workspaces.models import User, Workspace

__all__ = ["simulator"]
pytestmark = pytest.mark.django_db
RETRY = {
    "enabled": True,
    "strategy": "fixed",
    "max_attempts": 1,
    "interval_seconds": 900,
    "on_exhausted": "fail",
}
LOST = {"rules": [{"do": "reset", "accept": True, "when": {"attempt": 1}}]}
ELSE = "09129999999"
NEVER_TAKEN = {"rules": [{"do": "reset", "accept": False, "when": {"attempt": 1}}]}


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


def started(simulator: Simulator, plan: Mapping[str, Any], **scenario: Any) -> Scenario:
    simulator.behave(plan)
    steps = scenario.pop("steps", (send(retry=RETRY), wait(1), send("دوم")))
    made = Scenario(*steps, provider_url=simulator.url, **scenario)
    made.settle()
    return made


def units() -> set[int]:
    return set(DailyCounter.objects.values_list("used", flat=True))


def somebody_else_is_served(simulator: Simulator, plan: Mapping[str, Any], clock: MovableClock) -> None:
    """A later message of the line stands in the provider's list."""
    clock.advance(minutes=10)
    simulator.behave({})
    gateway_to(simulator.url).send(OutboundSms(to=ELSE, text="later"), deadline_s=5)
    simulator.behave(plan)


def taken(simulator: Simulator) -> int:
    return sum(one.number[-10:] != ELSE[-10:] for one in simulator.accepted())


def pass_time(scenario: Scenario, clock: MovableClock, minutes: int) -> None:
    """Minute by minute, as the scheduler does: it ticks, and looks up what is due."""
    for _ in range(minutes):
        clock.advance(minutes=1)
        scenario.settle()


def test_the_walk_waits_while_the_provider_is_asked(simulator: Simulator) -> None:
    scenario = started(simulator, LOST)

    execution = scenario.execution()
    assert (execution.status, execution.consumes_budget) == (ExecutionStatus.WAITING, False)
    assert scenario.logs()[0].status == SmsStatus.UNKNOWN


def test_a_message_that_was_taken_after_all_lets_the_walk_go_on(
    simulator: Simulator, clock: MovableClock
) -> None:
    scenario = started(simulator, LOST)
    pass_time(scenario, clock, 3)

    assert [row.status for row in scenario.logs()] == [SmsStatus.SUBMITTED]
    assert scenario.execution().last_action == "success"
    assert len(simulator.accepted()) == 1
    assert units() == {1}
    assert_conserved()


def test_a_message_that_was_never_taken_is_tried_once_more_as_a_new_attempt(
    simulator: Simulator, clock: MovableClock
) -> None:
    scenario = started(simulator, NEVER_TAKEN)
    somebody_else_is_served(simulator, NEVER_TAKEN, clock)
    pass_time(scenario, clock, 50)

    assert [(row.attempt_number, row.status) for row in scenario.logs()] == [
        (1, SmsStatus.FAILED), (2, SmsStatus.DELIVERED),
    ]  # fmt: skip
    assert taken(simulator) == 1
    assert units() == {1}
    assert "retry_scheduled" in scenario.events()
    assert_conserved()


def test_the_unit_of_an_absent_message_goes_back_exactly_once(
    simulator: Simulator, clock: MovableClock
) -> None:
    plan = {"rules": [{"do": "reset", "accept": False}]}
    scenario = started(simulator, plan, cap=5)
    assert units() == {1}

    for _ in range(2):  # both attempts
        somebody_else_is_served(simulator, plan, clock)
        pass_time(scenario, clock, 50)

    assert [row.status for row in scenario.logs()] == [SmsStatus.FAILED] * 2
    assert units() == {0}
    assert scenario.execution().status == ExecutionStatus.FAILED


def test_without_retries_an_absent_message_ends_as_the_step_says(
    simulator: Simulator, clock: MovableClock
) -> None:
    scenario = started(simulator, NEVER_TAKEN, steps=(send(retry={**RETRY, "enabled": False}),))
    somebody_else_is_served(simulator, NEVER_TAKEN, clock)
    pass_time(scenario, clock, 30)

    assert scenario.execution().status == ExecutionStatus.FAILED
    assert len(scenario.logs()) == 1


def test_an_undecided_message_lets_the_walk_go_on_after_the_set_time(
    simulator: Simulator, clock: MovableClock
) -> None:
    plan = {
        "rules": [{"do": "reset", "accept": True, "when": {"attempt": 1}},
                  {"do": "http", "status": 500, "when": {"method": "GetMessages"}}],
    }  # fmt: skip
    scenario = started(simulator, plan)
    pass_time(scenario, clock, 119)
    waiting = scenario.execution().status
    pass_time(scenario, clock, 2)

    assert waiting == ExecutionStatus.WAITING
    assert scenario.execution().last_action == "unknown"
    assert [row.status for row in scenario.logs()] == [SmsStatus.UNKNOWN]
    assert len(simulator.accepted()) == 1
    assert units() == {1}


def test_an_outcome_that_is_settled_after_the_walk_went_on_changes_the_message_alone(
    simulator: Simulator, clock: MovableClock
) -> None:
    scenario = started(
        simulator, {**LOST, "outbox": {"after_s": 3 * 3600}}, settings={"on_unknown_outcome": "continue"}
    )
    before = WorkflowExecution.objects.values("status", "current_node_id", "revision").get()
    clock.advance(hours=4)
    reconcile_due(clock.now())

    assert scenario.logs()[0].status == SmsStatus.SUBMITTED
    assert WorkflowExecution.objects.values("status", "current_node_id", "revision").get() == before
    assert scenario.events()[-1] == "sms_attempt"


def test_with_continue_the_walk_does_not_wait(simulator: Simulator) -> None:
    scenario = started(simulator, LOST, settings={"on_unknown_outcome": "continue"})

    assert scenario.execution().last_action == "unknown"


def test_with_hold_a_person_decides(simulator: Simulator, clock: MovableClock) -> None:
    scenario = started(simulator, LOST, settings={"on_unknown_outcome": "hold"})
    pass_time(scenario, clock, 10)

    assert scenario.execution().status == ExecutionStatus.PAUSED
    assert scenario.logs()[0].status == SmsStatus.SUBMITTED


def test_where_the_provider_cannot_be_asked_the_walk_goes_on(clock: MovableClock) -> None:
    scenario = Scenario(send(), wait(1))
    scenario.provider.answer = lambda _sms, _n: outcome(Outcome.IN_DOUBT, "answer_timeout")
    scenario.settle()

    assert scenario.execution().last_action == "unknown"


def test_a_wait_for_the_provider_minds_neither_hours_nor_limits(
    simulator: Simulator, clock: MovableClock
) -> None:
    scenario = started(simulator, LOST, cap=1, window=OFFICE_HOURS)
    clock.advance(hours=12)  # night
    reconcile_due(clock.now())
    scenario.settle()

    assert scenario.execution().last_action == "success"


def test_an_attempt_left_by_a_dead_worker_is_looked_up_too(simulator: Simulator, clock: MovableClock) -> None:
    class Died(BaseException):
        pass

    def die() -> None:
        raise Died

    scenario = Scenario(send(retry=RETRY), wait(1), provider_url=simulator.url)
    with failpoints.acting("after_http", die), pytest.raises(Died):
        scenario.settle()
    pass_time(scenario, clock, 12)

    assert [row.status for row in scenario.logs()] == [SmsStatus.SUBMITTED]
    assert len(simulator.accepted()) == 1
    assert scenario.execution().last_action == "success"


def test_many_lost_answers_cost_a_constant_number_of_statements(
    simulator: Simulator, clock: MovableClock
) -> None:
    counts = []
    scenario = started(simulator, LOST, people=3)
    for people in (3, 30):
        clock.advance(minutes=2)
        with CaptureQueriesContext(connection) as queries:
            assert reconcile_due(clock.now()).accepted == people
        counts.append(len(queries))
        scenario.enrol(30)
        scenario.settle()

    assert counts[0] == counts[1]


def test_the_timeline_tells_of_the_wait_and_of_what_was_found(
    simulator: Simulator, clock: MovableClock, owner: User
) -> None:
    scenario = started(simulator, {**LOST, "delivery": {"after_s": 0, "shares": {"undelivered": 1}}})
    pass_time(scenario, clock, 3)
    row = scenario.logs()[0]
    message_id = simulator.accepted()[0].id
    SmsLog.objects.filter(pk=row.pk).update(provider_message_id=message_id, poll_at=clock.now())
    poll_due(clock.now())

    page = client_of(owner, language="en").get(f"/targets/{scenario.targets[0].pk}/?tab=automation")

    shown = page.content.decode()
    assert "The provider is asked whether the message went out" in shown
    assert "The provider&#x27;s list shows that it has the message" in shown
    assert "The phone was off or out of reach, so the message did not arrive." in shown


def lost_by_the_database(scenario: Scenario, clock: MovableClock) -> None:
    """The provider answered, the database took the answer later than the worker's lease lasted."""

    def away() -> None:
        raise OperationalError from Conflict()

    token = uuid4()
    ids = claim.claim_due(scenario.campaign.pk, consuming=True, limit=9, token=token, now=clock.now())
    with failpoints.acting("mid_record_tx", away, once=False):
        process_executions(current_workspace_id(), ids, token)
    clock.advance(minutes=6)
    reap(clock.at)


class Conflict(Exception):
    sqlstate = "40001"


def test_a_walk_that_waits_goes_on_as_soon_as_a_kept_answer_is_stored(
    simulator: Simulator, clock: MovableClock, settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR, settings.LEASE_SECONDS = tmp_path, 20.5
    simulator.behave({"rules": [{"do": "code", "code": "6"}]})
    scenario = Scenario(send(retry=RETRY), wait(1), send("دوم"), provider_url=simulator.url)
    lost_by_the_database(scenario, clock)
    file = tmp_path / "spool" / "answers"
    kept = file.read_bytes()
    file.write_bytes(b"")  # on another host, whose disk comes back later
    scenario.settle()
    assert (scenario.execution().status, scenario.execution().consumes_budget) == ("waiting", False)

    file.write_bytes(kept)
    spool.settle()

    assert scenario.execution().next_run_at == clock.now()
    scenario.settle()
    assert [row.status for row in scenario.logs()] == ["failed"]  # no second message before its time
    simulator.behave({})
    pass_time(scenario, clock, 16)
    assert [row.attempt_number for row in scenario.logs()] == [1, 2]
    assert taken(simulator) == 1

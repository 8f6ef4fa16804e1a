"""Workers that die, lose their lease or their database: what is left behind, and who clears it up."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError

from automation.models import DailyCounter, WorkflowExecution
from automation.runtime import claim
from automation.runtime.reaper import reap
from automation.runtime.runner import process_executions
from automation.states import ExecutionStatus
from campaigns import actions as campaign_actions
from core import failpoints
from core.tenancy import current_workspace_id
from sms.models import SmsLog, SmsStatus
from sms.types import OutboundSms, Outcome, SendResult
from tests.clocks import MovableClock
from tests.scenario import Scenario, accept, outcome, send, wait
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


class Died(BaseException):
    """The worker is gone: nothing after this line of its code runs."""


def die() -> None:
    raise Died


def claimed(scenario: Scenario, clock: MovableClock) -> tuple[list[int], UUID]:
    token = uuid4()
    return claim.claim_due(scenario.campaign.pk, consuming=True, limit=1000, token=token, now=clock.at), token


def work(ids: list[int], token: UUID) -> None:
    process_executions(current_workspace_id(), ids, token)


def error() -> None:
    raise ValueError("this step cannot be done")


def die_at(point: str, scenario: Scenario, clock: MovableClock) -> None:
    """A worker takes the claim and dies at a failpoint."""
    ids, token = claimed(scenario, clock)
    with failpoints.acting(point, die), pytest.raises(Died):
        work(ids, token)


def lease_ends(clock: MovableClock) -> None:
    clock.advance(minutes=6)
    reap(clock.at)


def used() -> int:
    return sum(DailyCounter.objects.filter(scope_type="campaign").values_list("used", flat=True))


def test_messages_the_broker_lost_do_not_count_as_failures_of_the_step(clock: MovableClock):
    scenario = Scenario()
    for _ in range(5):
        claimed(scenario, clock)
        lease_ends(clock)
    die_at("after_reserve", scenario, clock)
    lease_ends(clock)
    assert scenario.execution().status == ExecutionStatus.ACTIVE


def processing(ids: list[int]) -> None:
    """A worker died in its first transaction: on PostgreSQL that is a rollback, so write what three
    such deaths after `take` would leave behind where the transaction had been two."""
    WorkflowExecution.objects.filter(pk__in=ids).update(status=ExecutionStatus.PROCESSING)


def interrupted(scenario: Scenario, clock: MovableClock, *, times: int) -> None:
    for _ in range(times):
        ids, _token = claimed(scenario, clock)
        processing(ids)
        lease_ends(clock)


def test_a_step_that_kills_three_workers_alone_is_failed_with_the_reason(clock: MovableClock):
    """The first death may be the doing of a chunk mate: it is no try of this step's own."""
    scenario = Scenario()
    interrupted(scenario, clock, times=3)
    assert scenario.execution().status == ExecutionStatus.ACTIVE
    interrupted(scenario, clock, times=1)
    row = scenario.execution()
    assert (row.status, row.end_reason) == (ExecutionStatus.FAILED, "poison")
    assert scenario.events().count("recovered") == 4


def test_a_step_that_raises_after_a_death_it_shared_has_three_tries_too(clock: MovableClock):
    scenario = Scenario()
    interrupted(scenario, clock, times=1)
    with failpoints.acting("in_walk", error, once=False):
        for failures in (2, 3):
            work(*claimed(scenario, clock))
            assert (scenario.execution().status, scenario.execution().failures) == ("active", failures)
        work(*claimed(scenario, clock))
    assert scenario.execution().end_reason == "poison"


def test_a_lost_message_in_between_is_no_try(clock: MovableClock):
    scenario = Scenario()
    interrupted(scenario, clock, times=2)
    claimed(scenario, clock)
    lease_ends(clock)
    interrupted(scenario, clock, times=1)
    assert scenario.execution().status == ExecutionStatus.ACTIVE


def test_progress_forgets_the_interruptions(clock: MovableClock):
    scenario = Scenario(send(), wait(1))
    interrupted(scenario, clock, times=3)
    scenario.settle()
    row = scenario.execution()
    assert (row.status, row.failures, row.suspected_at) == ("waiting", 0, None)


def test_the_last_of_these_deaths_leaves_no_message_on_its_way(clock: MovableClock):
    """Such a row would hold the person's number for every later message."""
    scenario = Scenario()
    interrupted(scenario, clock, times=3)
    die_at("after_reserve", scenario, clock)
    lease_ends(clock)
    assert [log.status for log in scenario.logs()] == [SmsStatus.UNKNOWN]
    assert scenario.execution().status == ExecutionStatus.FAILED


@pytest.mark.parametrize("stop", [campaign_actions.pause, campaign_actions.cancel, campaign_actions.end])
def test_a_message_left_by_a_dead_worker_is_closed_though_its_campaign_never_runs_again(
    clock: MovableClock, stop: Callable[..., object]
):
    scenario = Scenario(cap=10)
    die_at("after_reserve", scenario, clock)
    stop(scenario.campaign.pk, user=None)
    clock.advance(minutes=6)
    scenario.settle()
    assert [log.status for log in scenario.logs()] == [SmsStatus.UNKNOWN]
    assert used() == 1


def test_another_campaign_may_write_to_the_number_a_dead_worker_left(clock: MovableClock):
    first = Scenario()
    die_at("after_reserve", first, clock)
    campaign_actions.pause(first.campaign.pk, user=None)
    second = Scenario(people=0)
    second.targets = second.enrol(1)
    number = first.targets[0].mobile
    second.targets[0].mobile, first.targets[0].mobile = number, "09129999999"
    first.targets[0].save()
    second.targets[0].save()
    clock.advance(minutes=6)
    second.settle()
    assert [sent.to for sent in second.provider.accepted] == [number]


def test_the_interrupted_message_is_told_in_the_history_once(clock: MovableClock):
    scenario = Scenario(send(), wait(1))
    die_at("after_reserve", scenario, clock)
    clock.advance(minutes=6)
    scenario.settle()
    assert scenario.events().count("sms_attempt") == 1
    assert scenario.execution().last_action == "unknown"


def test_an_error_of_the_database_is_no_fault_of_the_person(clock: MovableClock):
    scenario = Scenario()
    ids, token = claimed(scenario, clock)

    def drop() -> None:
        raise OperationalError("the server closed the connection")

    with failpoints.acting("mid_reserve_tx", drop):
        work(ids, token)
    scenario.settle()
    assert scenario.execution().status == ExecutionStatus.COMPLETED
    assert len(scenario.provider.asked) == 1


def test_an_answer_that_comes_after_the_lease_is_told_in_the_history(clock: MovableClock):
    scenario = Scenario(send(), wait(1))

    def too_slow(_sms: OutboundSms, _nth: int) -> SendResult:
        lease_ends(clock)
        scenario.provider.answer = None
        return accept()

    scenario.provider.answer = too_slow
    ids, token = claimed(scenario, clock)
    work(ids, token)
    log = scenario.logs()[0]
    told = scenario.execution().events.filter(type="sms_attempt", data__status="submitted")
    assert (log.status, told.count()) == (SmsStatus.SUBMITTED, 1)


def test_an_answer_after_the_lease_settles_its_message_and_nobody_is_asked_again(
    clock: MovableClock,
):
    scenario = Scenario(send(), wait(1), cap=10)

    def too_slow(_sms: OutboundSms, _nth: int) -> SendResult:
        lease_ends(clock)
        scenario.provider.answer = None
        scenario.settle()  # another worker closes the attempt as unknown and goes on
        return accept()

    scenario.provider.answer = too_slow
    ids, token = claimed(scenario, clock)
    work(ids, token)
    assert [log.status for log in scenario.logs()] == [SmsStatus.SUBMITTED]
    assert (len(scenario.provider.asked), used()) == (1, 1)
    assert scenario.execution().status == ExecutionStatus.WAITING


def test_a_refusal_after_the_lease_gives_its_unit_back_once(clock: MovableClock):
    scenario = Scenario(send(), wait(1), cap=10)

    def too_slow(_sms: OutboundSms, _nth: int) -> SendResult:
        lease_ends(clock)
        scenario.provider.answer = None
        scenario.settle()
        return outcome(Outcome.REFUSED, "18")

    scenario.provider.answer = too_slow
    ids, token = claimed(scenario, clock)
    work(ids, token)
    assert ([log.status for log in scenario.logs()], used()) == ([SmsStatus.REJECTED], 0)


def test_a_worker_that_wakes_up_too_late_does_not_call(clock: MovableClock, settings: object):
    settings.LEASE_SECONDS = 20.5  # type: ignore[attr-defined]  # one second is the least a worker gets
    scenario = Scenario(cap=10)
    ids, token = claimed(scenario, clock)
    with failpoints.acting("after_reserve", lambda: _sleep(1.1)):
        work(ids, token)
    row = scenario.execution()
    assert (scenario.provider.asked, [log.error_code for log in scenario.logs()]) == ([], ["too_late"])
    assert (row.status, used()) == (ExecutionStatus.WAITING, 0)


def _sleep(seconds: float) -> None:
    import time

    time.sleep(seconds)


def test_a_worker_that_dies_after_everything_is_recorded_changes_nothing(clock: MovableClock):
    scenario = Scenario()
    die_at("after_record", scenario, clock)
    clock.advance(minutes=6)
    scenario.settle()
    assert (scenario.statuses(), SmsLog.objects.count()) == ({"completed": 1}, 1)


def test_a_worker_that_begins_renews_the_lease_of_its_claim(clock: MovableClock):
    """Four minutes in line, two in work: the five of the lease count from the beginning of the work."""
    scenario = Scenario()
    ids, token = claimed(scenario, clock)
    clock.advance(minutes=4)
    reaped: list[int] = []

    def slow(_sms: OutboundSms, _nth: int) -> SendResult:
        clock.advance(minutes=2)
        reaped.append(reap(clock.at))
        return accept()

    scenario.provider.answer = slow
    work(ids, token)
    assert (reaped, scenario.statuses()) == ([0], {"completed": 1})

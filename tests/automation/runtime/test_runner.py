from __future__ import annotations

from datetime import date, timedelta
from typing import NoReturn
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from automation.models import AutomationSettings, DailyCounter, WorkflowExecution
from automation.runtime import claim
from automation.runtime.reaper import reap
from automation.runtime.runner import process_executions
from automation.states import ExecutionStatus
from blacklist.models import BlacklistEntry
from campaigns.models import Campaign
from core.tenancy import current_workspace_id
from sms.models import ProviderAccount, SmsLog, SmsStatus
from sms.types import Outcome, SendResult
from tests.clocks import MovableClock
from tests.scenario import OFFICE_HOURS, Scenario, accept, outcome, send, wait
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


def claimed(scenario: Scenario, clock: MovableClock) -> tuple[list[int], UUID]:
    token = uuid4()
    ids = claim.claim_due(scenario.campaign.pk, consuming=True, limit=1000, token=token, now=clock.at)
    return ids, token


def used(scope: str = "campaign") -> int:
    return sum(DailyCounter.objects.filter(scope_type=scope).values_list("used", flat=True))


def test_a_message_is_sent_with_the_live_name_and_recorded():
    scenario = Scenario(send("سلام {target.first_name}"))
    scenario.targets[0].first_name = "مینا"
    scenario.targets[0].save()

    scenario.settle()

    log = scenario.logs()[0]
    assert (log.status, log.final_message, log.attempt_number) == (SmsStatus.SUBMITTED, "سلام مینا", 1)
    assert scenario.execution().status == ExecutionStatus.COMPLETED


def test_the_history_tells_the_whole_walk():
    scenario = Scenario(send(), wait(1), send())
    scenario.settle()
    assert scenario.events() == ["node_entered", "sms_attempt", "node_entered", "wait_started"]


def test_a_wait_counts_from_the_person_s_own_message(clock: MovableClock):
    scenario = Scenario(send("یک"), wait(30), send("دو"), window=OFFICE_HOURS)
    clock.advance(hours=2)
    scenario.run_to_end(clock)
    first, second = (sent.at for sent in scenario.provider.accepted)
    assert second - first == timedelta(days=30)


def test_a_message_delivered_twice_by_the_queue_is_sent_once(clock: MovableClock):
    scenario = Scenario()
    ids, token = claimed(scenario, clock)
    process_executions(current_workspace_id(), ids, token)
    process_executions(current_workspace_id(), ids, token)
    assert len(scenario.provider.asked) == 1


def test_a_wrong_token_changes_nothing(clock: MovableClock):
    scenario = Scenario()
    ids, _token = claimed(scenario, clock)
    process_executions(current_workspace_id(), ids, uuid4())
    assert scenario.execution().status == ExecutionStatus.QUEUED
    assert scenario.provider.asked == []


def test_a_campaign_paused_after_the_claim_sends_nothing(clock: MovableClock):
    scenario = Scenario()
    ids, token = claimed(scenario, clock)
    Campaign.objects.filter(pk=scenario.campaign.pk).update(status="paused", paused_at=clock.at)

    process_executions(current_workspace_id(), ids, token)

    row = scenario.execution()
    assert (row.status, row.lock_token, scenario.logs()) == (ExecutionStatus.ACTIVE, None, [])


def test_a_campaign_cancelled_after_the_claim_cancels_the_walk(clock: MovableClock):
    scenario = Scenario()
    ids, token = claimed(scenario, clock)
    Campaign.objects.filter(pk=scenario.campaign.pk).update(status="cancelled")
    process_executions(current_workspace_id(), ids, token)
    row = scenario.execution()
    assert (row.status, row.end_reason) == (ExecutionStatus.CANCELLED, "campaign_cancelled")


def test_a_number_blocked_after_the_claim_is_not_written_to(clock: MovableClock):
    scenario = Scenario(people=2)
    ids, token = claimed(scenario, clock)
    BlacklistEntry.objects.create(workspace_id=current_workspace_id(), value=scenario.targets[0].mobile)

    process_executions(current_workspace_id(), ids, token)

    assert [sent.to for sent in scenario.provider.accepted] == [scenario.targets[1].mobile]
    assert scenario.execution(0).status == ExecutionStatus.BLACKLISTED
    assert SmsLog.objects.get(subject_id=scenario.targets[0].pk).status == SmsStatus.BLACKLISTED


def test_a_blocked_number_uses_no_budget(clock: MovableClock):
    scenario = Scenario(cap=5)
    BlacklistEntry.objects.create(workspace_id=current_workspace_id(), value=scenario.targets[0].mobile)
    scenario.settle()
    assert used() == 0


def test_a_window_that_closes_after_the_claim_defers(clock: MovableClock):
    scenario = Scenario(window=OFFICE_HOURS)
    clock.advance(hours=8, minutes=59)
    ids, token = claimed(scenario, clock)
    clock.advance(minutes=2)

    process_executions(current_workspace_id(), ids, token)

    row = scenario.execution()
    assert (row.status, row.next_run_at) == (
        ExecutionStatus.WAITING,
        clock.at + timedelta(hours=14, minutes=59),
    )
    assert scenario.logs() == []
    assert "deferred_window" in scenario.events()


def test_a_step_may_ignore_the_window(clock: MovableClock):
    clock.advance(hours=14)
    scenario = Scenario(send(send_only_in_window=False), window=OFFICE_HOURS)
    ids, token = claimed(scenario, clock)
    process_executions(current_workspace_id(), ids, token)
    assert len(scenario.provider.accepted) == 1


def test_whoever_finds_no_budget_waits_for_tomorrow_with_nothing_used_up(clock: MovableClock):
    scenario = Scenario(people=3, cap=2)
    ids, token = claimed(scenario, clock)  # the scheduler's own budget is set aside: the worker's counts
    process_executions(current_workspace_id(), ids, token)

    last = scenario.execution(2)
    assert used() == 2
    assert (last.status, last.retry_count) == (ExecutionStatus.WAITING, 0)
    assert last.next_run_at.astimezone(clock.at.tzinfo) == clock.at.replace(hour=20, minute=30)
    assert "deferred_limit" in scenario.events(2)


def test_the_workspace_limit_holds_over_two_campaigns():
    AutomationSettings.objects.create(workspace_id=current_workspace_id(), global_daily_limit=3)
    first, second = Scenario(people=2, cap=10), Scenario(people=2, cap=10)
    first.settle()
    assert len(first.provider.accepted) == 3
    assert len(second.provider.accepted) == 3


def test_a_temporary_failure_is_tried_again_with_one_row_an_attempt(clock: MovableClock):
    scenario = Scenario(cap=10)
    scenario.provider.answer = lambda _sms, nth: accept() if nth == 3 else outcome(Outcome.NOT_SENT)

    scenario.run_to_end(clock)

    assert [log.status for log in scenario.logs()] == ["failed", "failed", "submitted"]
    assert [log.attempt_number for log in scenario.logs()] == [1, 2, 3]
    assert used() == 1
    assert scenario.logs()[0].retry_scheduled_at - scenario.logs()[0].response_at == timedelta(minutes=15)


def test_the_fourth_failure_is_the_last(clock: MovableClock):
    scenario = Scenario(cap=10)
    scenario.provider.answer = lambda _sms, _nth: outcome(Outcome.NOT_SENT)
    scenario.run_to_end(clock)
    row = scenario.execution()
    assert (row.status, len(scenario.logs()), used()) == (ExecutionStatus.FAILED, 4, 0)


def test_a_refused_message_is_not_tried_again_and_gives_its_unit_back():
    scenario = Scenario(cap=10)
    scenario.provider.answer = lambda _sms, _nth: outcome(Outcome.REFUSED, "18")
    scenario.settle()
    assert [log.status for log in scenario.logs()] == ["rejected"]
    assert used() == 0


def test_a_lost_answer_is_unknown_keeps_its_unit_and_the_walk_goes_on():
    scenario = Scenario(send("یک"), wait(1), send("دو"), cap=10)
    scenario.provider.answer = lambda _sms, _nth: outcome(Outcome.IN_DOUBT, "answer_timeout")
    scenario.settle()
    row = scenario.execution()
    assert (scenario.logs()[0].status, row.status, row.last_action) == ("unknown", "waiting", "unknown")
    assert used() == 1


def test_a_lost_answer_may_hold_the_walk_for_a_person():
    scenario = Scenario(send(), wait(1), settings={"on_unknown_outcome": "hold"})
    scenario.provider.answer = lambda _sms, _nth: outcome(Outcome.IN_DOUBT, "answer_timeout")
    scenario.settle()
    assert scenario.execution().status == ExecutionStatus.PAUSED


def test_a_worker_that_died_before_the_answer_leaves_one_unknown_attempt(clock: MovableClock):
    scenario = Scenario(send("یک"), wait(1), send("دو"))

    def die(_sms: object, _nth: int) -> NoReturn:
        raise SystemExit("killed")

    scenario.provider.answer = die
    ids, token = claimed(scenario, clock)
    with pytest.raises(SystemExit):
        process_executions(current_workspace_id(), ids, token)
    scenario.provider.answer = None
    clock.advance(minutes=6)
    scenario.settle()

    assert [log.status for log in scenario.logs()] == ["unknown"]
    assert len(scenario.provider.asked) == 1
    assert "recovered" in scenario.events()
    assert scenario.execution().status == ExecutionStatus.WAITING


def test_the_reaper_leaves_a_fresh_lease_alone(clock: MovableClock):
    scenario = Scenario()
    claimed(scenario, clock)
    clock.advance(seconds=299)
    assert reap(clock.at) == 0
    clock.advance(seconds=2)
    assert reap(clock.at) == 1


def test_a_worker_that_lost_its_lease_writes_nothing(clock: MovableClock):
    scenario = Scenario()
    other = uuid4()

    def steal(_sms: object, _nth: int) -> SendResult:
        WorkflowExecution.objects.filter(campaign=scenario.campaign).update(lock_token=other)
        return accept()

    scenario.provider.answer = steal
    ids, token = claimed(scenario, clock)
    process_executions(current_workspace_id(), ids, token)

    row = scenario.execution()
    assert (row.status, row.lock_token) == (ExecutionStatus.PROCESSING, other)


def test_no_credit_closes_the_channel_and_uses_nothing_up(clock: MovableClock):
    scenario = Scenario(cap=10)
    scenario.provider.answer = lambda _sms, _nth: outcome(Outcome.UNAVAILABLE, "2")
    scenario.settle()

    row = scenario.execution()
    assert (row.status, row.retry_count, row.next_run_at) == ("waiting", 0, clock.at + timedelta(minutes=30))
    assert ProviderAccount.objects.get().paused_until == clock.at + timedelta(minutes=30)
    assert used() == 0


def test_a_closed_channel_asks_nobody(clock: MovableClock):
    scenario = Scenario(people=3, cap=10)
    ProviderAccount.objects.update(paused_until=clock.at + timedelta(minutes=10), paused_since=clock.at)
    scenario.settle()
    assert (scenario.provider.asked, scenario.logs(), used()) == ([], [], 0)
    assert scenario.statuses() == {"waiting": 3}


def test_a_missing_value_skips_the_message_and_names_it():
    scenario = Scenario(send("{target.city} عزیز"))
    scenario.settle()
    log = scenario.logs()[0]
    assert (log.status, log.error_code, log.error_message) == (
        "skipped",
        "missing_personalisation",
        "target.city",
    )
    assert scenario.execution().status == ExecutionStatus.COMPLETED


def test_a_removed_person_is_not_written_to(clock: MovableClock):
    scenario = Scenario()
    scenario.targets[0].deleted_at = clock.at
    scenario.targets[0].save()
    scenario.settle()
    row = scenario.execution()
    assert (row.status, row.end_reason, scenario.provider.asked) == ("cancelled", "target_removed", [])


def test_a_changed_status_stops_the_walk():
    scenario = Scenario(campaign_settings={"stop_when_target_status_in": ["converted"]})
    scenario.targets[0].status = "converted"
    scenario.targets[0].save()
    scenario.settle()
    row = scenario.execution()
    assert (row.status, row.end_reason) == ("cancelled", "target_status_changed")
    assert scenario.events() == ["status_stop"]


def test_one_poisoned_execution_does_not_spoil_its_chunk():
    scenario = Scenario(send("سلام"), people=4)
    # metadata that is no object breaks the facts of this one person
    WorkflowExecution.objects.filter(pk=scenario.execution(1).pk).update(metadata=["broken"])
    scenario.settle()
    assert scenario.statuses() == {"completed": 3, "failed": 1}
    assert scenario.execution(1).end_reason == "poison"


def test_a_chunk_costs_a_constant_number_of_statements(clock: MovableClock):
    costs = []
    for people in (10, 100):
        scenario = Scenario(send(), wait(1), people=people, cap=1000, window=OFFICE_HOURS)
        ids, token = claimed(scenario, clock)
        with CaptureQueriesContext(connection) as queries:
            process_executions(current_workspace_id(), ids, token)
        # SQLite takes few values in one INSERT, so Django splits what is one statement on PostgreSQL.
        counted = [q for q in queries if connection.vendor == "postgresql" or "INSERT" not in q["sql"]]
        costs.append(len(counted))
        assert scenario.statuses() == {"waiting": people}
    assert costs[0] == costs[1]
    assert costs[1] <= 29


def test_counters_use_the_workspace_s_day(clock: MovableClock):
    clock.advance(hours=14, minutes=30)  # 23:30 in Tehran
    scenario = Scenario(cap=10)
    scenario.settle()
    clock.advance(hours=1)
    scenario.enrol(1)
    scenario.settle()
    days = DailyCounter.objects.filter(scope_type="campaign").order_by("day").values_list("day", "used")
    assert list(days) == [(date(2026, 11, 30), 1), (date(2026, 12, 1), 1)]


def test_the_channel_is_asked_first_then_the_blacklist_then_the_hours(clock: MovableClock):
    clock.advance(hours=14)
    scenario = Scenario(window=OFFICE_HOURS)
    BlacklistEntry.objects.create(workspace_id=current_workspace_id(), value=scenario.targets[0].mobile)
    ProviderAccount.objects.update(paused_until=clock.at + timedelta(minutes=30), paused_since=clock.at)
    ids, token = claimed(scenario, clock)
    process_executions(current_workspace_id(), ids, token)
    assert (scenario.events()[-1], scenario.logs()) == ("deferred_provider", [])

    clock.advance(minutes=30)
    ids, token = claimed(scenario, clock)
    process_executions(current_workspace_id(), ids, token)
    assert (scenario.events()[-1], scenario.logs()[0].status) == ("blacklisted", "blacklisted")

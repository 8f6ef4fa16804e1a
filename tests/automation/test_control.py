"""Pause, resume, remove, restart and retry of single executions and of selections."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from automation import control
from automation.control_moves import SOURCES, Operation, Reason
from automation.models import WorkflowExecution
from automation.runtime import claim
from automation.runtime.runner import process_executions
from automation.states import CLAIMABLE, CLAIMED, EDGES, ENDED, LIVE, ExecutionStatus
from blacklist.models import BlacklistEntry
from campaigns.models import Campaign
from core.errors import NotFound, Refused
from core.tenancy import current_workspace_id
from sms.types import OutboundSms, Outcome, SendResult
from tests.clocks import MovableClock
from tests.scenario import OFFICE_HOURS, Scenario, accept, outcome, send, start, wait
from workspaces.models import AuditRecord, User, Workspace

pytestmark = pytest.mark.django_db
Op = Operation
ALLOWED = [
    ("pause", "active", "paused"),
    ("pause", "waiting", "paused"),
    ("resume", "paused", "active"),
    ("resume", "blacklisted", "active"),
    ("remove", "pending", "cancelled"),
    ("remove", "active", "cancelled"),
    ("remove", "waiting", "cancelled"),
    ("remove", "queued", "cancelled"),
    ("remove", "paused", "cancelled"),
    ("remove", "blacklisted", "cancelled"),
    ("restart", "completed", "active"),
    ("restart", "failed", "active"),
    ("retry_step", "failed", "active"),
]
REFUSED = [
    (str(operation), str(status))
    for operation in Operation
    for status in ExecutionStatus
    if (operation, status) not in {(o, s) for o, s, _to in ALLOWED}
]


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


def stand(row: WorkflowExecution, status: str, clock: MovableClock) -> WorkflowExecution:
    """Put the row into `status` with the columns that go with it."""
    WorkflowExecution.objects.filter(pk=row.pk).update(
        status=status,
        active_key=1 if status in LIVE else None,
        lock_token=uuid4() if status in CLAIMED else None,
        locked_at=clock.at if status in CLAIMED else None,
        completed_at=clock.at if status in ENDED else None,
        paused_at=clock.at if status == "paused" else None,
        paused_from_status="active" if status == "paused" else "",
    )
    row.refresh_from_db()
    return row


def refusal(execution_id: int, operation: Operation, **kwargs: object) -> str:
    with pytest.raises(Refused) as caught:
        control.change(execution_id, operation, user=None, **kwargs)  # type: ignore[arg-type]
    return caught.value.code


@pytest.mark.parametrize(("operation", "status", "to"), ALLOWED)
def test_what_the_state_allows_is_done(clock: MovableClock, operation: str, status: str, to: str):
    row = stand(Scenario().execution(), status, clock)
    assert control.change(row.pk, Op(operation), user=None).status == to


@pytest.mark.parametrize(("operation", "status"), REFUSED)
def test_everything_else_is_refused_and_changes_nothing(clock: MovableClock, operation: str, status: str):
    row = stand(Scenario().execution(), status, clock)
    code = refusal(row.pk, Op(operation))
    row.refresh_from_db()
    assert code == (Reason.IN_WORK if status in CLAIMED else Reason.ILLEGAL)
    assert (row.status, row.events.count()) == (status, 0)


def test_every_operation_is_a_move_of_the_table():
    targets = {Op.PAUSE: {"paused"}, Op.RESUME: {"active", "waiting"}, Op.REMOVE: {"cancelled"}}
    for operation, sources in SOURCES.items():
        for source in sources:
            assert EDGES[source] & targets.get(operation, {"active"})


# -- pause and resume ---------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", sorted(CLAIMABLE))
def test_a_pause_remembers_where_it_came_from(clock: MovableClock, owner: User, origin: str):
    row = stand(Scenario().execution(), origin, clock)
    due = row.next_run_at
    paused = control.change(row.pk, Op.PAUSE, user=owner)
    assert (paused.paused_from_status, paused.paused_at, paused.next_run_at) == (origin, clock.at, due)
    resumed = control.change(row.pk, Op.RESUME, user=owner)
    assert (resumed.status, resumed.next_run_at, resumed.paused_at) == (origin, due, None)


def test_the_history_and_the_audit_log_name_the_person(owner: User):
    row = Scenario().execution()
    control.change(row.pk, Op.PAUSE, user=owner)
    event = row.events.get()
    assert (event.type, event.actor_user) == ("paused", owner)
    record = AuditRecord.objects.get(event="person.paused")
    assert (record.user, record.entity_id, record.new) == (owner, str(row.pk), {"status": "paused"})


def test_a_paused_person_is_not_claimed_and_after_the_resume_is_due_at_once(clock: MovableClock):
    scenario = Scenario()
    control.change(scenario.execution().pk, Op.PAUSE, user=None)
    clock.advance(days=3)
    assert scenario.tick().claimed == 0
    control.change(scenario.execution().pk, Op.RESUME, user=None)
    scenario.settle()
    assert scenario.statuses() == {"completed": 1}


def test_a_resumed_person_still_waits_for_the_window(clock: MovableClock):
    scenario = Scenario(window=OFFICE_HOURS)
    control.change(scenario.execution().pk, Op.PAUSE, user=None)
    clock.advance(hours=12)
    control.change(scenario.execution().pk, Op.RESUME, user=None)
    scenario.settle()
    assert scenario.provider.asked == []
    assert scenario.execution().next_run_at == clock.at + timedelta(hours=12)


def test_a_walk_held_for_its_lost_answer_goes_on_without_sending_again(clock: MovableClock):
    scenario = Scenario(send("یک"), wait(1), send("دو"), settings={"on_unknown_outcome": "hold"})
    scenario.provider.answer = lambda _sms, _nth: outcome(Outcome.IN_DOUBT, "answer_timeout")
    scenario.settle()
    scenario.provider.answer = None
    control.change(scenario.execution().pk, Op.RESUME, user=None)
    scenario.settle()
    assert (scenario.execution().status, len(scenario.provider.asked)) == ("waiting", 1)


def test_a_blocked_person_goes_on_only_when_the_number_is_off_the_list(clock: MovableClock):
    scenario = Scenario()
    entry = BlacklistEntry.objects.create(
        workspace_id=current_workspace_id(), value=scenario.targets[0].mobile
    )
    scenario.settle()
    row = scenario.execution()
    assert refusal(row.pk, Op.RESUME) == Reason.BLOCKED

    entry.delete()
    assert control.change(row.pk, Op.RESUME, user=None).active_key == 1
    scenario.settle()
    assert [log.status for log in scenario.logs()] == ["blacklisted", "submitted"]
    assert scenario.statuses() == {"completed": 1}


# -- remove -------------------------------------------------------------------------------------------


def test_a_removed_person_gets_nothing_more(owner: User):
    scenario = Scenario()
    row = control.change(scenario.execution().pk, Op.REMOVE, user=owner)
    scenario.settle()
    assert (row.status, row.end_reason, row.active_key) == ("cancelled", "removed_by_user", None)
    assert (scenario.events(), scenario.provider.asked) == (["removed"], [])


def test_someone_removed_in_line_is_not_written_to_by_the_worker_that_comes_later(clock: MovableClock):
    scenario = Scenario(people=2)
    token = uuid4()
    ids = claim.claim_due(scenario.campaign.pk, consuming=True, limit=10, token=token, now=clock.at)
    control.change(ids[0], Op.REMOVE, user=None)
    process_executions(current_workspace_id(), ids, token)
    assert scenario.provider.asked == [scenario.targets[1].mobile]
    assert scenario.statuses() == {"cancelled": 1, "completed": 1}


def test_what_a_worker_holds_is_left_to_the_worker(clock: MovableClock):
    scenario = Scenario()
    codes: list[str] = []

    def meddle(_sms: OutboundSms, _nth: int) -> SendResult:
        codes.extend(refusal(scenario.execution().pk, operation) for operation in (Op.PAUSE, Op.REMOVE))
        return accept()

    scenario.provider.answer = meddle
    scenario.settle()
    assert codes == [Reason.IN_WORK, Reason.IN_WORK]
    assert scenario.statuses() == {"completed": 1}


def test_a_stale_revision_changes_nothing(clock: MovableClock):
    row = Scenario().execution()
    control.change(row.pk, Op.PAUSE, user=None, revision=row.revision)
    control.change(row.pk, Op.RESUME, user=None)
    assert refusal(row.pk, Op.REMOVE, revision=row.revision) == Reason.CHANGED
    row.refresh_from_db()
    assert row.status == "active"


# -- restart and retry --------------------------------------------------------------------------------


def test_a_restart_walks_the_next_cycle_from_the_first_step(clock: MovableClock):
    scenario = Scenario(send("یک"), send("دو"))
    scenario.settle()
    row = control.change(scenario.execution().pk, Op.RESTART, user=None)
    assert (row.cycle, row.active_key, row.retry_count, row.completed_at) == (2, 1, 0, None)
    scenario.settle()
    assert [sent.text for sent in scenario.provider.accepted] == ["یک", "دو"] * 2
    assert {log.cycle for log in scenario.logs()} == {1, 2}


def test_a_restart_waits_for_the_workflow_s_delay(clock: MovableClock):
    scenario = Scenario(start(initial_delay={"amount": 2, "unit": "hour"}), send())
    row = stand(scenario.execution(), "completed", clock)
    assert control.change(row.pk, Op.RESTART, user=None).next_run_at == clock.at + timedelta(hours=2)


def test_a_retry_repeats_the_step_that_failed_in_the_same_cycle(clock: MovableClock):
    scenario = Scenario(send("یک"), send("دو"))
    scenario.provider.answer = lambda sms, _nth: (
        outcome(Outcome.REFUSED, "18") if sms.text == "دو" else accept()
    )
    scenario.settle()
    failed = scenario.execution()
    assert failed.status == "failed"

    scenario.provider.answer = None
    row = control.change(failed.pk, Op.RETRY_STEP, user=None)
    assert (row.cycle, row.current_node_id, row.retry_count) == (1, failed.current_node_id, 0)
    scenario.settle()
    assert [sent.text for sent in scenario.provider.accepted] == ["یک", "دو"]
    assert [log.attempt_number for log in scenario.logs() if log.final_message == "دو"] == [1, 2]
    assert scenario.statuses() == {"completed": 1}


def test_a_retry_of_a_message_that_may_have_gone_out_does_not_send_it_again(clock: MovableClock):
    scenario = Scenario()
    scenario.provider.answer = lambda _sms, _nth: outcome(Outcome.IN_DOUBT, "answer_timeout")
    scenario.settle()
    stand(scenario.execution(), "failed", clock)
    first = scenario.version.nodes.get(subtype="send_sms")
    WorkflowExecution.objects.update(current_node=first)
    control.change(scenario.execution().pk, Op.RETRY_STEP, user=None)
    scenario.settle()
    assert len(scenario.provider.asked) == 1
    assert scenario.statuses() == {"completed": 1}


@pytest.mark.parametrize(
    ("status", "operation"), [("blacklisted", Op.RESUME), ("failed", Op.RESTART), ("failed", Op.RETRY_STEP)]
)
def test_nobody_comes_back_while_live_in_the_same_campaign(
    clock: MovableClock, status: str, operation: Operation
):
    scenario = Scenario()
    row = stand(scenario.execution(), status, clock)
    again = WorkflowExecution.objects.get(pk=row.pk)
    again.pk, again.status, again.active_key, again.completed_at = None, "active", 1, None
    again._state.adding = True
    again.save()
    assert refusal(row.pk, operation) == Reason.ALREADY_LIVE


@pytest.mark.parametrize("operation", [Op.RESUME, Op.RESTART, Op.RETRY_STEP])
def test_nobody_goes_on_in_a_campaign_that_is_over(clock: MovableClock, operation: Operation):
    scenario = Scenario()
    row = stand(scenario.execution(), "paused" if operation is Op.RESUME else "failed", clock)
    Campaign.objects.update(status="completed")
    assert refusal(row.pk, operation) == Reason.CAMPAIGN_OVER


def test_a_journey_s_person_is_controlled_like_any_other(clock: MovableClock):
    scenario = Scenario()
    Campaign.objects.update(kind="journey")
    assert control.change(scenario.execution().pk, Op.PAUSE, user=None).status == "paused"


def test_another_workspace_s_execution_does_not_exist(other_workspace: Workspace):
    from core.tenancy import workspace_scope

    row = Scenario().execution()
    with workspace_scope(other_workspace.pk), pytest.raises(NotFound):
        control.change(row.pk, Op.PAUSE, user=None)


# -- selections ---------------------------------------------------------------------------------------


def test_a_selection_skips_those_it_cannot_move_and_says_why(clock: MovableClock, owner: User):
    scenario = Scenario(people=5)
    rows = [scenario.execution(i) for i in range(5)]
    for row in rows[:3]:
        stand(row, "completed", clock)
    result = control.change_many(scenario.campaign.pk, [r.pk for r in rows], Op.RESTART, user=owner)
    assert set(result.done) == {row.pk for row in rows[:3]}
    assert result.refused == {rows[3].pk: Reason.ILLEGAL, rows[4].pk: Reason.ILLEGAL}
    record = AuditRecord.objects.get(event="person.restarted")
    assert (record.entity_id, record.new) == (
        str(scenario.campaign.pk),
        {"changed_people": 3, "unchanged_people": 2},
    )
    assert [row.events.get().actor_user for row in rows[:3]] == [owner] * 3


def test_people_of_another_campaign_are_left_alone(clock: MovableClock):
    here, there = Scenario(), Scenario()
    stranger = there.execution()
    result = control.change_many(here.campaign.pk, [stranger.pk], Op.PAUSE, user=None)
    assert (result.done, result.refused) == ({}, {stranger.pk: Reason.NOT_FOUND})


def test_two_old_walks_of_one_person_come_back_as_one(clock: MovableClock):
    scenario = Scenario()
    first = stand(scenario.execution(), "completed", clock)
    second = WorkflowExecution.objects.get(pk=first.pk)
    second.pk = None
    second._state.adding = True
    second.save()
    result = control.change_many(scenario.campaign.pk, [first.pk, second.pk], Op.RESTART, user=None)
    assert (set(result.done), result.refused) == ({first.pk}, {second.pk: Reason.ALREADY_LIVE})


def test_a_selection_costs_a_constant_number_of_statements(clock: MovableClock):
    costs = []
    for people in (5, 50):
        scenario = Scenario(people=people)
        ids = [row.pk for row in scenario.campaign.executions.all()]
        with CaptureQueriesContext(connection) as queries:
            control.change_many(scenario.campaign.pk, ids, Op.PAUSE, user=None)
        costs.append(len(queries))
    assert costs[0] == costs[1]


def test_too_many_at_once_are_refused():
    scenario = Scenario()
    with pytest.raises(Refused) as caught:
        control.change_many(scenario.campaign.pk, range(1, 5002), Op.PAUSE, user=None)
    assert caught.value.code == "too_many"

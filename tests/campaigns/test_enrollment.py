"""From a review to people in a campaign."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError

from automation.models import WorkflowExecution, WorkflowExecutionEvent, WorkflowNode
from campaigns import actions, lifecycle
from campaigns.enrollment import batches, committer, decisions, entering, planner
from campaigns.enrollment.decisions import Decisions
from campaigns.models import Campaign, EnrollmentBatch
from core.errors import Invalid, Refused, TryLater
from core.queue import inline, port
from tests.campaigns import builders
from tests.campaigns.test_planner import block
from tests.clocks import MovableClock
from workspaces.models import AuditRecord, User

pytestmark = pytest.mark.usefixtures("workspace", "clock")


def test_people_who_enter_a_running_campaign_are_due_at_once(clock: MovableClock, owner: User) -> None:
    campaign = builders.running()
    person = builders.people(1)[0]

    builders.enrol(campaign, [person], user=owner)

    row = builders.execution_of(campaign, person)
    node = WorkflowNode.objects.get(version=campaign.workflow_version, subtype="send_sms")
    assert (row.status, row.active_key, row.current_node, row.consumes_budget) == ("active", 1, node, True)
    assert (row.next_run_at, row.eligible_at, row.started_at) == (clock.now(),) * 3
    event = row.events.get()
    assert (event.type, event.actor_user, event.occurred_at) == ("enrolled", owner, clock.now())


def test_people_who_enter_before_the_start_wait_for_it() -> None:
    campaign = builders.draft()
    person = builders.people(1)[0]
    builders.enrol(campaign, [person])

    row = builders.execution_of(campaign, person)
    assert (row.status, row.next_run_at, row.started_at) == ("pending", None, None)


def test_people_who_enter_a_paused_campaign_keep_their_moment(clock: MovableClock) -> None:
    campaign = builders.running()
    actions.pause(campaign.pk, user=None)
    campaign.refresh_from_db()
    person = builders.people(1)[0]
    builders.enrol(campaign, [person])

    row = builders.execution_of(campaign, person)
    assert (row.status, row.next_run_at) == ("active", clock.now())


def test_an_initial_delay_holds_for_both_ways_in(clock: MovableClock, owner: User) -> None:
    workflow = delayed_workflow(owner)
    builders.channel()
    campaign = builders.draft(workflow)
    early, late = builders.people(2)
    builders.enrol(campaign, [early])
    clock.advance(hours=5)
    actions.activate(campaign.pk, user=None)
    campaign.refresh_from_db()
    builders.enrol(campaign, [late])

    due = clock.now() + timedelta(hours=1)
    assert builders.execution_of(campaign, early).next_run_at == due
    assert builders.execution_of(campaign, late).next_run_at == due


def test_the_blocked_and_the_unreachable_never_enter() -> None:
    campaign = builders.running()
    ready, blocked = builders.people(2)
    landline = builders.people(1, mobile="", landline="02188776655")[0]
    block(blocked)

    batch = builders.enrol(campaign, [ready, blocked, landline])

    assert list(WorkflowExecution.objects.values_list("subject_id", flat=True)) == [ready]
    assert batch.plan == {"blacklisted": [blocked], "invalid": [landline]}
    assert (batch.status, batch.counts["added"], batch.counts["selected"]) == ("committed", 1, 3)


def test_somebody_blocked_after_the_review_is_left_out_and_reported() -> None:
    campaign = builders.running()
    ids = builders.people(2)
    batch = builders.review(campaign, ids)
    block(ids[0])

    committer.commit(batch, user=None)

    batch.refresh_from_db()
    assert (batch.counts["added"], batch.plan) == (1, {"blacklisted": [ids[0]]})


def test_nobody_is_added_while_a_conflict_has_no_answer() -> None:
    campaign, other = builders.running(), builders.running()
    ids = builders.people(2)
    builders.enrol(other, ids[:1])
    batch = builders.review(campaign, ids)

    with pytest.raises(Refused) as refusal:
        committer.commit(batch, user=None)

    assert refusal.value.code == "conflicts_unresolved"
    batch.refresh_from_db()
    assert batch.status == "draft"
    assert builders.statuses(campaign) == {}


def test_a_conflict_that_appears_after_the_review_needs_an_answer_too() -> None:
    campaign, other = builders.running(), builders.running()
    ids = builders.people(2)
    batch = builders.review(campaign, ids)
    builders.enrol(other, ids[:1])
    events = WorkflowExecutionEvent.objects.count()

    with pytest.raises(Refused):
        committer.commit(batch, user=None)

    batch.refresh_from_db()
    assert batch.plan["conflict"] == ids[:1]
    assert WorkflowExecutionEvent.objects.count() == events


@pytest.mark.parametrize(("answer", "added"), [("add", 2), ("skip", 1)])
def test_the_answer_decides_about_conflicts(answer: str, added: int) -> None:
    campaign, other = builders.running(), builders.running()
    ids = builders.people(2)
    builders.enrol(other, ids[:1])

    batch = builders.enrol(campaign, ids, default=answer)

    assert batch.counts["added"] == added
    assert builders.statuses(campaign) == {"active": added}


def test_an_own_answer_is_stronger_than_the_one_for_all() -> None:
    campaign, other = builders.running(), builders.running()
    ids = builders.people(3)
    builders.enrol(other, ids)
    batch = builders.review(campaign, ids)
    batches.decide(batch, Decisions(default="skip", overrides={ids[1]: "add"}))

    committer.commit(batch, user=None)

    assert list(WorkflowExecution.objects.filter(campaign=campaign).values_list("subject_id", flat=True)) == [
        ids[1]
    ]


def test_who_is_in_the_campaign_already_cannot_be_decided_about() -> None:
    campaign = builders.running()
    ids = builders.people(1)
    builders.enrol(campaign, ids)
    batch = builders.review(campaign, ids)

    with pytest.raises(Invalid) as refusal:
        batches.decide(batch, Decisions(overrides={ids[0]: "add"}))
    assert refusal.value.code == "not_a_conflict"


@pytest.mark.parametrize(
    "raw",
    [
        {"default": "maybe"},
        {"overrides": {"1": "yes"}},
        {"overrides": {"one": "add"}},
        {"overrides": ["add"]},
        {"all": "add"},
        "add",
        {"default": ["add"]},
    ],
)
def test_other_words_than_add_and_skip_are_refused(raw: object) -> None:
    with pytest.raises(Invalid):
        decisions.read(raw)


def test_a_batch_is_added_once() -> None:
    campaign = builders.running()
    batch = builders.review(campaign, builders.people(2))
    stale = EnrollmentBatch.objects.select_related("campaign").get(pk=batch.pk)
    committer.commit(batch, user=None)

    for copy in (batch, stale):
        with pytest.raises(Refused) as refusal:
            committer.commit(copy, user=None)
        assert refusal.value.code == "batch_not_draft"
    assert builders.statuses(campaign) == {"active": 2}


def test_a_discarded_batch_is_never_added(owner: User) -> None:
    campaign = builders.running()
    batch = builders.review(campaign, builders.people(1))
    batches.discard(batch, user=owner)
    batch.refresh_from_db()

    with pytest.raises(Refused):
        committer.commit(batch, user=None)
    assert AuditRecord.objects.filter(event="campaign.selection_discarded", user=owner).count() == 1


def test_whoever_finished_a_campaign_may_enter_it_again() -> None:
    campaign = builders.running()
    ids = builders.people(1)
    builders.enrol(campaign, ids)
    WorkflowExecution.objects.update(status="completed", active_key=None, completed_at=campaign.created_at)

    builders.enrol(campaign, ids)

    assert builders.statuses(campaign) == {"completed": 1, "active": 1}


def test_somebody_let_in_between_the_check_and_the_insert_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The unique live key decides; the others of the chunk enter all the same."""
    campaign = builders.running()
    ids = builders.people(3)
    batch = builders.review(campaign, ids)
    real = planner.sort

    def sort_then_somebody_else_adds(*args: Any) -> Any:
        groups = real(*args)
        entering.enter(campaign, [ids[1]], campaign.created_at)
        return groups

    monkeypatch.setattr(planner, "sort", sort_then_somebody_else_adds)
    held = batches.take(batch, {})
    assert held is not None
    committer.run(batch.pk, held, user_id=None)

    batch.refresh_from_db()
    assert (batch.counts["added"], batch.plan) == (2, {"same_time": [ids[1]]})
    assert builders.statuses(campaign) == {"active": 3}


def test_a_broken_rule_that_nobody_else_explains_is_an_error() -> None:
    campaign = builders.running()
    campaign.workflow_id = None  # type: ignore[assignment]
    with pytest.raises(IntegrityError):
        entering.enter(campaign, [1], campaign.created_at)


# -- large selections ---------------------------------------------------------------------------------


class SilentQueue:
    """Takes messages and does nothing with them."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, dict[str, Any]]] = []

    def enqueue(self, name: str, payload: dict[str, Any], *, group: str) -> None:
        self.messages.append((name, payload))

    def depth(self) -> int:
        return len(self.messages)

    def drain(self, *, seconds: float) -> int:
        return 0


@pytest.fixture
def silent_queue(monkeypatch: pytest.MonkeyPatch) -> SilentQueue:
    queue = SilentQueue()
    monkeypatch.setitem(port._queues, "inline", queue)
    return queue


def test_three_hundred_people_are_added_at_once(silent_queue: SilentQueue) -> None:
    campaign = builders.running()
    assert committer.commit(builders.review(campaign, builders.people(300)), user=None) is True
    assert silent_queue.messages == []
    assert builders.statuses(campaign) == {"active": 300}


def test_more_are_added_by_a_task(silent_queue: SilentQueue) -> None:
    campaign = builders.running()
    batch = builders.review(campaign, builders.people(301))

    assert committer.commit(batch, user=None) is False
    [(name, payload)] = silent_queue.messages
    assert name == "campaigns.commit_batch"
    assert builders.statuses(campaign) == {}

    port.run(name, payload)
    batch.refresh_from_db()
    assert (batch.status, batch.counts["added"]) == ("committed", 301)


def test_a_doubled_message_adds_nobody_twice(silent_queue: SilentQueue) -> None:
    campaign = builders.running()
    committer.commit(builders.review(campaign, builders.people(301)), user=None)
    [(name, payload)] = silent_queue.messages

    port.run(name, payload)
    port.run(name, payload)

    assert builders.statuses(campaign) == {"active": 301}


def test_a_queue_that_is_away_gives_the_review_back(monkeypatch: pytest.MonkeyPatch) -> None:
    class Away(SilentQueue):
        def enqueue(self, name: str, payload: dict[str, Any], *, group: str) -> None:
            raise ConnectionError("no broker")

    monkeypatch.setitem(port._queues, "inline", Away())
    batch = builders.review(builders.running(), builders.people(301))

    with pytest.raises(TryLater):
        committer.commit(batch, user=None)
    batch.refresh_from_db()
    assert batch.status == "draft"


def test_a_task_that_dies_leaves_a_failed_batch_and_what_it_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = builders.running()
    ids = builders.people(600)
    batch = builders.review(campaign, ids)
    real = planner.sort

    def dies_on_the_second_chunk(campaign: Campaign, part: Any) -> Any:
        if part[0] != ids[0] and EnrollmentBatch.objects.get(pk=batch.pk).status == "committing":
            raise MemoryError
        return real(campaign, part)

    monkeypatch.setattr(planner, "sort", dies_on_the_second_chunk)
    monkeypatch.setitem(port._queues, "inline", inline.InlineQueue())
    committer.commit(batch, user=None)
    monkeypatch.setattr(planner, "sort", real)

    batch.refresh_from_db()
    assert (batch.status, batch.counts["error"], batch.counts["added"]) == ("failed", "stopped", 500)
    assert builders.statuses(campaign) == {"active": 500}
    assert builders.review(campaign, ids).counts == {
        "invalid": 0, "blacklisted": 0, "already": 500, "conflict": 0, "ready": 100,
    }  # fmt: skip


def test_a_batch_whose_worker_vanished_is_given_up(silent_queue: SilentQueue, clock: MovableClock) -> None:
    campaign = builders.running()
    batch = builders.review(campaign, builders.people(301))
    committer.commit(batch, user=None)
    clock.advance(minutes=29)
    assert lifecycle.advance(clock.now()).batches_failed == 0
    clock.advance(minutes=2)
    assert lifecycle.advance(clock.now()).batches_failed == 1

    [(name, payload)] = silent_queue.messages
    port.run(name, payload)
    batch.refresh_from_db()
    assert (batch.status, builders.statuses(campaign)) == ("failed", {})


def test_a_campaign_cancelled_in_between_takes_nobody_in(silent_queue: SilentQueue) -> None:
    campaign = builders.running()
    batch = builders.review(campaign, builders.people(301))
    committer.commit(batch, user=None)
    actions.cancel(campaign.pk, user=None)

    port.run(*silent_queue.messages[0])

    batch.refresh_from_db()
    assert (batch.status, batch.counts["error"]) == ("failed", "campaign_over")
    assert builders.statuses(campaign) == {}


def test_people_reviewed_before_the_start_and_added_after_it_are_not_left_behind() -> None:
    builders.channel()
    campaign = builders.draft()
    batch = builders.review(campaign, builders.people(2))
    actions.activate(campaign.pk, user=None)

    committer.commit(batch, user=None)
    assert builders.statuses(campaign) == {"active": 2}


def test_each_chunk_costs_the_same_number_of_statements(
    django_assert_max_num_queries: Callable[..., Any],
) -> None:
    campaign = builders.running()
    batch = builders.review(campaign, builders.people(20))
    with django_assert_max_num_queries(22):
        committer.commit(batch, user=None)
    batch = builders.review(campaign, builders.people(25))
    with django_assert_max_num_queries(22):
        committer.commit(batch, user=None)


def test_adding_people_is_audited_with_the_numbers(owner: User) -> None:
    campaign = builders.running()
    blocked, ready = builders.people(2)
    block(blocked)
    builders.enrol(campaign, [blocked, ready], user=owner)

    row = AuditRecord.objects.get(event="campaign.people_added")
    assert (row.user, row.new) == (owner, {"selected": 2, "added": 1, "left_out": 1})


def delayed_workflow(user: User) -> Any:
    """A published workflow whose start waits an hour."""
    from automation.publishing import create_workflow, publish

    made = create_workflow(name="با تأخیر", template_key="single_message", user=user)
    start = WorkflowNode.objects.get(version__workflow=made, type="start")
    start.config = {"initial_delay": {"amount": 1, "unit": "hour"}}
    start.save()
    publish(made, user=user)
    return made

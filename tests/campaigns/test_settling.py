"""Large campaigns: the click decides at once, the people follow in parts, and nothing is lost in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from automation.models import WorkflowExecutionEvent
from campaigns import actions, lifecycle, settling
from campaigns.models import Campaign
from core.failpoints import acting
from core.queue import port
from tests.campaigns import builders
from tests.campaigns.reading import text_of, url
from tests.campaigns.test_enrollment import SilentQueue
from tests.clocks import MovableClock
from tests.scenario import assert_conserved

pytestmark = pytest.mark.usefixtures("workspace", "clock")
PEOPLE = 7


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two people at the click, two a chunk, four a look: seven make a large campaign."""
    for name, size in (("AT_ONCE", 2), ("CHUNK", 2), ("LOOK", 4)):
        monkeypatch.setattr(settling, name, size)


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> SilentQueue:
    made = SilentQueue()
    monkeypatch.setitem(port._queues, "inline", made)
    return made


def full(clock: MovableClock) -> Campaign:
    builders.channel()
    campaign = builders.draft()
    builders.enrol(campaign, builders.people(PEOPLE))
    clock.advance(hours=1)
    return campaign


def lines(kind: str) -> int:
    return WorkflowExecutionEvent.objects.filter(type=kind).count()


def test_a_start_lets_the_first_go_and_the_tick_lets_the_others_follow(clock: MovableClock) -> None:
    campaign = full(clock)
    started = actions.activate(campaign.pk, user=None)
    assert (started.status, started.starting) == ("active", True)
    assert builders.statuses(campaign) == {"active": 2, "pending": 5}
    assert_conserved()
    clock.advance(minutes=1)

    report = lifecycle.advance(clock.now())

    assert (report.people_started, builders.statuses(campaign)) == (5, {"active": PEOPLE})
    assert Campaign.objects.get(pk=campaign.pk).starting is False
    assert lines("activated") == PEOPLE
    assert_conserved()


def test_everybody_begins_at_the_moment_of_the_start_however_late_they_follow(clock: MovableClock) -> None:
    campaign = full(clock)
    began = clock.now()
    actions.activate(campaign.pk, user=None)
    clock.advance(minutes=3)
    lifecycle.advance(clock.now())
    rows = campaign.executions.values_list("next_run_at", "eligible_at", "started_at").distinct()
    assert list(rows) == [(began, began, began)]


@pytest.mark.parametrize(("move", "reason"), [("cancel", "campaign_cancelled"), ("end", "campaign_ended")])
def test_an_end_stops_the_sending_at_once_and_the_people_follow(
    move: str, reason: str, clock: MovableClock
) -> None:
    campaign = full(clock)
    actions.activate(campaign.pk, user=None)
    lifecycle.advance(clock.now())
    getattr(actions, move)(campaign.pk, user=None)
    assert builders.statuses(campaign) == {"active": 5, "cancelled": 2}
    assert_conserved()

    assert lifecycle.advance(clock.now()).people_stopped == 5

    assert builders.statuses(campaign) == {"cancelled": PEOPLE}
    assert set(campaign.executions.values_list("end_reason", flat=True)) == {reason}
    assert (lines("cancelled"), Campaign.objects.get(pk=campaign.pk).draining) == (PEOPLE, False)
    assert_conserved()


def test_the_outcome_of_a_cancellation_counts_everybody_it_stops(clock: MovableClock) -> None:
    campaign = full(clock)
    assert actions.cancel(campaign.pk, user=None).stopped == PEOPLE


def test_a_cancellation_during_the_start_stops_those_who_had_not_begun(clock: MovableClock) -> None:
    campaign = full(clock)
    actions.activate(campaign.pk, user=None)
    actions.cancel(campaign.pk, user=None)
    lifecycle.advance(clock.now())
    assert builders.statuses(campaign) == {"cancelled": PEOPLE}
    assert Campaign.objects.get(pk=campaign.pk).starting is False
    assert_conserved()


def test_a_pause_freezes_the_start_too_and_the_resume_goes_on_with_it(clock: MovableClock) -> None:
    campaign = full(clock)
    actions.activate(campaign.pk, user=None)
    actions.pause(campaign.pk, user=None)
    assert lifecycle.advance(clock.now()) == lifecycle.LifecycleReport()
    actions.resume(campaign.pk, user=None)
    lifecycle.advance(clock.now())
    assert builders.statuses(campaign) == {"active": PEOPLE}


def test_somebody_who_enters_during_the_start_begins_at_once(clock: MovableClock) -> None:
    campaign = full(clock)
    actions.activate(campaign.pk, user=None)
    campaign.refresh_from_db()
    builders.enrol(campaign, builders.people(1))
    assert builders.statuses(campaign) == {"active": 3, "pending": 5}
    lifecycle.advance(clock.now())
    assert builders.statuses(campaign) == {"active": 8}


@pytest.mark.parametrize("failpoint", ["settle_chunk_tx", "settle_chunk"])
@pytest.mark.parametrize("move", ["activate", "cancel"])
def test_whoever_dies_between_or_in_the_chunks_the_next_tick_goes_on(
    failpoint: str, move: str, clock: MovableClock
) -> None:
    campaign = full(clock)
    getattr(actions, move)(campaign.pk, user=None)

    def die() -> None:
        raise KeyboardInterrupt

    with acting(failpoint, die, at=2), pytest.raises(KeyboardInterrupt):
        lifecycle.advance(clock.now())
    assert_conserved()

    lifecycle.advance(clock.now())

    ended, kind = ("cancelled", "cancelled") if move == "cancel" else ("active", "activated")
    assert builders.statuses(campaign) == {ended: PEOPLE}
    assert lines(kind) == PEOPLE
    assert_conserved()


def test_a_tick_beside_the_task_moves_nobody_twice(clock: MovableClock, queue: SilentQueue) -> None:
    campaign = full(clock)
    actions.cancel(campaign.pk, user=None)

    def tick() -> None:
        lifecycle.advance(clock.now())

    with acting("settle_chunk", tick):
        settling.run_task({"workspace_id": campaign.workspace_id, "campaign_id": campaign.pk})
    lifecycle.advance(clock.now())
    assert (builders.statuses(campaign), lines("cancelled")) == ({"cancelled": PEOPLE}, PEOPLE)


def test_a_worker_is_asked_once_the_click_is_stored(
    clock: MovableClock, queue: SilentQueue, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    campaign = full(clock)
    with django_capture_on_commit_callbacks(execute=True):
        actions.activate(campaign.pk, user=None)
    [(name, payload)] = queue.messages
    port.run(name, payload)
    port.run(name, payload)  # a doubled message finds nothing to do
    assert (builders.statuses(campaign), lines("activated")) == ({"active": PEOPLE}, PEOPLE)


def test_a_task_whose_time_is_up_hands_over_to_its_successor(
    clock: MovableClock, queue: SilentQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = full(clock)
    actions.activate(campaign.pk, user=None)
    monkeypatch.setattr(settling, "TASK_SECONDS", 0.0)
    settling.run_task({"workspace_id": campaign.workspace_id, "campaign_id": campaign.pk})
    assert [name for name, _payload in queue.messages] == [settling.TASK]


def test_a_queue_that_is_away_costs_only_time(clock: MovableClock, monkeypatch: pytest.MonkeyPatch) -> None:
    class Away(SilentQueue):
        def enqueue(self, name: str, payload: dict[str, Any], *, group: str) -> None:
            raise ConnectionError("no broker")

    monkeypatch.setitem(port._queues, "inline", Away())
    settling.ask(1, 1)


def test_the_page_says_honestly_how_many_still_follow(clock: MovableClock, web: Client) -> None:
    campaign = full(clock)
    actions.cancel(campaign.pk, user=None)
    page = web.get(url("detail", campaign.pk)).content.decode()
    assert f'hx-get="{url("settling", campaign.pk)}"' in page
    fragment = web.get(url("settling", campaign.pk))
    assert "5 people are still being taken out" in text_of(fragment)
    assert 'value="2" max="7"' in fragment.content.decode()

    lifecycle.advance(clock.now())
    last = web.get(url("settling", campaign.pk))
    assert (last["HX-Refresh"], "hx-trigger" in last.content.decode()) == ("true", False)


def test_a_chunk_costs_the_same_for_many_people(
    clock: MovableClock, django_assert_num_queries: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = full(clock)
    actions.cancel(campaign.pk, user=None)
    ids = list(campaign.executions.filter(status="pending").values_list("pk", flat=True))
    with django_assert_num_queries(5):  # savepoint, campaign, update, history, release
        settling._chunk(campaign.pk, ids[:1])
    with django_assert_num_queries(5):
        settling._chunk(campaign.pk, ids[1:])

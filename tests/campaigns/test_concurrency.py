"""Two at once, with real threads and a real database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC

import pytest
from django.db import connection

from automation.models import WorkflowExecution, WorkflowExecutionEvent
from campaigns import actions, lifecycle
from campaigns.enrollment import committer
from campaigns.models import Campaign, CampaignStatus, EnrollmentBatch
from core import clock as core_clock
from core.errors import Refused
from core.tenancy import workspace_scope
from tests import people as members
from tests.campaigns import builders
from tests.clocks import MONDAY_MORNING, MovableClock
from tests.concurrency import threads
from workspaces.models import AuditRecord, Workspace

pytestmark = [pytest.mark.concurrency, pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def shop(transactional_db: None) -> Iterator[Workspace]:
    """A workspace whose rows other threads can see; time stands still for all of them."""
    if connection.vendor != "postgresql":
        pytest.skip("needs PostgreSQL")
    core_clock.use_process_clock(MovableClock(MONDAY_MORNING.astimezone(UTC)))
    made = members.make_workspace("bazaar")
    with workspace_scope(made.pk):
        yield made
    core_clock.use_process_clock(None)


def at_once(shop: Workspace, *jobs: Callable[[], object]) -> list[object]:
    """Run the jobs at the same moment, each in its own thread; what each returned or raised."""

    def work(place: int) -> object:
        try:
            return jobs[place]()
        except Exception as exc:  # noqa: BLE001  # the test looks at it
            return exc

    return threads.at_once(len(jobs), work, workspace_id=shop.pk)


def add(batch: EnrollmentBatch) -> bool:
    return committer.commit(batch, user=None)


def test_a_batch_committed_twice_at_once_adds_everybody_once(shop: Workspace) -> None:
    campaign = builders.running()
    batch = builders.review(campaign, builders.people(120))

    def commit() -> bool:
        return add(EnrollmentBatch.objects.select_related("campaign").get(pk=batch.pk))

    results = at_once(shop, *[commit] * 4)

    assert sorted(type(result).__name__ for result in results) == ["Refused", "Refused", "Refused", "bool"]
    assert builders.statuses(campaign) == {"active": 120}
    assert WorkflowExecutionEvent.objects.filter(type="enrolled").count() == 120


def test_two_selections_of_the_same_people_add_everybody_once(shop: Workspace) -> None:
    campaign = builders.running()
    ids = builders.people(150)
    first, second = builders.review(campaign, ids), builders.review(campaign, list(reversed(ids)))

    at_once(shop, lambda: committer.commit(first, user=None), lambda: committer.commit(second, user=None))

    assert builders.statuses(campaign) == {"active": 150}
    for batch in (first, second):
        batch.refresh_from_db()
    assert first.counts["added"] + second.counts["added"] == 150
    assert {first.status, second.status} == {"committed"}


@pytest.mark.parametrize("attempt", range(5))
def test_nobody_is_left_behind_by_a_start_during_the_adding(shop: Workspace, attempt: int) -> None:
    builders.channel()
    campaign = builders.draft()
    batch = builders.review(campaign, builders.people(200))

    at_once(shop, lambda: add(batch), lambda: actions.activate(campaign.pk, user=None))

    assert builders.statuses(campaign) == {"active": 200}


@pytest.mark.parametrize("attempt", range(5))
def test_nobody_enters_a_campaign_that_is_being_cancelled(shop: Workspace, attempt: int) -> None:
    campaign = builders.running()
    batch = builders.review(campaign, builders.people(200))

    at_once(shop, lambda: add(batch), lambda: actions.cancel(campaign.pk, user=None))

    assert WorkflowExecution.objects.filter(campaign=campaign, active_key=1).count() == 0


def test_two_ticks_start_a_campaign_once(shop: Workspace) -> None:
    builders.channel()
    campaign = builders.draft()
    builders.enrol(campaign, builders.people(100))
    Campaign.objects.filter(pk=campaign.pk).update(status=CampaignStatus.SCHEDULED)
    now = core_clock.now()

    reports = at_once(shop, *[lambda: lifecycle.advance(now).people_started] * 3)

    assert sorted(map(str, reports)) == ["0", "0", "100"]
    assert WorkflowExecutionEvent.objects.filter(type="activated").count() == 100
    assert AuditRecord.objects.filter(event="campaign.started").count() == 1


def test_of_a_pause_and_a_cancellation_at_once_the_cancellation_stays(shop: Workspace) -> None:
    campaign = builders.running()
    builders.enrol(campaign, builders.people(50))

    results = at_once(
        shop, lambda: actions.pause(campaign.pk, user=None), lambda: actions.cancel(campaign.pk, user=None)
    )

    campaign.refresh_from_db()
    assert campaign.status == "cancelled"
    assert builders.statuses(campaign) == {"cancelled": 50}
    assert all(not isinstance(result, Exception) or isinstance(result, Refused) for result in results)

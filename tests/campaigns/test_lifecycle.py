"""What time does to campaigns."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from automation.models import WorkflowExecution
from campaigns import actions, lifecycle
from campaigns.models import Campaign
from core.tenancy import workspace_scope
from tests.campaigns import builders
from tests.clocks import MovableClock
from workspaces.models import AuditRecord, Workspace

pytestmark = pytest.mark.usefixtures("workspace", "clock")


def scheduled(clock: MovableClock, **details: Any) -> Campaign:
    builders.channel()
    campaign = builders.draft(starts_at=clock.now() + timedelta(hours=1), **details)
    builders.enrol(campaign, builders.people(2))
    return actions.activate(campaign.pk, user=None)


def test_a_scheduled_campaign_starts_when_its_time_has_come(clock: MovableClock) -> None:
    campaign = scheduled(clock)
    clock.advance(minutes=59)
    assert lifecycle.advance(clock.now()).started == 0
    clock.advance(minutes=1)

    report = lifecycle.advance(clock.now())

    assert (report.started, report.people_started) == (1, 2)
    campaign.refresh_from_db()
    assert (campaign.status, campaign.activated_at) == ("active", clock.now())
    assert builders.statuses(campaign) == {"active": 2}


def test_a_campaign_past_its_end_is_completed_and_its_people_stop(clock: MovableClock) -> None:
    campaign = builders.running(ends_at=clock.now() + timedelta(days=1))
    ids = builders.people(3)
    builders.enrol(campaign, ids)
    finish(campaign, ids[0])
    clock.advance(days=1)

    report = lifecycle.advance(clock.now())

    assert (report.completed, report.people_stopped) == (1, 2)
    campaign.refresh_from_db()
    assert (campaign.status, campaign.finished_at) == ("completed", clock.now())
    assert builders.statuses(campaign) == {"completed": 1, "cancelled": 2}
    row = builders.execution_of(campaign, ids[1])
    assert (row.end_reason, row.events.filter(type="cancelled").count()) == ("campaign_ended", 1)


def test_a_paused_campaign_waits_for_a_person_even_past_its_end(clock: MovableClock) -> None:
    campaign = builders.running(ends_at=clock.now() + timedelta(days=1))
    actions.pause(campaign.pk, user=None)
    clock.advance(days=2)

    assert lifecycle.advance(clock.now()).completed == 0


def test_a_second_tick_finds_nothing_left(clock: MovableClock) -> None:
    scheduled(clock)
    builders.running(ends_at=clock.now() + timedelta(hours=1))
    clock.advance(hours=1)

    first, second = lifecycle.advance(clock.now()), lifecycle.advance(clock.now())

    assert (first.started, first.completed) == (1, 1)
    assert second == lifecycle.LifecycleReport()
    assert AuditRecord.objects.filter(event="campaign.completed").count() == 1


def test_a_campaign_is_not_closed_because_everyone_is_through(clock: MovableClock) -> None:
    campaign = builders.running()
    ids = builders.people(1)
    builders.enrol(campaign, ids)
    finish(campaign, ids[0])

    lifecycle.advance(clock.now())
    campaign.refresh_from_db()
    assert campaign.status == "active"


def test_people_given_back_after_the_end_are_stopped_by_a_later_tick(clock: MovableClock) -> None:
    campaign = builders.running()
    person = builders.people(1)[0]
    builders.enrol(campaign, [person])
    rows = WorkflowExecution.objects.filter(subject_id=person)
    rows.update(status="processing", lock_token=uuid.uuid4(), locked_at=clock.now())
    actions.cancel(campaign.pk, user=None)
    assert lifecycle.advance(clock.now()).people_stopped == 0

    rows.update(status="active", lock_token=None, locked_at=None)
    assert lifecycle.advance(clock.now()).people_stopped == 1
    assert builders.execution_of(campaign, person).end_reason == "campaign_cancelled"
    campaign.refresh_from_db()
    assert campaign.draining is False


def test_every_workspace_is_served_in_its_own_scope(clock: MovableClock, other_workspace: Workspace) -> None:
    mine = scheduled(clock)
    with workspace_scope(other_workspace.pk):
        theirs = scheduled(clock)
    clock.advance(hours=1)

    assert lifecycle.advance(clock.now()).started == 2
    mine.refresh_from_db()
    assert mine.status == "active"
    with workspace_scope(other_workspace.pk):
        theirs.refresh_from_db()
        assert theirs.status == "active"
        assert AuditRecord.objects.filter(event="campaign.started").count() == 1


def test_an_idle_tick_asks_one_question(
    clock: MovableClock, django_assert_num_queries: Callable[..., Any]
) -> None:
    builders.running()
    with django_assert_num_queries(1):
        lifecycle.advance(clock.now())


def finish(campaign: Campaign, subject_id: int) -> None:
    WorkflowExecution.objects.filter(campaign=campaign, subject_id=subject_id).update(
        status="completed", active_key=None, completed_at=campaign.created_at
    )

"""Somebody who is deleted leaves every campaign at once, and whoever deletes them is told before."""

from __future__ import annotations

import pytest
from django.test import Client

from automation.models import WorkflowExecution, WorkflowExecutionEvent
from targets.models import Target
from tests.campaigns import builders
from tests.campaigns.reading import text_of
from tests.clocks import MovableClock
from workspaces.models import AuditRecord

pytestmark = pytest.mark.usefixtures("workspace")


def test_a_deletion_tells_how_many_walks_it_ends_and_ends_them(web: Client, clock: MovableClock) -> None:
    [person, other] = builders.people(2)
    first, second, third = (builders.running(name=name) for name in ("مهر", "آبان", "آذر"))
    for campaign in (first, second, third):
        builders.enrol(campaign, [person, other], default="add")
    over = WorkflowExecution.objects.filter(campaign=third, subject_id=person)
    over.update(status="completed", active_key=None, end_reason="finished", completed_at=clock.now())
    address = f"/targets/{person}/delete/"
    assert "2 executions" in text_of(web.get(address))

    web.post(address)

    walks = WorkflowExecution.objects.filter(subject_id=person).order_by("campaign_id")
    assert [(row.status, row.end_reason) for row in walks] == [
        ("cancelled", "target_removed"),
        ("cancelled", "target_removed"),
        ("completed", "finished"),
    ]
    assert Target.objects.get(pk=person).deleted_at is not None
    ended = WorkflowExecutionEvent.objects.filter(subject_id=person, type="cancelled")
    assert {(row.actor_user_id, row.data["reason"]) for row in ended} == {
        (AuditRecord.objects.get(event="target.deleted").user_id, "target_removed")
    }
    assert builders.statuses(first) == {"cancelled": 1, "active": 1}

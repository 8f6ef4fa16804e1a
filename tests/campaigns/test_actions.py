"""What people do with campaigns, and what the state of the campaign allows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from automation.models import AutomationSettings, WorkflowExecution, WorkflowExecutionEvent
from automation.publishing import create_workflow, new_draft, publish
from campaigns import actions, queries
from campaigns.details import CampaignDetails
from campaigns.models import Campaign, CampaignStatus
from core.errors import Invalid, NotFound, Refused
from core.tenancy import workspace_scope
from tests.campaigns import builders
from tests.clocks import MovableClock
from workspaces.models import AuditRecord, User, Workspace

pytestmark = pytest.mark.usefixtures("workspace", "clock")


def test_a_campaign_keeps_the_version_it_was_created_with(owner: User) -> None:
    workflow = builders.workflow()
    campaign = builders.draft(workflow)
    new_draft(workflow, owner)
    publish(workflow, user=owner)

    campaign.refresh_from_db()
    assert campaign.workflow_version.version_number == 1


def test_a_campaign_needs_a_published_version() -> None:
    unpublished = create_workflow(name="پیش‌نویس", template_key="single_message", user=None)

    with pytest.raises(Refused) as refusal:
        builders.draft(unpublished)
    assert refusal.value.code == "workflow_not_published"


def test_a_workflow_of_another_workspace_cannot_be_used(other_workspace: Workspace) -> None:
    with workspace_scope(other_workspace.pk):
        theirs = builders.workflow()

    with pytest.raises(Refused):
        builders.draft(theirs)


@pytest.mark.parametrize(
    ("field", "details"),
    [
        ("name", {"name": "  "}),
        ("name", {"name": "ا" * 121}),
        ("daily_limit", {"daily_limit": -1}),
        ("send_window", {"send_window": {"days": {"sat": [["18:00", "09:00"]]}}}),
        ("send_window", {"send_window": {"days": {"sat": None}}}),
        ("stop_statuses", {"stop_statuses": frozenset({"asleep"})}),
    ],
)
def test_every_wrong_field_is_named(field: str, details: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refusal:
        builders.draft(**details)
    assert [problem.field for problem in refusal.value.problems] == [field]


def test_the_end_must_be_later_than_the_start(clock: MovableClock) -> None:
    with pytest.raises(Invalid):
        builders.draft(starts_at=clock.now() + timedelta(days=2), ends_at=clock.now() + timedelta(days=1))


def test_a_window_without_a_zone_gets_the_workspaces() -> None:
    campaign = builders.draft(send_window={"days": {"sat": [["09:00", "18:00"]]}})

    assert campaign.send_window is not None
    assert campaign.send_window["timezone"] == "Asia/Tehran"


def test_starting_lets_everyone_enrolled_before_go(clock: MovableClock) -> None:
    builders.channel()
    campaign = builders.draft()
    ids = builders.people(3)
    builders.enrol(campaign, ids)
    assert builders.statuses(campaign) == {"pending": 3}
    clock.advance(hours=2)

    actions.activate(campaign.pk, user=None)

    assert builders.statuses(campaign) == {"active": 3}
    row = builders.execution_of(campaign, ids[0])
    assert (row.next_run_at, row.eligible_at, row.started_at) == (clock.now(),) * 3
    assert list(row.events.order_by("pk").values_list("type", flat=True)) == ["enrolled", "activated"]


def test_starting_writes_one_update_however_many_people(
    django_assert_max_num_queries: Callable[..., Any],
) -> None:
    builders.channel()
    campaign = builders.draft()
    builders.enrol(campaign, builders.people(40))
    with django_assert_max_num_queries(24):
        actions.activate(campaign.pk, user=None)


def test_a_start_that_lies_ahead_is_scheduled(clock: MovableClock) -> None:
    builders.channel()
    campaign = builders.draft(starts_at=clock.now() + timedelta(hours=1))
    builders.enrol(campaign, builders.people(1))

    assert actions.activate(campaign.pk, user=None).status == CampaignStatus.SCHEDULED
    assert builders.statuses(campaign) == {"pending": 1}


def test_nothing_starts_without_a_provider() -> None:
    with pytest.raises(Refused) as refusal:
        actions.activate(builders.draft().pk, user=None)
    assert refusal.value.code == "provider_not_ready"


def test_nothing_starts_while_automation_is_off(workspace: Workspace) -> None:
    AutomationSettings.objects.create(workspace=workspace, enabled=False)
    builders.channel()

    with pytest.raises(Refused) as refusal:
        actions.activate(builders.draft().pk, user=None)
    assert refusal.value.code == "automation_disabled"


def test_nothing_starts_after_its_end(clock: MovableClock) -> None:
    builders.channel()
    campaign = builders.draft(ends_at=clock.now() + timedelta(hours=1))
    clock.advance(hours=1)

    with pytest.raises(Refused) as refusal:
        actions.activate(campaign.pk, user=None)
    assert refusal.value.code == "end_is_past"


def test_pausing_touches_nobody_inside(owner: User, clock: MovableClock) -> None:
    campaign = builders.running()
    builders.enrol(campaign, builders.people(2))
    before = list(WorkflowExecution.objects.order_by("pk").values())
    clock.advance(minutes=5)

    paused = actions.pause(campaign.pk, user=owner)

    assert (paused.status, paused.paused_at, paused.paused_by) == ("paused", clock.now(), owner)
    assert list(WorkflowExecution.objects.order_by("pk").values()) == before


def test_resuming_touches_nobody_inside() -> None:
    campaign = builders.running()
    builders.enrol(campaign, builders.people(2))
    actions.pause(campaign.pk, user=None)
    before = list(WorkflowExecution.objects.order_by("pk").values())

    resumed = actions.resume(campaign.pk, user=None)

    assert (resumed.status, resumed.paused_at) == ("active", None)
    assert list(WorkflowExecution.objects.order_by("pk").values()) == before


def test_a_campaign_paused_before_its_start_is_scheduled_again(clock: MovableClock) -> None:
    builders.channel()
    campaign = builders.draft(starts_at=clock.now() + timedelta(days=1))
    actions.activate(campaign.pk, user=None)
    actions.pause(campaign.pk, user=None)

    assert actions.resume(campaign.pk, user=None).status == CampaignStatus.SCHEDULED


def test_a_campaign_paused_over_its_start_starts_when_resumed(clock: MovableClock) -> None:
    builders.channel()
    campaign = builders.draft(starts_at=clock.now() + timedelta(days=1))
    builders.enrol(campaign, builders.people(2))
    actions.activate(campaign.pk, user=None)
    actions.pause(campaign.pk, user=None)
    clock.advance(days=2)

    assert actions.resume(campaign.pk, user=None).status == CampaignStatus.ACTIVE
    assert builders.statuses(campaign) == {"active": 2}


def test_a_paused_campaign_whose_end_has_passed_is_not_resumed(clock: MovableClock) -> None:
    campaign = builders.running(ends_at=clock.now() + timedelta(hours=1))
    actions.pause(campaign.pk, user=None)
    clock.advance(hours=2)

    with pytest.raises(Refused) as refusal:
        actions.resume(campaign.pk, user=None)
    assert refusal.value.code == "end_is_past"


def test_cancelling_stops_everyone_inside(clock: MovableClock) -> None:
    campaign = builders.running()
    ids = builders.people(3)
    builders.enrol(campaign, ids)

    outcome = actions.cancel(campaign.pk, user=None)

    assert (outcome.code, outcome.stopped, outcome.in_work) == ("cancelled", 3, 0)
    row = builders.execution_of(campaign, ids[0])
    assert (row.status, row.end_reason, row.active_key) == ("cancelled", "campaign_cancelled", None)
    assert row.events.filter(type="cancelled").count() == 1


def test_cancelling_leaves_people_in_work_to_their_worker(clock: MovableClock) -> None:
    campaign = builders.running()
    ids = builders.people(3)
    builders.enrol(campaign, ids)
    _claim(builders.execution_of(campaign, ids[0]), clock)

    outcome = actions.cancel(campaign.pk, user=None)

    assert (outcome.code, outcome.stopped, outcome.in_work) == ("cancelling_partial", 2, 1)
    assert builders.statuses(campaign) == {"queued": 1, "cancelled": 2}


def test_a_draft_with_people_can_be_cancelled() -> None:
    campaign = builders.draft()
    builders.enrol(campaign, builders.people(2))

    assert actions.cancel(campaign.pk, user=None).code == "cancelled"
    assert builders.statuses(campaign) == {"cancelled": 2}


def test_ending_by_hand_completes_and_stops_people() -> None:
    campaign = builders.running()
    ids = builders.people(2)
    builders.enrol(campaign, ids)

    assert actions.end(campaign.pk, user=None).status == CampaignStatus.COMPLETED
    assert builders.execution_of(campaign, ids[0]).end_reason == "campaign_ended"


LEGAL = {
    ("draft", "activate"), ("draft", "cancel"),
    ("scheduled", "pause"), ("scheduled", "cancel"),
    ("active", "pause"), ("active", "cancel"), ("active", "end"),
    ("paused", "resume"), ("paused", "cancel"), ("paused", "end"),
}  # fmt: skip


@pytest.mark.parametrize("action", ["activate", "pause", "resume", "cancel", "end"])
@pytest.mark.parametrize("status", CampaignStatus.values)
def test_the_state_decides_which_actions_are_allowed(status: str, action: str, clock: MovableClock) -> None:
    campaign = in_status(status, clock)
    move = getattr(actions, action)

    if (status, action) in LEGAL:
        move(campaign.pk, user=None)
        campaign.refresh_from_db()
        assert campaign.status != status
    else:
        with pytest.raises(Refused) as refusal:
            move(campaign.pk, user=None)
        over = status in ("completed", "cancelled")
        assert refusal.value.code == ("campaign_over" if over else "illegal_change")
        campaign.refresh_from_db()
        assert campaign.status == status


def in_status(status: str, clock: MovableClock) -> Campaign:
    """A campaign that came to `status` by the product's own moves."""
    builders.channel()
    if status == "scheduled":
        campaign = builders.draft(starts_at=clock.now() + timedelta(days=1))
        return actions.activate(campaign.pk, user=None)
    campaign = builders.draft()
    path: dict[str, list[Callable[..., object]]] = {
        "active": [],
        "paused": [actions.pause],
        "completed": [actions.end],
        "cancelled": [actions.cancel],
    }
    if status in path:
        actions.activate(campaign.pk, user=None)
        for move in path[status]:
            move(campaign.pk, user=None)
    return queries.campaign_for(campaign.pk)


def test_another_workspaces_campaign_does_not_exist(other_workspace: Workspace) -> None:
    campaign = builders.draft()
    moves = (actions.activate, actions.pause, actions.resume, actions.cancel, actions.end)
    with workspace_scope(other_workspace.pk):
        for move in moves:
            with pytest.raises(NotFound):
                move(campaign.pk, user=None)


def test_closing_the_door_keeps_those_inside() -> None:
    campaign = builders.running()
    builders.enrol(campaign, builders.people(1))

    assert actions.set_intake(campaign.pk, is_open=False, user=None).intake_open is False
    assert builders.statuses(campaign) == {"active": 1}


def test_every_change_leaves_an_audit_row_with_its_author(owner: User) -> None:
    builders.channel()
    campaign = builders.draft(user=owner)
    actions.activate(campaign.pk, user=owner)
    actions.pause(campaign.pk, user=owner)
    actions.resume(campaign.pk, user=owner)
    actions.set_intake(campaign.pk, is_open=False, user=owner)
    actions.cancel(campaign.pk, user=owner)

    rows = AuditRecord.objects.filter(entity_type="campaigns.campaign", user=owner).order_by("pk")
    assert [row.event for row in rows] == [
        "campaign.created",
        "campaign.started",
        "campaign.paused",
        "campaign.resumed",
        "campaign.intake_closed",
        "campaign.cancelled",
    ]


def test_a_refused_action_leaves_no_trace() -> None:
    campaign = builders.draft()
    before = (AuditRecord.objects.count(), WorkflowExecutionEvent.objects.count())

    with pytest.raises(Refused):
        actions.pause(campaign.pk, user=None)
    assert (AuditRecord.objects.count(), WorkflowExecutionEvent.objects.count()) == before


def test_a_running_campaign_may_get_another_limit(owner: User) -> None:
    campaign = builders.running(daily_limit=100)

    changed = actions.update_campaign(
        campaign.pk,
        details=CampaignDetails(name=campaign.name, daily_limit=50),
        revision=campaign.revision,
        user=owner,
    )

    assert changed.daily_limit == 50
    row = AuditRecord.objects.get(event="campaign.changed")
    assert (row.old, row.new) == ({"daily_limit": 100}, {"daily_limit": 50})


def test_two_editors_do_not_overwrite_each_other() -> None:
    campaign = builders.draft()
    first = CampaignDetails(name="اول")
    actions.update_campaign(campaign.pk, details=first, revision=campaign.revision, user=None)

    with pytest.raises(Refused) as refusal:
        actions.update_campaign(
            campaign.pk, details=CampaignDetails(name="دوم"), revision=campaign.revision, user=None
        )
    assert refusal.value.code == "campaign_changed"
    assert queries.campaign_for(campaign.pk).name == "اول"


def test_the_start_of_a_started_campaign_is_history(clock: MovableClock) -> None:
    campaign = builders.running()
    moved = CampaignDetails(name="x", starts_at=clock.now() + timedelta(days=1))

    with pytest.raises(Invalid) as refusal:
        actions.update_campaign(campaign.pk, details=moved, revision=campaign.revision, user=None)
    assert refusal.value.problems[0].field == "starts_at"


def test_a_campaign_that_is_over_is_not_changed() -> None:
    campaign = builders.running()
    actions.end(campaign.pk, user=None)
    campaign.refresh_from_db()

    with pytest.raises(Refused) as refusal:
        actions.update_campaign(
            campaign.pk, details=CampaignDetails(name="x"), revision=campaign.revision, user=None
        )
    assert refusal.value.code == "campaign_over"


def _claim(execution: WorkflowExecution, clock: MovableClock) -> None:
    import uuid

    WorkflowExecution.objects.filter(pk=execution.pk).update(
        status="queued", lock_token=uuid.uuid4(), locked_at=clock.now()
    )

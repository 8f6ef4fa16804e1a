"""Into which group each selected person falls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from automation.models import WorkflowExecution, WorkflowExecutionEvent
from automation.states import LIVE, ExecutionStatus
from blacklist import actions as blacklist
from campaigns.enrollment import planner, selection
from campaigns.enrollment.planner import Group
from campaigns.models import CampaignKind, EnrollmentBatch
from core.errors import Invalid, Refused
from core.tenancy import workspace_scope
from targets.filters import TargetFilter
from targets.models import Target
from targets.queries import Visibility
from tests.campaigns import builders
from workspaces.models import Membership, User, Workspace

pytestmark = pytest.mark.usefixtures("workspace", "clock")


def block(subject_id: int) -> None:
    mobile = Target.objects.values_list("mobile", flat=True).get(pk=subject_id)
    workspace_id = Target.objects.values_list("workspace_id", flat=True).get(pk=subject_id)
    blacklist.add(
        workspace_id=workspace_id, channel="sms", values=[mobile], source="manual", reason="manual", user=None
    )


def test_everybody_is_in_one_group() -> None:
    campaign, other = builders.running(), builders.running()
    ready, blocked, already, conflict = (builders.people(1)[0] for _ in range(4))
    landline = builders.people(1, mobile="", landline="02188776655")[0]
    block(blocked)
    builders.enrol(campaign, [already])
    builders.enrol(other, [conflict])

    groups = planner.sort(campaign, [ready, blocked, already, conflict, landline, 10**9])

    assert groups == {
        ready: Group.READY,
        blocked: Group.BLACKLISTED,
        already: Group.ALREADY,
        conflict: Group.CONFLICT,
        landline: Group.INVALID,
        10**9: Group.INVALID,
    }


def test_the_first_group_that_fits_wins() -> None:
    campaign, other = builders.running(), builders.running()
    person = builders.people(1)[0]
    builders.enrol(other, [person])
    block(person)
    assert planner.sort(campaign, [person]) == {person: Group.BLACKLISTED}

    Target.objects.filter(pk=person).update(deleted_at=campaign.created_at)
    assert planner.sort(campaign, [person]) == {person: Group.INVALID}


@pytest.mark.parametrize("status", ExecutionStatus.values)
def test_only_live_walks_elsewhere_are_conflicts(status: str) -> None:
    campaign, other = builders.draft(), builders.draft()
    person = builders.people(1)[0]
    builders.enrol(other, [person])
    row = WorkflowExecution.objects.filter(subject_id=person)
    import uuid

    columns: dict[str, Any] = {"status": status, "active_key": 1 if status in LIVE else None}
    if status in ("active", "waiting"):
        columns |= {"next_run_at": campaign.created_at, "eligible_at": campaign.created_at}
    if status in ("queued", "processing"):
        columns |= {"lock_token": uuid.uuid4(), "locked_at": campaign.created_at}
    if status == "paused":
        columns |= {"paused_at": campaign.created_at}
    if status in ("completed", "failed", "cancelled", "exited"):
        columns |= {"completed_at": campaign.created_at}
    row.update(**columns)

    expected = Group.CONFLICT if status in LIVE else Group.READY
    assert planner.sort(campaign, [person]) == {person: expected}


def test_a_journey_does_not_stand_in_the_way() -> None:
    campaign, journey = builders.draft(), builders.running()
    person = builders.people(1)[0]
    builders.enrol(journey, [person])
    type(journey).objects.filter(pk=journey.pk).update(kind=CampaignKind.JOURNEY)

    assert planner.sort(campaign, [person]) == {person: Group.READY}


def test_five_hundred_people_cost_three_queries(
    django_assert_num_queries: Callable[..., Any],
) -> None:
    campaign = builders.draft()
    ids = builders.people(600)
    with django_assert_num_queries(6):
        plan = planner.plan(campaign, ids)
    assert plan.counts() == {"invalid": 0, "blacklisted": 0, "already": 0, "conflict": 0, "ready": 600}


def test_the_review_writes_nothing_but_its_own_row() -> None:
    campaign = builders.draft()
    before = (WorkflowExecution.objects.count(), WorkflowExecutionEvent.objects.count())

    batch = builders.review(campaign, builders.people(3))

    assert EnrollmentBatch.objects.count() == 1
    assert batch.counts["ready"] == 3
    assert (WorkflowExecution.objects.count(), WorkflowExecutionEvent.objects.count()) == before


def test_people_of_another_workspace_are_nobody_here(other_workspace: Workspace) -> None:
    with workspace_scope(other_workspace.pk):
        theirs = builders.people(1)
    assert planner.sort(builders.draft(), theirs) == {theirs[0]: Group.INVALID}


def test_a_live_walk_in_another_workspace_is_no_conflict(other_workspace: Workspace) -> None:
    mine = builders.people(1)[0]
    campaign = builders.draft()
    with workspace_scope(other_workspace.pk):
        theirs = builders.draft()
        builders.enrol(theirs, builders.people(1))
        same_number = WorkflowExecution.objects.get()
        same_number.pk, same_number.subject_id = None, mine
        same_number.save(force_insert=True)

    assert planner.sort(campaign, [mine]) == {mine: Group.READY}


# -- selection ----------------------------------------------------------------------------------------


def test_a_filter_selects_whom_the_list_page_shows() -> None:
    tehran = builders.people(3, city="تهران")
    builders.people(2, city="شیراز")

    assert selection.matching(TargetFilter({"city": "تهران"}), Visibility.everyone()) == tehran


def test_a_stale_filter_selects_nobody_instead_of_everybody() -> None:
    builders.people(3)
    with pytest.raises(Invalid) as refusal:
        selection.matching(TargetFilter({"list": "999"}), Visibility.everyone())
    assert refusal.value.code == "filter_invalid"


def test_a_list_selects_its_members() -> None:
    ids = builders.people(3)
    made = builders.on_list(ids[:2])
    assert selection.on_list(made.pk, Visibility.everyone()) == ids[:2]


def test_a_seller_selects_own_people_only(seller: User) -> None:
    mine = builders.people(3, owner=seller)
    others = builders.people(7)
    visibility = Visibility(Membership.objects.get(user=seller))

    assert selection.everybody(visibility) == mine
    assert selection.named([*others, *mine], visibility) == mine


def test_nobody_selected_is_said(owner: User) -> None:
    with pytest.raises(Invalid) as refusal:
        selection.everybody(Visibility.everyone())
    assert refusal.value.code == "selection_empty"


def test_a_selection_has_a_size_limit() -> None:
    with pytest.raises(Invalid) as refusal:
        selection.named(range(selection.MAX_SELECTION + 1), Visibility.everyone())
    assert refusal.value.code == "selection_too_large"
    assert len(selection.named(range(selection.MAX_SELECTION), Visibility.everyone())) == 20_000


def test_an_id_given_twice_counts_once() -> None:
    assert selection.named([3, 1, 3], Visibility.everyone()) == [3, 1]


def test_a_closed_campaign_takes_no_selection() -> None:
    from campaigns import actions

    campaign = actions.set_intake(builders.draft().pk, is_open=False, user=None)
    with pytest.raises(Refused) as refusal:
        builders.review(campaign, builders.people(1))
    assert refusal.value.code == "intake_closed"

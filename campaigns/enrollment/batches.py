"""The row a selection lives in, from the review to the last person added. Every move is conditional."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from campaigns import audit_events
from campaigns.enrollment import planner
from campaigns.enrollment.decisions import Decisions, read
from campaigns.enrollment.planner import Group, Plan
from campaigns.models import BATCH_EDGES, BatchStatus, Campaign, EnrollmentBatch
from core import clock
from core.errors import Invalid, Refused
from core.transitions import try_transition
from workspaces import audit
from workspaces.models import User

S = BatchStatus


def create(campaign: Campaign, ids: Sequence[int], *, user: User | None) -> EnrollmentBatch:
    """Sort a selection and keep it for review; nothing else is written.

    Raises Refused `campaign_over` or `intake_closed`.
    """
    require_open(campaign)
    plan = planner.plan(campaign, ids)
    return EnrollmentBatch.objects.create(
        workspace_id=campaign.workspace_id,
        campaign=campaign,
        subject_ids=list(ids),
        decisions=Decisions().stored(),
        plan=plan.stored(),
        counts=plan.counts(),
        created_by=user,
    )


def require_open(campaign: Campaign) -> None:
    """Raises Refused when nobody may enter the campaign now."""
    if campaign.is_over:
        raise Refused(_("This campaign is over; nobody can be added."), code="campaign_over")
    if not campaign.intake_open:
        raise Refused(_("This campaign is closed to new people; open it first."), code="intake_closed")


def decisions_of(batch: EnrollmentBatch) -> Decisions:
    return read(batch.decisions)


def undecided_of(batch: EnrollmentBatch) -> list[int]:
    """Those of the reviewed conflicts who have no answer yet."""
    return decisions_of(batch).undecided(batch.plan.get(Group.CONFLICT, []))


def decide(batch: EnrollmentBatch, decisions: Decisions) -> EnrollmentBatch:
    """Keep the answers. Raises Invalid for somebody who is no conflict, Refused when it left review."""
    conflicts = set(batch.plan.get(Group.CONFLICT, []))
    if not decisions.overrides.keys() <= conflicts:
        raise Invalid(_("Only people who are in another campaign need a decision."), code="not_a_conflict")
    stored = decisions.stored()
    if not _draft(batch.pk).update(decisions=stored, updated_at=clock.now()):
        raise not_a_draft()
    batch.decisions = stored
    return batch


def save_plan(batch: EnrollmentBatch, plan: Plan) -> dict[Group, int]:
    """Replace the review by a fresh one; answers about people who are no conflict any more are dropped.

    Returns what changed meanwhile: how many people came into which group.
    """
    decisions = decisions_of(batch)
    changed = {
        group: len(set(plan.ids(group)) - set(batch.plan.get(group, ())))
        for group in Group
        if group is not Group.READY
    }
    conflicts = set(plan.ids(Group.CONFLICT))
    kept = {pk: word for pk, word in decisions.overrides.items() if pk in conflicts}
    stored = Decisions(default=decisions.default, overrides=kept).stored()
    _draft(batch.pk).update(
        plan=plan.stored(), counts=plan.counts(), decisions=stored, updated_at=clock.now()
    )
    return {group: count for group, count in changed.items() if count}


def discard(batch: EnrollmentBatch, *, user: User | None) -> None:
    """Put a reviewed selection away. Raises Refused once it left review."""
    with transaction.atomic():
        if not try_transition(_row(batch.pk), edges=BATCH_EDGES, to=S.DISCARDED, updated_at=clock.now()):
            raise not_a_draft()
        new = {"campaign": batch.campaign.name, "selected": len(batch.subject_ids)}
        audit.record(audit_events.SELECTION_DISCARDED, entity=batch, new=new, user=user)


def take(batch: EnrollmentBatch, counts: Mapping[str, Any]) -> int | None:
    """draft -> committing, once; returns the revision that whoever adds must hold, None when lost."""
    taken = try_transition(
        _row(batch.pk),
        edges=BATCH_EDGES,
        to=S.COMMITTING,
        held=batch.revision,
        counts=dict(counts),
        updated_at=clock.now(),
    )
    return batch.revision + 1 if taken else None


def give_back(batch_id: int, held: int) -> None:
    """committing -> draft: nobody was found to do the work."""
    try_transition(
        _row(batch_id), edges=BATCH_EDGES, to=S.DRAFT, source=S.COMMITTING, held=held, updated_at=clock.now()
    )


def begin_work(batch_id: int, held: int) -> bool:
    """The first worker with the revision gets the batch; a doubled message finds another revision."""
    rows = _row(batch_id).filter(status=S.COMMITTING, revision=held)
    return rows.update(revision=held + 1, updated_at=clock.now()) == 1


def save_progress(batch_id: int, held: int, counts: Mapping[str, Any]) -> bool:
    """How far the work is, and that its worker lives. False: the batch was given up meanwhile."""
    rows = _row(batch_id).filter(status=S.COMMITTING, revision=held)
    return rows.update(counts=dict(counts), updated_at=clock.now()) == 1


def finish(
    batch: EnrollmentBatch,
    held: int,
    *,
    counts: Mapping[str, Any],
    plan: Mapping[str, list[int]],
    user_id: int | None,
) -> bool:
    """committing -> committed, with who was left out and why."""
    columns: dict[str, Any] = {"counts": dict(counts), "plan": dict(plan), "updated_at": clock.now()}
    with transaction.atomic():
        done = try_transition(_row(batch.pk), edges=BATCH_EDGES, to=S.COMMITTED, held=held, **columns)
        if done:
            selected, added = counts["selected"], counts["added"]
            new = {"selected": selected, "added": added, "left_out": selected - added}
            user = User.objects.filter(pk=user_id).first() if user_id else None
            audit.record(audit_events.PEOPLE_ADDED, entity=batch.campaign, new=new, user=user)
    return done


def fail(
    batch_id: int,
    now: datetime,
    *,
    reason: str,
    held: int | None = None,
    not_since: datetime | None = None,
    user: User | None = None,
) -> bool:
    """committing -> failed: its worker died or was stopped (by `user`). What was added so far stays.

    `not_since`: only when the worker gave no sign of life since then.
    """
    rows = _row(batch_id)
    if not_since is not None:
        rows = rows.filter(updated_at__lt=not_since)
    with transaction.atomic():
        if not try_transition(rows, edges=BATCH_EDGES, to=S.FAILED, held=held, updated_at=now):
            return False
        batch = EnrollmentBatch.objects.select_related("campaign").get(pk=batch_id)
        EnrollmentBatch.objects.filter(pk=batch_id).update(counts={**batch.counts, "error": reason})
        new = {"added": batch.counts.get("added", 0), "reason": reason}
        event = audit_events.ADDING_STOPPED if user else audit_events.ADDING_FAILED
        audit.record(event, entity=batch.campaign, new=new, user=user)
    return True


def stop(batch: EnrollmentBatch, *, user: User | None) -> None:
    """committing -> failed by hand: its worker finds it gone at its next chunk. What was added stays.

    Raises Refused when nobody is being added.
    """
    if not fail(batch.pk, clock.now(), reason="cancelled", user=user):
        raise Refused(_("Nobody is being added any more."), code="batch_not_committing")


def not_a_draft() -> Refused:
    return Refused(_("This selection was added or discarded already."), code="batch_not_draft")


def _row(batch_id: int) -> QuerySet[EnrollmentBatch]:
    return EnrollmentBatch.objects.filter(pk=batch_id)


def _draft(batch_id: int) -> QuerySet[EnrollmentBatch]:
    return _row(batch_id).filter(status=S.DRAFT)

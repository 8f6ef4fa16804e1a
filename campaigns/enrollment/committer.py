"""Adds a reviewed selection to its campaign: five hundred people a transaction, everything asked again.

A batch is taken with one conditional update, so it is added once however often it is asked for. Every
chunk locks its campaign first: an activation, a cancellation or a closing of the door is either seen
or waits, so nobody is left behind as `pending` in a running campaign or enters one that is over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import structlog
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from campaigns.enrollment import batches, planner
from campaigns.enrollment.decisions import Decisions
from campaigns.enrollment.entering import enter
from campaigns.enrollment.planner import Group
from campaigns.enrollment.selection import chunks
from campaigns.models import BatchStatus, Campaign, EnrollmentBatch
from core import clock
from core.afterwards import afterwards
from core.errors import Refused, TryLater
from core.failpoints import failpoint
from core.queue import enqueue
from core.tenancy import workspace_scope
from workspaces.models import User

log = structlog.get_logger(__name__)

DIRECT: Final = 300  # so many people are added while their colleague waits; more by a task
TASK: Final = "campaigns.commit_batch"
CHANGED: Final = "changed_"  # in the counts: left out although the review said otherwise
SKIPPED, UNDECIDED, SAME_TIME = "skipped", "undecided", "same_time"


class BatchTaken(RuntimeError):
    """The batch was given up while its worker was still at it; the chunk at hand is rolled back."""


class ConflictsUnresolved(Refused):
    """Somebody is in another campaign and nobody has said what to do about it."""

    code = "conflicts_unresolved"


@dataclass(slots=True)
class Tally:
    """What became of the selection so far. `left_out` keeps the ids, by reason; `expected` are those whom
    the review promised to add, so that what changed since can be told."""

    selected: int
    to_add: int = 0
    done: int = 0
    added: int = 0
    left_out: dict[str, list[int]] = field(default_factory=dict)
    expected: frozenset[int] = frozenset()
    changed: Counter[str] = field(default_factory=Counter)

    def leave_out(self, reason: str, ids: Sequence[int]) -> None:
        if ids:
            self.left_out.setdefault(reason, []).extend(ids)
            self.changed[reason] += sum(pk in self.expected for pk in ids)

    def counts(self) -> dict[str, Any]:
        left_out = {reason: len(ids) for reason, ids in self.left_out.items()}
        return {
            "selected": self.selected,
            "to_add": self.to_add,
            "done": self.done,
            "added": self.added,
            **left_out,
            **{f"{CHANGED}{reason}": count for reason, count in self.changed.items() if count},
        }


def commit(batch: EnrollmentBatch, *, user: User | None) -> bool:
    """Add the batch's people. True: done; False: a task will do it, ask the batch how far it is.

    Raises Refused: `batch_not_draft`, `campaign_over`, `intake_closed`, `conflicts_unresolved` (the
    batch then holds the fresh review, and nobody was added), TryLater when no task could be started.
    """
    if batch.status != BatchStatus.DRAFT:
        raise batches.not_a_draft()
    batches.require_open(batch.campaign)
    to_add = _to_add(batch)
    tally = Tally(selected=len(batch.subject_ids), to_add=to_add)
    held = batches.take(batch, tally.counts())
    if held is None:
        raise batches.not_a_draft()
    if to_add <= DIRECT:
        run(batch.pk, held, user_id=user.pk if user else None)
        return True
    afterwards(lambda: _hand_over(batch, held, user))  # a worker must find the batch taken
    return False


def run(batch_id: int, held: int, *, user_id: int | None) -> None:
    """Do the work of a taken batch; whatever stops it, the batch is not left as "being added"."""
    if not batches.begin_work(batch_id, held):
        log.info("enrollment_already_taken", batch=batch_id)
        return
    held += 1
    try:
        _add_all(batch_id, held, user_id)
    except BatchTaken:
        log.warning("enrollment_given_up", batch=batch_id)
    except Refused as exc:
        batches.fail(batch_id, clock.now(), reason=exc.code, held=held)
    except BaseException:
        batches.fail(batch_id, clock.now(), reason="stopped", held=held)
        raise


def _to_add(batch: EnrollmentBatch) -> int:
    """How many would be added now. Raises ConflictsUnresolved, with the fresh review kept."""
    plan = planner.plan(batch.campaign, batch.subject_ids)
    decisions = batches.decisions_of(batch)
    conflicts = plan.ids(Group.CONFLICT)
    undecided = decisions.undecided(conflicts)
    if undecided:
        changed = batches.save_plan(batch, plan)
        raise ConflictsUnresolved(
            ngettext(
                "%(count)d person is in another campaign; decide about them first.",
                "%(count)d people are in other campaigns; decide about them first.",
                len(undecided),
            )
            % {"count": len(undecided)},
            count=len(undecided),
            changed=changed,
        )
    return len(plan.ids(Group.READY)) + sum(decisions.answer(pk) == "add" for pk in conflicts)


def _hand_over(batch: EnrollmentBatch, held: int, user: User | None) -> None:
    payload = {
        "workspace_id": batch.workspace_id,
        "batch_id": batch.pk,
        "held": held,
        "user_id": user.pk if user else None,
    }
    try:
        enqueue(TASK, payload)
    except Exception as exc:
        batches.give_back(batch.pk, held)
        log.exception("enrollment_not_queued", batch=batch.pk)
        raise TryLater(_("The queue cannot be reached; try again in a moment."), code="queue_away") from exc


def run_task(payload: dict[str, Any]) -> None:
    """The queue's side of a batch that was handed over."""
    with workspace_scope(int(payload["workspace_id"])):
        run(int(payload["batch_id"]), int(payload["held"]), user_id=payload["user_id"])


def _add_all(batch_id: int, held: int, user_id: int | None) -> None:
    batch = EnrollmentBatch.objects.select_related("campaign").get(pk=batch_id)
    decisions = batches.decisions_of(batch)
    tally = Tally(
        selected=len(batch.subject_ids),
        to_add=int(batch.counts.get("to_add", 0)),
        expected=_promised(batch, decisions),
    )
    for part in chunks(batch.subject_ids):
        _add_chunk(batch, part, decisions, tally, held, user_id)
        failpoint("enrol_chunk")
    if not batches.finish(batch, held, counts=tally.counts(), plan=tally.left_out, user_id=user_id):
        raise BatchTaken


def _promised(batch: EnrollmentBatch, decisions: Decisions) -> frozenset[int]:
    """Those whom the review said would be added; nobody when there was none."""
    if batch.job_id is not None:
        return frozenset()
    others = {
        pk
        for group, ids in batch.plan.items()
        for pk in ids
        if group != Group.CONFLICT or decisions.answer(pk) != "add"
    }
    return frozenset(batch.subject_ids) - others


def _add_chunk(
    batch: EnrollmentBatch,
    part: Sequence[int],
    decisions: Decisions,
    tally: Tally,
    held: int,
    user_id: int | None,
) -> None:
    """One transaction: the door, the groups asked again, the people, and the progress."""
    now = clock.now()
    with transaction.atomic():
        campaign = Campaign.objects.select_for_update(no_key=True).get(pk=batch.campaign_id)
        batches.require_open(campaign)
        wanted: list[int] = []
        for subject_id, group in planner.sort(campaign, part).items():
            reason = _reason_to_leave_out(group, subject_id, decisions)
            if reason:
                tally.leave_out(reason, [subject_id])
            else:
                wanted.append(subject_id)
        same_time = enter(campaign, wanted, now, actor_id=user_id, data={"batch": batch.pk})
        tally.leave_out(SAME_TIME, same_time)
        tally.added += len(wanted) - len(same_time)
        tally.done += len(part)
        if not batches.save_progress(batch.pk, held, tally.counts()):
            raise BatchTaken
        failpoint("enrol_chunk_tx")


def _reason_to_leave_out(group: Group, subject_id: int, decisions: Decisions) -> str:
    """ "" for somebody who is to be added."""
    if group is Group.READY:
        return ""
    if group is not Group.CONFLICT:
        return str(group)
    answer = decisions.answer(subject_id)
    return "" if answer == "add" else SKIPPED if answer == "skip" else UNDECIDED

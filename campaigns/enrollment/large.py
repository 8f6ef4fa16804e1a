"""Adding more people than one selection holds: successive selections of the same people, in the background.

Nobody reviews each of them, so what happens to people who are in another campaign is said beforehand, once
for all; there is no silent default. Each part is an ordinary selection that tells who was left out and why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Case, Count, Exists, IntegerField, OuterRef, Q, QuerySet, Value, When
from django.utils.translation import gettext as _

from automation.models import WorkflowExecution
from blacklist.queries import blocked_mobile
from campaigns import audit_events, jobs
from campaigns.enrollment import batches, committer, selection
from campaigns.enrollment.decisions import ANSWERS, Answer, Decisions
from campaigns.enrollment.planner import Group
from campaigns.models import BatchStatus, Campaign, CampaignJob, CampaignKind, EnrollmentBatch, JobKind
from core import clock
from core.errors import Invalid, Refused
from targets.models import Target
from targets.queries import Visibility
from workspaces.models import User

PART: Final = 10_000  # people of one selection of a job
ORDER: Final = (Group.INVALID, Group.BLACKLISTED, Group.ALREADY, Group.CONFLICT, Group.READY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """How many of the people are in which group now."""

    groups: dict[Group, int]

    @property
    def total(self) -> int:
        return sum(self.groups.values())


def overview(campaign: Campaign, people: QuerySet[Target]) -> Overview:
    """The groups of any number of people, in the order in which the planner asks. One query."""
    live = WorkflowExecution.objects.filter(
        workspace_id=campaign.workspace_id, subject_type="target", subject_id=OuterRef("pk"), active_key=1
    )
    elsewhere = live.filter(campaign__kind=CampaignKind.LIST).exclude(campaign_id=campaign.pk)
    group = Case(
        When(mobile="", then=Value(0)),
        When(Q(blocked_mobile()), then=Value(1)),
        When(Exists(live.filter(campaign_id=campaign.pk)), then=Value(2)),
        When(Exists(elsewhere), then=Value(3)),
        default=Value(4),
        output_field=IntegerField(),
    )
    found = people.order_by().annotate(place=group).values_list("place").annotate(Count("pk"))
    counts = dict(found)
    return Overview(groups={group: counts.get(place, 0) for place, group in enumerate(ORDER)})


def add_all(
    campaign: Campaign, source: selection.Source, *, answer: str, visibility: Visibility, user: User
) -> CampaignJob:
    """Have everybody of `source` added in the background, those who are there now and no others.

    `answer` says what to do with people who are in another campaign. Raises Invalid without one, for
    nobody and for conditions that cannot be read, Refused `campaign_over` or `intake_closed`.
    """
    batches.require_open(campaign)
    if answer not in ANSWERS:
        raise Invalid(_("Say what to do with people who are in another campaign."), code="decision_missing")
    people = source.people(visibility)
    last = people.order_by("-pk").values_list("pk", flat=True).first()
    if last is None:
        raise Invalid(_("Nobody is selected."), code="selection_empty")
    order = {"source": source.stored(), "answer": answer}
    total = people.filter(pk__lte=last).count()
    return jobs.create(campaign, JobKind.ENROL, order=order, last_id=last, total=total, user=user)


class Adding:
    """`jobs.Work` for it."""

    def part(self, job: CampaignJob, held: int) -> bool:
        people = selection.read(job.order["source"]).people(jobs.visibility_of(job))
        rows = people.filter(pk__gt=job.cursor, pk__lte=job.last_id).order_by("pk")
        ids = list(rows.values_list("pk", flat=True)[:PART])
        if not ids:
            return False
        _give_up_older(job)
        batch = _add(job, ids)
        error = str(batch.counts.get("error", ""))
        if batch.status != BatchStatus.COMMITTED:
            if not jobs.is_held(job.pk, held):
                raise jobs.JobTaken
            raise Refused(code=error or "stopped")
        counts = {"added": int(batch.counts["added"]), **{k: len(v) for k, v in batch.plan.items()}}
        jobs.save(job, held, cursor=ids[-1], done=len(ids), counts=counts)
        return True

    def finished(self, job: CampaignJob) -> None:
        """The selections keep their own lines; this one sums up."""
        _give_up_older(job)
        added = added_of(job)
        new: dict[str, Any] = {"selected": job.total, "added": added, "left_out": max(0, job.done - added)}
        jobs.audit_line(job, audit_events.PEOPLE_ADDED, **new)


def added_of(job: CampaignJob) -> int:
    """How many were added so far, by the part at hand too. One query."""
    found = EnrollmentBatch.objects.filter(job=job).values_list("counts__added", flat=True)
    return sum(int(count or 0) for count in found)


def done_of(job: CampaignJob) -> int:
    """How many were looked at so far, by the part at hand too. One query."""
    at_hand = EnrollmentBatch.objects.filter(job=job, status=BatchStatus.COMMITTING)
    counts = at_hand.order_by("-pk").values_list("counts__done", flat=True).first()
    return min(job.total, job.done + int(counts or 0))


def _add(job: CampaignJob, ids: list[int]) -> EnrollmentBatch:
    """One selection, without a review: its people are sorted when they are added."""
    answer: Answer = job.order["answer"]
    batch = EnrollmentBatch.objects.create(
        workspace_id=job.workspace_id,
        campaign=job.campaign,
        job=job,
        subject_ids=ids,
        decisions=Decisions(default=answer).stored(),
        created_by=job.created_by,
    )
    held = batches.take(batch, committer.Tally(selected=len(ids), to_add=len(ids)).counts())
    assert held is not None
    committer.run(batch.pk, held, user_id=job.created_by_id)
    batch.refresh_from_db()
    return batch


def _give_up_older(job: CampaignJob) -> None:
    """A selection of this job that is still being added has lost its worker, or goes with its job."""
    at_hand = EnrollmentBatch.objects.filter(job=job, status=BatchStatus.COMMITTING)
    for pk in at_hand.values_list("pk", flat=True):
        batches.fail(pk, clock.now(), reason="cancelled" if job.finished_at else "stale")

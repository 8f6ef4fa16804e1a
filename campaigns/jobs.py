"""Work on many people of a campaign in the background, a part at a time: the life of a `CampaignJob`.

A part stores how far it came in the transaction of its last row, and only while its worker holds the job's
revision; whoever took the job over makes the late one lose. A job without a sign of life is found by the
tick. Cancelling keeps what is done and begins no other part.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

import structlog
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext as _

from campaigns.models import JOB_EDGES, Campaign, CampaignJob, JobStatus
from core import clock
from core.errors import NotFound, Refused
from core.failpoints import failpoint
from core.queue import enqueue
from core.tenancy import workspace_scope
from core.transitions import try_transition
from targets.queries import Visibility
from workspaces import audit
from workspaces.models import Membership, User
from workspaces.permissions import Perm, has_perm

log = structlog.get_logger(__name__)

TASK: Final = "campaigns.work_on_job"
TASK_SECONDS: Final = 15.0  # then a task hands over to its successor
STALLED_AFTER: Final = timedelta(minutes=2)


class JobTaken(RuntimeError):
    """The job was cancelled or taken over while its worker was still at it."""


class Work(Protocol):
    """One kind of job."""

    def part(self, job: CampaignJob, held: int) -> bool:
        """Do the next part and `save` how far it came; False when nobody is left. Raises Refused: give up."""
        ...

    def finished(self, job: CampaignJob) -> None:
        """Inside the transaction that ends the job, whatever way: its line in the audit log."""
        ...


_kinds: dict[str, Work] = {}


def register(kind: str, work: Work) -> None:
    _kinds[kind] = work


def create(
    campaign: Campaign, kind: str, *, order: Mapping[str, Any], last_id: int, total: int, user: User | None
) -> CampaignJob:
    """Keep what is to be done and have it begun once the transaction is stored."""
    with transaction.atomic():
        job = CampaignJob.objects.create(
            workspace_id=campaign.workspace_id,
            campaign=campaign,
            kind=kind,
            order=dict(order),
            last_id=last_id,
            total=total,
            created_by=user,
        )
        transaction.on_commit(lambda: ask(job.workspace_id, job.pk, job.revision))
    return job


def job_for(job_id: int) -> CampaignJob:
    """One job with its campaign. Raises NotFound, also for another workspace's."""
    rows = CampaignJob.objects.filter(pk=job_id, campaign__deleted_at__isnull=True)
    job = rows.select_related("campaign", "campaign__workflow", "created_by").first()
    if job is None:
        raise NotFound(_("There is no such work."))
    return job


def ask(workspace_id: int, job_id: int, held: int) -> None:
    """Have a worker go on with the job. A queue that is away only costs time: the tick asks again."""
    try:
        enqueue(TASK, {"workspace_id": workspace_id, "job_id": job_id, "held": held})
    except Exception:
        log.exception("job_not_queued", job_id=job_id)


def run_task(payload: Mapping[str, Any]) -> None:
    """The queue's side: parts until all are done or the time is up. A doubled message finds nothing to do."""
    workspace_id, job_id = int(payload["workspace_id"]), int(payload["job_id"])
    with workspace_scope(workspace_id):
        held = _take(job_id, int(payload["held"]))
        if held is None:
            return
        try:
            held = _work(job_id, held)
        except JobTaken:
            log.info("job_given_up", job_id=job_id)
            return
        except Exception:
            _end(job_id, JobStatus.FAILED, held=held, error="stopped")
            raise
    if held is not None:
        ask(workspace_id, job_id, held)


def save(job: CampaignJob, held: int, *, cursor: int, done: int, counts: Mapping[str, int]) -> None:
    """How far a part came: `done` more people, by outcome. Inside its last transaction. Raises JobTaken."""
    merged = {**job.counts}
    for word, count in counts.items():
        merged[word] = merged.get(word, 0) + count
    rows = _row(job.pk).filter(status=JobStatus.WORKING, revision=held)
    changed = rows.update(cursor=cursor, done=F("done") + done, counts=merged, updated_at=clock.now())
    if not changed:
        raise JobTaken
    job.cursor, job.done, job.counts = cursor, job.done + done, merged


def is_held(job_id: int, held: int) -> bool:
    """Whether the job is still this worker's."""
    return _row(job_id).filter(status=JobStatus.WORKING, revision=held).exists()


def cancel(job: CampaignJob) -> None:
    """Begin no other part; what is done stays. Raises Refused `job_over`."""
    if not _end(job.pk, JobStatus.CANCELLED):
        raise Refused(_("This work is over already."), code="job_over")


def visibility_of(job: CampaignJob) -> Visibility:
    """Which people the job may touch: those whom the one who asked for it may see now.

    Raises Refused when they may not ask for it any more: it must not end as if all were done.
    """
    if job.created_by_id is None:
        return Visibility.everyone()
    member = Membership.objects.filter(user_id=job.created_by_id, user__is_active=True).first()
    if not has_perm(member, Perm.CAMPAIGNS_MANAGE):
        raise Refused(code="right_gone")
    return Visibility(member)


def stalled(now: datetime) -> QuerySet[CampaignJob]:
    """Jobs whose worker gave no sign of life for a while. Found by a partial index."""
    return CampaignJob.unscoped.filter(status=JobStatus.WORKING, updated_at__lt=now - STALLED_AFTER)


def resume_stalled(now: datetime) -> Mapping[str, int]:
    """A step of each tick: have somebody go on with them. The late worker loses its hold."""
    resumed = 0
    for pk, workspace_id, revision in stalled(now).values_list("pk", "workspace_id", "revision"):
        with workspace_scope(workspace_id):
            held = _take(pk, revision)
        if held is not None:
            ask(workspace_id, pk, held)
            resumed += 1
    return {"jobs_resumed": resumed}


def _work(job_id: int, held: int) -> int | None:
    """Returns the revision for a successor, None when the job is over."""
    stop_at = time.monotonic() + TASK_SECONDS
    job = job_for(job_id)
    while True:
        try:
            if not _kinds[job.kind].part(job, held):
                _end(job_id, JobStatus.DONE, held=held)
                return None
        except Refused as exc:
            _end(job_id, JobStatus.FAILED, held=held, error=exc.code)
            return None
        failpoint("job_part")
        if time.monotonic() >= stop_at:
            return held


def _take(job_id: int, held: int) -> int | None:
    """Hold the job: whoever has an older revision cannot save any more. None when somebody was faster."""
    rows = _row(job_id).filter(status=JobStatus.WORKING, revision=held)
    return held + 1 if rows.update(revision=held + 1, updated_at=clock.now()) else None


def _end(job_id: int, to: JobStatus, *, held: int | None = None, error: str = "") -> bool:
    now = clock.now()
    with transaction.atomic():
        if not try_transition(
            _row(job_id), edges=JOB_EDGES, to=to, held=held, finished_at=now, updated_at=now, error=error
        ):
            return False
        job = job_for(job_id)
        _kinds[job.kind].finished(job)
    return True


def _row(job_id: int) -> QuerySet[CampaignJob]:
    return CampaignJob.objects.filter(pk=job_id)


def audit_line(job: CampaignJob, event: str, **new: Any) -> None:
    """One row in the audit log for the whole job, with who asked for it."""
    ended = {} if job.status == JobStatus.DONE else {"job_status": str(job.status)}
    audit.record(event, entity=job.campaign, new={**new, **ended}, user=job.created_by)

"""One operation for everybody whom a filter over a campaign's people shows, a thousand at a time."""

from __future__ import annotations

from typing import Any, Final

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from automation import control
from automation.control_moves import TEXTS, Operation, Reason
from campaigns import jobs
from campaigns.models import Campaign, CampaignJob, JobKind
from campaigns.people import PeopleFilter
from core.errors import Invalid, Refused
from targets.queries import Visibility
from workspaces.models import User

AT_ONCE: Final = 1_000  # so many are changed while somebody waits; more by a job
PART: Final = 1_000
CHANGED: Final = "changed"


def change_all(
    campaign: Campaign,
    shown: PeopleFilter,
    operation: Operation,
    visibility: Visibility,
    *,
    user: User | None,
) -> CampaignJob:
    """Have everybody who is shown now changed in the background. Raises Invalid for an unreadable filter."""
    if not shown.is_valid():
        raise Invalid(_unreadable(), code="filter_invalid")
    rows = shown.rows(visibility)
    last = rows.order_by("-pk").values_list("pk", flat=True).first() or 0
    order = {"operation": str(operation), "filter": {k: str(v) for k, v in shown.chosen().items()}}
    return jobs.create(campaign, JobKind.CHANGE, order=order, last_id=last, total=rows.count(), user=user)


class Changing:
    """`jobs.Work` for it."""

    def part(self, job: CampaignJob, held: int) -> bool:
        shown = PeopleFilter(job.order["filter"], campaign=job.campaign)
        if not shown.is_valid():  # a condition left out would change more people than were meant
            raise Refused(_unreadable(), code="filter_invalid")
        rows = shown.rows(jobs.visibility_of(job)).filter(pk__gt=job.cursor, pk__lte=job.last_id)
        ids = list(rows.order_by("pk").values_list("pk", flat=True)[:PART])
        if not ids:
            return False
        for _try in range(control.TRIES):
            try:
                _change(job, held, ids)
            except IntegrityError:  # somebody let one of them in at this very moment: look again
                continue
            return True
        raise Refused(TEXTS[Reason.CHANGED], code=str(Reason.CHANGED))

    def finished(self, job: CampaignJob) -> None:
        changed = job.counts.get(CHANGED, 0)
        new: dict[str, Any] = {"changed_people": changed, "unchanged_people": job.done - changed}
        jobs.audit_line(job, control.AUDITED[Operation(job.order["operation"])], **new)


def _change(job: CampaignJob, held: int, ids: list[int]) -> None:
    operation = Operation(job.order["operation"])
    with transaction.atomic():
        outcome = control.change_part(job.campaign_id, ids, operation, user=job.created_by)
        reasons = {str(reason): count for reason, count in outcome.reasons().items()}
        counts = {CHANGED: len(outcome.done), **reasons}
        jobs.save(job, held, cursor=ids[-1], done=len(ids), counts=counts)


def _unreadable() -> str:
    return _("One of the conditions cannot be used any more; check them.")

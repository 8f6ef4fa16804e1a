"""What time does to campaigns: they start, they end, and what comes back late is put to rest.

Every step decides by one conditional UPDATE, so two ticks at once do the work once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Q, QuerySet, Value

from automation import transitions as executions
from automation.definition_cache import compiled
from automation.models import WorkflowExecution
from automation.states import LIVE, EndReason
from campaigns import audit_events, transitions
from campaigns.enrollment import batches
from campaigns.models import OVER, BatchStatus, Campaign, CampaignStatus, EnrollmentBatch
from campaigns.policy import ENDED_REASONS
from core.tenancy import workspace_scope
from engine.walk import start_position
from workspaces import audit
from workspaces.models import User

STALE_AFTER: Final = timedelta(
    minutes=30
)  # a batch whose worker gave no sign of life for so long is given up


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleReport:
    """How many campaigns and people one call moved."""

    started: int = 0
    people_started: int = 0
    completed: int = 0
    people_stopped: int = 0
    batches_failed: int = 0


def advance(now: datetime) -> LifecycleReport:
    """Start what is due and end what is over in all workspaces. One small query when nothing is."""
    todo = _agenda(now)
    started = [_start_due(*row, now) for row in todo[_START]]
    ended = [_end_due(*row, now) for row in todo[_END]]
    drained = [_drain(*row, now) for row in sorted({*todo[_DRAIN], *todo[_END]})]
    return LifecycleReport(
        started=sum(people is not None for people in started),
        people_started=sum(people or 0 for people in started),
        completed=sum(people is not None for people in ended),
        people_stopped=sum(people or 0 for people in [*ended, *drained]),
        batches_failed=sum(_give_up(*row, now) for row in todo[_GIVE_UP]),
    )


def tick_step(now: datetime) -> Mapping[str, int]:
    """`advance` as the tick wants it: its counts by name."""
    return asdict(advance(now))


def begin(campaign: Campaign, now: datetime) -> int:
    """Let everyone enrolled before the start go, the workflow's initial delay included; returns how many.

    Inside the transaction that made the campaign active.
    """
    _position, due = start_position(compiled(campaign.workflow_version_id).graph, now)
    return executions.activate_pending(campaign.pk, now, due=due)


def stop_people(campaign_id: int, reason: EndReason, now: datetime) -> int:
    """Cancel everyone inside whom no worker holds; returns how many.

    Those with a worker stop at its next checkpoint or, once it gave them back, at a later tick.
    """
    return executions.cancel_live(campaign_id, reason, now)


def complete(campaign_id: int, now: datetime, *, user: User | None, source: str | None = None) -> int | None:
    """End one campaign and stop its people; None when it was not running or paused. One transaction."""
    with transaction.atomic():
        if not transitions.mark_over(campaign_id, now, to=CampaignStatus.COMPLETED, source=source):
            return None
        stopped = stop_people(campaign_id, EndReason.CAMPAIGN_ENDED, now)
        audit.record(
            audit_events.CAMPAIGN_COMPLETED,
            entity=(Campaign, campaign_id),
            new={"status": CampaignStatus.COMPLETED, "stopped_people": stopped},
            user=user,
        )
    return stopped


Row = tuple[int, int]  # workspace, campaign or batch
_START, _END, _DRAIN, _GIVE_UP = "start", "end", "drain", "give_up"


def _agenda(now: datetime) -> dict[str, list[Row]]:
    """What there is to do, by kind and in the order of workspaces. One query over four partial indexes."""
    asked = _questions(now)
    first, *others = [
        rows.order_by().annotate(todo=Value(kind)).values_list("todo", "workspace_id", "pk")
        for kind, rows in asked.items()
    ]
    todo: dict[str, list[Row]] = {kind: [] for kind in asked}
    for kind, workspace_id, pk in first.union(*others, all=True):
        todo[kind].append((workspace_id, pk))
    return {kind: sorted(rows) for kind, rows in todo.items()}


def questions(now: datetime) -> list[QuerySet[Any]]:
    """Rows of which one exists when `advance` has work."""
    return list(_questions(now).values())


def _questions(now: datetime) -> dict[str, QuerySet[Any]]:
    campaigns = Campaign.unscoped.filter(deleted_at__isnull=True)
    opens = Q(status=CampaignStatus.SCHEDULED) & (Q(starts_at__isnull=True) | Q(starts_at__lte=now))
    stale = EnrollmentBatch.unscoped.filter(status=BatchStatus.COMMITTING, updated_at__lt=now - STALE_AFTER)
    return {
        _START: campaigns.filter(opens),
        # One whose start and end both passed while no tick came is started first, then ended.
        _END: campaigns.filter(opens | Q(status=CampaignStatus.ACTIVE), ends_at__lte=now),
        _DRAIN: Campaign.unscoped.filter(draining=True),
        _GIVE_UP: stale,
    }


def _start_due(workspace_id: int, campaign_id: int, now: datetime) -> int | None:
    with workspace_scope(workspace_id), transaction.atomic():
        if not transitions.mark_active(campaign_id, now, source=CampaignStatus.SCHEDULED):
            return None
        campaign = Campaign.objects.get(pk=campaign_id)
        people = begin(campaign, now)
        audit.record(
            audit_events.CAMPAIGN_STARTED,
            entity=campaign,
            old={"status": CampaignStatus.SCHEDULED},
            new={"status": CampaignStatus.ACTIVE, "started_people": people},
            user=None,
        )
    return people


def _end_due(workspace_id: int, campaign_id: int, now: datetime) -> int | None:
    with workspace_scope(workspace_id):
        return complete(campaign_id, now, user=None, source=CampaignStatus.ACTIVE)


def _drain(workspace_id: int, campaign_id: int, now: datetime) -> int:
    """Stop those whom workers gave back since; when nobody live is left the campaign is at rest."""
    with workspace_scope(workspace_id), transaction.atomic():
        campaign = Campaign.objects.filter(pk=campaign_id, draining=True, status__in=OVER).first()
        if campaign is None:
            return 0
        stopped = stop_people(campaign_id, ENDED_REASONS[campaign.status], now)
        if not WorkflowExecution.objects.filter(campaign_id=campaign_id, status__in=sorted(LIVE)).exists():
            Campaign.objects.filter(pk=campaign_id).update(draining=False, updated_at=now)
    return stopped


def _give_up(workspace_id: int, batch_id: int, now: datetime) -> bool:
    with workspace_scope(workspace_id):
        return batches.fail(batch_id, now, reason="stale", not_since=now - STALE_AFTER)

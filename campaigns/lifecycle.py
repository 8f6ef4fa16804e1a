"""What time does to campaigns: they start, they end, and what comes back late is put to rest.

Every step decides by one conditional UPDATE, so two ticks at once do the work once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet, Value

from automation.definition_cache import UnreadableVersion
from campaigns import audit_events, settling, transitions
from campaigns.enrollment import batches
from campaigns.models import OVER, BatchStatus, Campaign, CampaignStatus, EnrollmentBatch
from core.tenancy import workspace_scope
from workspaces import audit
from workspaces.models import User

log = structlog.get_logger(__name__)
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
    begun, stopped = _settle_all(sorted({*todo[_START], *todo[_END], *todo[_SETTLE], *todo[_DRAIN]}))
    return LifecycleReport(
        started=sum(people is not None for people in started),
        people_started=begun + _at_once(started),
        completed=sum(people is not None for people in ended),
        people_stopped=stopped + _at_once(ended),
        batches_failed=sum(_give_up(*row, now) for row in todo[_GIVE_UP]),
    )


def _at_once(people: list[int | None]) -> int:
    """How many of them were moved in the transaction of the start or the end itself."""
    return sum(min(count or 0, settling.AT_ONCE) for count in people)


def tick_step(now: datetime) -> Mapping[str, int]:
    """`advance` as the tick wants it: its counts by name."""
    return asdict(advance(now))


def complete(campaign_id: int, now: datetime, *, user: User | None, source: str | None = None) -> int | None:
    """End one campaign and stop its people; returns how many, None when it was not running or paused."""
    with transaction.atomic():
        if not transitions.mark_over(campaign_id, now, to=CampaignStatus.COMPLETED, source=source):
            return None
        stopped = settling.stop_people(Campaign.objects.get(pk=campaign_id), now)
        audit.record(
            audit_events.CAMPAIGN_COMPLETED,
            entity=(Campaign, campaign_id),
            new={"status": CampaignStatus.COMPLETED, "stopped_people": stopped},
            user=user,
        )
    return stopped


Row = tuple[int, int]  # workspace, campaign or batch
_START, _END, _SETTLE, _DRAIN, _GIVE_UP = "start", "end", "settle", "drain", "give_up"


def _agenda(now: datetime) -> dict[str, list[Row]]:
    """What there is to do, by kind and in the order of workspaces. One query over five partial indexes."""
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
        _SETTLE: Campaign.unscoped.filter(starting=True, status=CampaignStatus.ACTIVE),
        _DRAIN: Campaign.unscoped.filter(draining=True),
        _GIVE_UP: stale,
    }


def _start_due(workspace_id: int, campaign_id: int, now: datetime) -> int | None:
    try:
        return _start(workspace_id, campaign_id, now)
    except UnreadableVersion as error:  # it stays scheduled; the others start
        log.error("campaign_version_unreadable", campaign_id=campaign_id, codes=error.codes)
        return None


def _start(workspace_id: int, campaign_id: int, now: datetime) -> int | None:
    with workspace_scope(workspace_id), transaction.atomic():
        if not transitions.mark_active(campaign_id, now, source=CampaignStatus.SCHEDULED):
            return None
        campaign = Campaign.objects.get(pk=campaign_id)
        people = settling.begin(campaign, now)
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


def _settle_all(rows: list[Row]) -> tuple[int, int]:
    """Let people follow their campaigns' status for a few seconds, each campaign in its turn; returns how
    many began and how many stopped."""
    begun = stopped = 0
    stop_at = time.monotonic() + settling.TICK_SECONDS
    for place, (workspace_id, campaign_id) in enumerate(rows):
        left = stop_at - time.monotonic()
        with workspace_scope(workspace_id):
            moved = _settle(campaign_id, stop_at=time.monotonic() + left / (len(rows) - place))
            is_over = Campaign.objects.filter(pk=campaign_id, status__in=OVER).exists() if moved else False
        begun, stopped = (begun, stopped + moved) if is_over else (begun + moved, stopped)
    return begun, stopped


def _settle(campaign_id: int, *, stop_at: float) -> int:
    try:
        return settling.settle(campaign_id, stop_at=stop_at)
    except UnreadableVersion as error:
        log.error("campaign_version_unreadable", campaign_id=campaign_id, codes=error.codes)
        return 0


def _give_up(workspace_id: int, batch_id: int, now: datetime) -> bool:
    with workspace_scope(workspace_id):
        return batches.fail(batch_id, now, reason="stale", not_since=now - STALE_AFTER)

"""Every way a campaign's row may move. Columns that belong together change together, in one UPDATE."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet, Value
from django.db.models.functions import Coalesce

from campaigns.models import CAMPAIGN_EDGES, Campaign, CampaignStatus
from core.tenancy import UTCDateTimeField
from core.transitions import try_transition

S = CampaignStatus


def _row(campaign_id: int) -> QuerySet[Campaign]:
    return Campaign.objects.filter(pk=campaign_id, deleted_at__isnull=True)


def mark_scheduled(campaign_id: int, now: datetime, *, source: str) -> bool:
    """To wait for its start: from a draft, or back from a pause before the start."""
    return try_transition(
        _row(campaign_id),
        edges=CAMPAIGN_EDGES,
        to=S.SCHEDULED,
        source=source,
        paused_at=None,
        paused_by=None,
        updated_at=now,
    )


def mark_active(campaign_id: int, now: datetime, *, source: str) -> bool:
    """To running; the first time this is the campaign's start."""
    return try_transition(
        _row(campaign_id),
        edges=CAMPAIGN_EDGES,
        to=S.ACTIVE,
        source=source,
        activated_at=Coalesce("activated_at", Value(now, output_field=UTCDateTimeField())),
        paused_at=None,
        paused_by=None,
        updated_at=now,
    )


def mark_paused(campaign_id: int, now: datetime, *, user_id: int | None) -> bool:
    """To frozen. Nobody inside is touched."""
    return try_transition(
        _row(campaign_id),
        edges=CAMPAIGN_EDGES,
        to=S.PAUSED,
        paused_at=now,
        paused_by_id=user_id,
        updated_at=now,
    )


def mark_over(campaign_id: int, now: datetime, *, to: str, source: str | None = None) -> bool:
    """To `completed` or `cancelled`. It drains until nobody is on their way in it."""
    return try_transition(
        _row(campaign_id),
        edges=CAMPAIGN_EDGES,
        to=to,
        source=source,
        finished_at=now,
        starting=False,
        draining=True,
        auto_enrol_at=None,
        paused_at=None,
        paused_by=None,
        updated_at=now,
    )

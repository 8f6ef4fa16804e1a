"""The figures of a campaign for its page: counted at the visit while it is small, else in the background.

A large campaign's figures are kept with their moment. A visit that finds them old asks for new ones and
shows the old ones meanwhile; counting takes at most a twentieth of the time, however many people watch.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import structlog
from django.db.models import Q

from campaigns.figures import Figures, count
from campaigns.models import Campaign, CampaignFigures
from campaigns.policy import policy_of
from core import clock
from core.queue import enqueue
from core.tenancy import workspace_scope
from targets.queries import Visibility
from workspaces.models import Membership

log = structlog.get_logger(__name__)
TASK: Final = "campaigns.count_figures"
SMALL: Final = 2_000  # people; so many are counted while the page waits
FRESH_FOR: Final = timedelta(seconds=30)
SHARE: Final = 20  # a count that took a second is good for twenty


@dataclass(frozen=True, slots=True)
class Kept:
    """`counted_at` is None where the figures are of this very moment, `figures` where none exist yet."""

    figures: Figures | None
    counted_at: datetime | None


def figures_for(campaign: Campaign, membership: Membership, *, people: int, zone: str, now: datetime) -> Kept:
    """What the page of a campaign with so many `people` shows to this member."""
    visibility = Visibility(membership)
    if people <= SMALL:
        return Kept(count(campaign, visibility, zone, now), None)
    viewer_id = membership.user_id if visibility.limited else None
    row = _row(campaign, viewer_id)
    if _is_old(row, now) and _ask(row, now):
        _have_counted(row, membership)
    return Kept(read(row), row.counted_at)


def _have_counted(row: CampaignFigures, membership: Membership) -> None:
    """A queue that is away only costs time: the old figures are shown, and a later visit asks again."""
    try:
        enqueue(TASK, {"workspace": row.workspace_id, "figures": row.pk, "membership": membership.pk})
    except Exception:
        log.exception("figures_not_queued", campaign_id=row.campaign_id)
    row.refresh_from_db()  # an inline queue has counted already


def run_task(payload: dict[str, Any]) -> None:
    """Count once and keep it. Nothing happens when the member is gone or it was counted already."""
    with workspace_scope(payload["workspace"]):
        row = CampaignFigures.objects.filter(pk=payload["figures"]).select_related("campaign").first()
        membership = Membership.objects.filter(pk=payload["membership"]).first()
        if row is None or membership is None or not _is_open(row):
            return
        began, now = time.monotonic(), clock.now()
        visibility = Visibility.everyone() if row.viewer_id is None else Visibility(membership)
        if row.viewer_id is not None and not visibility.limited:
            return  # the member may see more by now: no wider figures are kept as theirs
        found = count(row.campaign, visibility, policy_of(row.campaign).timezone, now)
        took = round((time.monotonic() - began) * 1000)
        newer = Q(counted_at__isnull=True) | Q(counted_at__lte=now)
        rows = CampaignFigures.objects.filter(newer, pk=row.pk)
        rows.update(data=found.to_json(), counted_at=now, took_ms=took, updated_at=now)
        log.info("campaign_counted", campaign_id=row.campaign_id, took_ms=took)


def _is_open(row: CampaignFigures) -> bool:
    """Somebody asked and no count was made since: a message that comes twice counts once."""
    return row.asked_at is not None and (row.counted_at is None or row.counted_at < row.asked_at)


def _row(campaign: Campaign, viewer_id: int | None) -> CampaignFigures:
    key = {"campaign_id": campaign.pk, "viewer_id": viewer_id}
    row = CampaignFigures.objects.filter(**key).first()
    if row is None:
        fresh = CampaignFigures(workspace_id=campaign.workspace_id, **key)
        CampaignFigures.objects.bulk_create([fresh], ignore_conflicts=True)
        row = CampaignFigures.objects.get(**key)
    return row


def _is_old(row: CampaignFigures, now: datetime) -> bool:
    return row.counted_at is None or now - row.counted_at >= _good_for(row)


def _good_for(row: CampaignFigures) -> timedelta:
    return max(FRESH_FOR, timedelta(milliseconds=row.took_ms) * SHARE)


def _ask(row: CampaignFigures, now: datetime) -> bool:
    """One of those who find the figures old asks for new ones; a count that got lost is asked for again."""
    before = now - _good_for(row)
    open_now = Q(asked_at__isnull=True) | Q(asked_at__lte=before)
    return CampaignFigures.objects.filter(open_now, pk=row.pk).update(asked_at=now) == 1


def read(row: CampaignFigures) -> Figures | None:
    """What is kept; None where nothing is, or nothing that this release understands."""
    if row.counted_at is None:
        return None
    try:
        return Figures.from_json(row.data)
    except (KeyError, TypeError, ValueError):
        return None  # of another release; the next count is ours

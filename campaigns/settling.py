"""What a click on a large campaign leaves to do: let everybody go after its start, stop them after its end.

The campaign's own status changes at once and decides what may be sent; the people follow in parts, each a
transaction of its own that holds the campaign's row. A campaign says by itself that it is not settled
(`starting`, `draining`), so whoever dies in between, the next tick goes on; two at once take turns.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import structlog
from django.db import transaction
from django.db.models import QuerySet

from automation import transitions as executions
from automation.definition_cache import compiled
from automation.models import WorkflowExecution
from automation.states import LIVE, EndReason
from campaigns.models import OVER, Campaign, CampaignStatus
from campaigns.policy import ENDED_REASONS
from core import clock
from core.failpoints import failpoint
from core.queue import enqueue
from core.tenancy import workspace_scope
from engine.walk import start_position

log = structlog.get_logger(__name__)

TASK: Final = "campaigns.settle"
AT_ONCE: Final = 1_000  # so many people are moved while somebody waits for the page
CHUNK: Final = 2_000  # and so many in each transaction afterwards
LOOK: Final = 20_000  # ids read at a time
TASK_SECONDS: Final = 20.0  # then a task hands over to its successor
TICK_SECONDS: Final = 5.0  # of one tick, for all campaigns together


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """How far a campaign is from being settled: `left` of its people still have to follow its status."""

    left: int
    total: int

    @property
    def moved(self) -> int:
        return self.total - self.left


def begin(campaign: Campaign, now: datetime) -> int:
    """Let those enrolled before the start go; returns how many there are, the workflow's delay included.

    Inside the transaction that made the campaign active. The first go at once, the others follow.
    """
    return _first_part(campaign, executions.pending(campaign.pk), now)


def stop_people(campaign: Campaign, now: datetime) -> int:
    """Cancel everyone inside whom no worker holds; returns how many there are.

    Inside the transaction that ended the campaign, given as it is since. Those with a worker stop at its
    next checkpoint or, once it gave them back, at a later tick.
    """
    return _first_part(campaign, executions.cancellable(campaign.pk), now)


def _first_part(campaign: Campaign, rows: QuerySet[WorkflowExecution], now: datetime) -> int:
    total = rows.count()
    _move(campaign, list(rows.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]), now)
    if total > AT_ONCE:
        Campaign.objects.filter(pk=campaign.pk, status=CampaignStatus.ACTIVE).update(starting=True)
        transaction.on_commit(lambda: ask(campaign.workspace_id, campaign.pk))
    return total


def ask(workspace_id: int, campaign_id: int) -> None:
    """Have a worker settle the campaign soon. A queue that is away only costs time: the tick does it."""
    try:
        enqueue(TASK, {"workspace_id": workspace_id, "campaign_id": campaign_id})
    except Exception:
        log.exception("settling_not_queued", campaign_id=campaign_id)


def run_task(payload: Mapping[str, Any]) -> None:
    """The queue's side; a doubled message finds nothing to do."""
    workspace_id, campaign_id = int(payload["workspace_id"]), int(payload["campaign_id"])
    with workspace_scope(workspace_id):
        stop_at = time.monotonic() + TASK_SECONDS
        settle(campaign_id, stop_at=stop_at)
        again = _unsettled(campaign_id) is not None and time.monotonic() >= stop_at
    if again:
        ask(workspace_id, campaign_id)


def settle(campaign_id: int, *, stop_at: float) -> int:
    """Move people of one campaign until all have followed or the time (`time.monotonic()`) is up."""
    moved = 0
    while time.monotonic() < stop_at:
        campaign = _unsettled(campaign_id)
        if campaign is None:
            return moved
        ids = list(_waiting(campaign).order_by("pk").values_list("pk", flat=True)[:LOOK])
        if not ids:
            _rest(campaign_id)
            return moved
        for start in range(0, len(ids), CHUNK):
            moved += _chunk(campaign_id, ids[start : start + CHUNK])
            failpoint("settle_chunk")
            if time.monotonic() >= stop_at:
                return moved
    return moved


def progress(campaign: Campaign) -> Left | None:
    """How far it is, None for a settled one. At most three index-only counts."""
    if not (campaign.starting or campaign.draining):
        return None
    left = _waiting(campaign).count()
    return Left(left=left, total=WorkflowExecution.objects.filter(campaign_id=campaign.pk).count())


def _unsettled(campaign_id: int, *, hold: bool = False) -> Campaign | None:
    """The campaign if its people have not all followed its status. A frozen start waits for the resume."""
    rows = Campaign.objects.filter(pk=campaign_id)
    campaign = (rows.select_for_update(no_key=True) if hold else rows).first()
    if campaign is None:
        return None
    begins = campaign.starting and campaign.status == CampaignStatus.ACTIVE
    return campaign if begins or (campaign.draining and campaign.status in OVER) else None


def _waiting(campaign: Campaign) -> QuerySet[WorkflowExecution]:
    over = campaign.status in OVER
    return executions.cancellable(campaign.pk) if over else executions.pending(campaign.pk)


def _chunk(campaign_id: int, ids: list[int]) -> int:
    """One transaction. The campaign may have moved on since the ids were read: its status then decides."""
    with transaction.atomic():
        campaign = _unsettled(campaign_id, hold=True)
        moved = 0 if campaign is None else _move(campaign, ids, clock.now())
        failpoint("settle_chunk_tx")
    return moved


def _move(campaign: Campaign, ids: list[int], now: datetime) -> int:
    if campaign.status in OVER:
        reason = EndReason(ENDED_REASONS[campaign.status])
        return executions.cancel_live(campaign.pk, reason, now, ids=ids)
    began = campaign.activated_at or now
    _position, due = start_position(compiled(campaign.workflow_version_id).graph, began)
    return executions.activate_pending(campaign.pk, now, due=due, started_at=began, ids=ids)


def _rest(campaign_id: int) -> None:
    """Nobody waits any more: the campaign is at rest, unless a worker still holds somebody."""
    with transaction.atomic():
        campaign = _unsettled(campaign_id, hold=True)
        if campaign is None or _waiting(campaign).exists():
            return
        if campaign.status in OVER:
            rows = WorkflowExecution.objects.filter(campaign_id=campaign_id, status__in=sorted(LIVE))
            flags = {} if rows.exists() else {"draining": False}
        else:
            flags = {"starting": False}
        if flags:
            Campaign.objects.filter(pk=campaign_id).update(**flags, updated_at=clock.now())

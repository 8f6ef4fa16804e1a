"""Taking due executions for work: one conditional UPDATE, then exactly those rows are dispatched."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db.models import F

from automation.models import WorkflowExecution
from automation.states import CLAIMABLE, ExecutionStatus
from core import clock
from core.bulk import update_returning

# Waits, conditions and ends of one campaign in one round: they use up no budget, only time.
LIGHT_PER_ROUND = 500
COUNTED = 10_000  # "so many and more": a million people in line must not cost every tick their counting


def claim_due(campaign_id: int, *, consuming: bool, limit: int, token: UUID, now: datetime) -> list[int]:
    """active or waiting -> queued for up to `limit` due executions of the campaign, oldest first.

    One UPDATE whose condition is checked again on every row, so that of two overlapping ticks each
    execution goes to one. Returns the ids in claim order: next_run_at, eligible_at, id.
    """
    if limit <= 0:
        return []
    due = WorkflowExecution.objects.filter(
        campaign_id=campaign_id,
        consumes_budget=consuming,
        status__in=sorted(CLAIMABLE),
        next_run_at__lte=now,
    ).order_by("next_run_at", "eligible_at", "pk")
    rows = WorkflowExecution.objects.filter(
        pk__in=due.values("pk")[:limit], status__in=sorted(CLAIMABLE), next_run_at__lte=now
    )
    return update_returning(
        rows, order_by=("next_run_at", "eligible_at"),
        status=ExecutionStatus.QUEUED, lock_token=token, locked_at=now, revision=F("revision") + 1,
    )  # fmt: skip


def shift_to_opening(
    campaign_id: int, opens_at: datetime, now: datetime, *, but: Collection[int] = ()
) -> int:
    """Move every due budgeted step of the campaign to the next opening; eligible_at keeps the old order.

    `but`: ids of nodes whose people stay due, since they mind no window.
    """
    due = WorkflowExecution.objects.filter(
        campaign_id=campaign_id, consumes_budget=True, status__in=sorted(CLAIMABLE), next_run_at__lte=now
    )
    minding = due.exclude(current_node_id__in=but) if but else due
    return minding.update(next_run_at=opens_at, revision=F("revision") + 1)


def bring_forward(workspace_id: int, moments: Collection[datetime]) -> None:
    """Steps that were put off until one of `moments` are due now: what they waited for was mended."""
    now = clock.now()
    WorkflowExecution.objects.filter(
        workspace_id=workspace_id, consumes_budget=True, status=ExecutionStatus.WAITING,
        next_run_at__in=moments,
    ).update(next_run_at=now, wake_at=now, revision=F("revision") + 1)  # fmt: skip


def count_due(campaign_id: int, now: datetime) -> int:
    """Budgeted steps that are due but were not claimed (the day's limit is used up); stops at COUNTED."""
    due = WorkflowExecution.objects.filter(
        campaign_id=campaign_id, consumes_budget=True, status__in=sorted(CLAIMABLE), next_run_at__lte=now
    )
    return due[:COUNTED].count()

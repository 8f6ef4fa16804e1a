"""The first row of a walk: somebody enters a campaign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.db import IntegrityError, transaction

from automation.definition_cache import compiled
from automation.models import WorkflowExecution
from automation.runtime.events import event_row, store
from automation.states import ExecutionEventType, ExecutionStatus
from campaigns.models import Campaign
from engine.types import Position
from engine.walk import start_position

TRIES: Final = 5


def enter(
    campaign: Campaign,
    ids: Sequence[int],
    now: datetime,
    *,
    actor_id: int | None = None,
    data: Mapping[str, Any] | None = None,
) -> list[int]:
    """Let people in, one execution and one `enrolled` line each; returns those who were let in meanwhile.

    Inside the transaction that locked the campaign. Before the start they are `pending` without a due
    moment; after it `active`, due when the workflow's initial delay is over.
    """
    missed: list[int] = []
    wanted = list(ids)
    for _try in range(TRIES):
        if not wanted:
            return missed
        try:
            with transaction.atomic():
                rows = WorkflowExecution.objects.bulk_create(_rows(campaign, wanted, now))
        except IntegrityError:
            taken = _live_here(campaign, wanted)
            if not taken:
                raise
            missed += [pk for pk in wanted if pk in taken]
            wanted = [pk for pk in wanted if pk not in taken]
            continue
        store([_line(row, now, actor_id, data) for row in rows])
        return missed
    raise RuntimeError("others keep adding the same people")


def _rows(campaign: Campaign, ids: Sequence[int], now: datetime) -> list[WorkflowExecution]:
    entry = compiled(campaign.workflow_version_id)
    position, due = start_position(entry.graph, now)
    return [
        WorkflowExecution(
            workspace_id=campaign.workspace_id,
            campaign_id=campaign.pk,
            workflow_id=campaign.workflow_id,
            workflow_version_id=campaign.workflow_version_id,
            subject_id=subject_id,
            current_node_id=entry.node_ids[position.node],
            consumes_budget=entry.graph.consumes_budget(position.node),
            active_key=1,
            cycle=position.cycle,
            **_clock_columns(campaign, position, due, now),
        )
        for subject_id in ids
    ]


def _clock_columns(campaign: Campaign, position: Position, due: datetime, now: datetime) -> dict[str, Any]:
    if not campaign.has_started:
        return {"status": ExecutionStatus.PENDING}
    return {
        "status": ExecutionStatus.ACTIVE,
        "eligible_at": position.eligible_at,
        "next_run_at": due,
        "started_at": now,
    }


def _line(row: WorkflowExecution, now: datetime, actor_id: int | None, data: Mapping[str, Any] | None) -> Any:
    return event_row(
        row, ExecutionEventType.ENROLLED, now, node_id=row.current_node_id, data=data, actor_id=actor_id
    )


def _live_here(campaign: Campaign, ids: Sequence[int]) -> set[int]:
    rows = WorkflowExecution.objects.filter(
        campaign_id=campaign.pk, subject_type="target", subject_id__in=ids, active_key=1
    )
    return set(rows.values_list("subject_id", flat=True))

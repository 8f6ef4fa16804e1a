"""The first row of a walk: somebody enters a campaign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from automation.definition_cache import compiled
from automation.models import WorkflowExecution
from automation.runtime.events import EventLine, store
from automation.states import ExecutionEventType, ExecutionStatus
from campaigns.models import Campaign
from core.bulk import insert_rows
from engine.types import Position
from engine.walk import start_position


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
    moment; after it `active`, due when the workflow's initial delay is over. Two statements.
    """
    if not ids:
        return []
    row = _row(campaign, now)
    # Whoever is live here already breaks the unique live key and is left out; the others enter all the same.
    entered = insert_rows(WorkflowExecution, [{"subject_id": pk, **row} for pk in ids], skip_conflicts=True)
    store(
        [
            EventLine(
                pk, campaign.workspace_id, campaign.pk, row["subject_type"], subject_id,
                ExecutionEventType.ENROLLED, now, row["current_node_id"], data or {}, "", actor_id,
            )
            for pk, subject_id in entered
        ]
    )  # fmt: skip
    let_in = {subject_id for _pk, subject_id in entered}
    return [pk for pk in ids if pk not in let_in]


def _row(campaign: Campaign, now: datetime) -> dict[str, Any]:
    """The columns that are the same for everybody who enters now."""
    entry = compiled(campaign.workflow_version_id)
    position, due = start_position(entry.graph, now)
    return {
        "workspace_id": campaign.workspace_id,
        "campaign_id": campaign.pk,
        "workflow_id": campaign.workflow_id,
        "workflow_version_id": campaign.workflow_version_id,
        "subject_type": "target",
        "current_node_id": entry.node_ids[position.node],
        "consumes_budget": entry.graph.consumes_budget(position.node),
        "active_key": 1,
        "cycle": position.cycle,
        **_clock_columns(campaign, position, due, now),
    }


def _clock_columns(campaign: Campaign, position: Position, due: datetime, now: datetime) -> dict[str, Any]:
    if not campaign.has_started:
        return {"status": ExecutionStatus.PENDING}
    return {
        "status": ExecutionStatus.ACTIVE,
        "eligible_at": position.eligible_at,
        "next_run_at": due,
        "started_at": now,
    }

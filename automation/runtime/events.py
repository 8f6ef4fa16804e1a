"""From a walk's trace to the rows of the history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from automation.models import WorkflowExecution, WorkflowExecutionEvent
from core.bulk import insert_rows
from engine.types import TraceEntry

BATCH = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLine:
    """One line of history before it is stored; a model object a line would cost more than the insert."""

    workspace_id: int
    execution_id: int
    campaign_id: int
    subject_type: str
    subject_id: int
    type: str
    occurred_at: datetime
    node_id: int | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""
    actor_user_id: int | None = None


def event_row(
    execution: WorkflowExecution,
    kind: str,
    at: datetime,
    *,
    node_id: int | None = None,
    data: Mapping[str, Any] | None = None,
    message: str = "",
    actor_id: int | None = None,
) -> EventLine:
    """One line of history for `execution`, not yet stored."""
    return EventLine(
        workspace_id=execution.workspace_id,
        execution_id=execution.pk,
        campaign_id=execution.campaign_id,
        subject_type=execution.subject_type,
        subject_id=execution.subject_id,
        node_id=node_id,
        type=kind,
        message=message,
        data=data or {},
        actor_user_id=actor_id,
        occurred_at=at,
    )


def trace_rows(
    execution: WorkflowExecution, trace: Iterable[TraceEntry], node_ids: Mapping[str, int]
) -> list[EventLine]:
    """The lines of one walk, in order."""
    return [
        event_row(execution, entry.type, entry.at, node_id=node_ids.get(entry.node), data=entry.data)
        for entry in trace
    ]


def store(lines: Sequence[EventLine]) -> None:
    """Insert lines in order, one statement a thousand."""
    for start in range(0, len(lines), BATCH):
        part = lines[start : start + BATCH]
        insert_rows(WorkflowExecutionEvent, [_columns(line) for line in part])


def _columns(line: EventLine) -> dict[str, Any]:
    return {
        "execution_id": line.execution_id,
        "workspace_id": line.workspace_id,
        "campaign_id": line.campaign_id,
        "subject_type": line.subject_type,
        "subject_id": line.subject_id,
        "node_id": line.node_id,
        "type": line.type,
        "message": line.message,
        "data": line.data,
        "actor_user_id": line.actor_user_id,
        "occurred_at": line.occurred_at,
    }

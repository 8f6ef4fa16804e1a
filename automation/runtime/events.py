"""From a walk's trace to the rows of the history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from automation.models import WorkflowExecutionEvent
from automation.runtime.rows import Walking
from core.bulk import insert_tuples
from engine.types import TraceEntry

BATCH: Final = 1000
_NOTHING: Final[Mapping[str, Any]] = {}


class EventLine(NamedTuple):
    """One line of history before it is stored; a model object a line would cost more than the insert."""

    execution_id: int
    workspace_id: int
    campaign_id: int
    subject_type: str
    subject_id: int
    type: str
    occurred_at: datetime
    node_id: int | None = None
    data: Mapping[str, Any] = _NOTHING
    message: str = ""
    actor_user_id: int | None = None


def event_row(
    execution: Walking,
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
        execution.id, execution.workspace_id, execution.campaign_id, execution.subject_type,
        execution.subject_id, kind, at, node_id, data or _NOTHING, message, actor_id,
    )  # fmt: skip


def trace_rows(
    execution: Walking, trace: Iterable[TraceEntry], node_ids: Mapping[str, int]
) -> list[EventLine]:
    """The lines of one walk, in order."""
    return [
        event_row(execution, entry.type, entry.at, node_id=node_ids.get(entry.node), data=entry.data)
        for entry in trace
    ]


def store(lines: Sequence[EventLine]) -> None:
    """Insert lines in order, one statement a thousand."""
    for start in range(0, len(lines), BATCH):
        insert_tuples(WorkflowExecutionEvent, EventLine._fields, lines[start : start + BATCH])

"""An execution as a worker reads it: the columns a step needs, and nothing that a model costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from automation.models import WorkflowExecution
from automation.states import ExecutionStatus
from core.statements import read


class Row(NamedTuple):
    """The stored columns of one claimed execution. Fields are named as the model's."""

    id: int
    workspace_id: int
    campaign_id: int
    workflow_id: int
    workflow_version_id: int
    subject_type: str
    subject_id: int
    current_node_id: int
    cycle: int
    consumes_budget: bool
    entered: bool
    eligible_at: datetime | None
    next_run_at: datetime | None
    wake_at: datetime | None
    retry_count: int
    steps_since_wait: int
    last_action: str
    variant: str
    is_holdout: bool
    entry_count: int
    failures: int
    suspected_at: datetime | None
    started_at: datetime | None
    metadata: Mapping[str, Any]

    @property
    def pk(self) -> int:
        return self.id


# What history, facts and texts take: a worker's row or the model.
Walking = WorkflowExecution | Row


def claimed(workspace_id: int, ids: Sequence[int], token: UUID, *, taken: bool = False) -> list[Row]:
    """The executions of `ids` that `token` still holds and nobody has begun, in claim order. One query.

    `taken`: those that were begun by a transaction of their own (`automation.runtime.suspects`).
    """
    status = ExecutionStatus.PROCESSING if taken else ExecutionStatus.QUEUED
    found = read(
        WorkflowExecution,
        Row._fields,
        {"id": ids, "lock_token": token, "status": status},
        workspace_id=workspace_id,
        order=("next_run_at", "eligible_at", "id"),
    )
    return [Row._make(columns) for columns in found]

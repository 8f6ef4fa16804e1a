"""Every way an execution's row may move. Columns that belong together change together, in one UPDATE.

Single moves and set-wise moves share `automation.states.EDGES`. A worker's move names the claim's
token: a worker that lost its lease changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import F, QuerySet

from automation.models import WorkflowExecution
from automation.runtime.events import EventLine, store
from automation.states import CLAIMED, EDGES, ENDED, LIVE, EndReason, ExecutionEventType, ExecutionStatus
from core.bulk import update_answering, update_from_values
from core.tenancy import current_workspace_id
from core.transitions import IllegalTransition, sources_of
from engine.types import Position

S = ExecutionStatus
MASS = 1000  # rows moved by one statement
# What a line of history says of its execution, in the order of its fields.
_TOLD = ("id", "workspace_id", "campaign_id", "subject_type", "subject_id", "current_node_id")
POISON_AFTER = 3  # a step that was tried alone so often in a row and brought no progress is given up


class Move(NamedTuple):
    """Where one processed execution goes. `node_id` and `consumes_budget` describe the step it stands at."""

    execution_id: int
    to: str
    position: Position
    node_id: int
    consumes_budget: bool
    at: datetime
    next_run_at: datetime | None = None
    is_retry: bool = False
    end_reason: str = ""
    last_error: str = ""
    clears_metadata: bool = False
    event: str = ""  # ends the wait, if it comes


def take(ids: Sequence[int], token: UUID, now: datetime) -> set[int]:
    """queued -> processing for the executions still held by `token`; returns those that were taken."""
    columns = {"status": S.PROCESSING, "locked_at": now, "last_run_at": now}
    return set(
        update_from_values(
            WorkflowExecution,
            [{"id": pk, **columns} for pk in ids],
            guard={"workspace_id": current_workspace_id(), "status": S.QUEUED, "lock_token": token},
            increment=["revision"],
        )
    )


def apply_moves(moves: Iterable[Move], token: UUID) -> set[int]:
    """processing -> wherever each walk went, guarded by `token`; returns the moved ids.

    One UPDATE, and another one when some of them forget their run-time variables: those of all the others
    stay as they are and need not be written.
    """
    kept: list[dict[str, Any]] = []
    cleared: list[dict[str, Any]] = []
    for move in moves:
        if move.clears_metadata:
            cleared.append({**_columns(move), "metadata": {}})
        else:
            kept.append(_columns(move))
    guard = {"workspace_id": current_workspace_id(), "status": S.PROCESSING, "lock_token": token}
    return {
        pk
        for rows in (kept, cleared)
        for pk in update_from_values(WorkflowExecution, rows, guard=guard, increment=["revision"])
    }


def _columns(move: Move) -> dict[str, Any]:
    if move.to not in EDGES[S.PROCESSING]:
        raise IllegalTransition(f"processing may not become {move.to!r}")
    live, position = move.to in LIVE, move.position
    return {
        "id": move.execution_id,
        "status": move.to,
        "active_key": 1 if live else None,
        "current_node_id": move.node_id,
        "cycle": position.cycle,
        "consumes_budget": move.consumes_budget,
        "entered": position.entered,
        "eligible_at": position.eligible_at,
        "next_run_at": move.next_run_at,
        "wake_at": position.wake_at,
        "retry_count": position.retries,
        "steps_since_wait": position.steps_since_wait,
        "last_action": position.last_action,
        "variant": position.variant,
        "is_holdout": position.is_holdout,
        "waiting_event": move.event,
        "lock_token": None,
        "locked_at": None,
        "failures": 0,
        "suspected_at": None,
        "completed_at": move.at if move.to in ENDED else None,
        "paused_at": move.at if move.to == S.PAUSED else None,
        "paused_from_status": S.ACTIVE if move.to == S.PAUSED else "",
        "end_reason": move.end_reason,
        "last_error": move.last_error[:500],
        "updated_at": move.at,
    }


def is_last_try(row: WorkflowExecution) -> bool:
    """Whether a step that now failed again has had all its tries alone; the first of its failures may have
    been a chunk mate's."""
    alone = row.failures - (row.suspected_at is not None)
    return alone + 1 >= POISON_AFTER


def mark_erring(ids: Collection[int], token: UUID, now: datetime) -> list[WorkflowExecution]:
    """queued or processing -> active for executions whose step raised an error, whatever their row holds;
    the third time in a row alone they are poison: failed. Returns them as they are then.

    An error may be the database's or a moment's. It must not end somebody's walk the first time.
    """
    take(list(ids), token, now)
    mine = WorkflowExecution.objects.filter(pk__in=ids, lock_token=token, status=S.PROCESSING)
    erring = list(mine)
    common: dict[str, Any] = {
        "lock_token": None,
        "locked_at": None,
        "failures": F("failures") + 1,
        "last_error": "the step raised an error; see the server log",
        "revision": F("revision") + 1,
        "updated_at": now,
    }
    mine.filter(pk__in=[row.pk for row in erring if is_last_try(row)]).update(
        status=S.FAILED, active_key=None, completed_at=now, end_reason=EndReason.POISON, **common
    )
    mine.update(status=S.ACTIVE, **common)
    return list(WorkflowExecution.objects.filter(pk__in=[row.pk for row in erring]))


def put_back(ids: Collection[int], token: UUID) -> int:
    """queued or processing -> active, as if never claimed: the campaign is frozen or the worker stops."""
    rows = WorkflowExecution.objects.filter(
        pk__in=ids, lock_token=token, status__in=sources_for(S.ACTIVE, CLAIMED)
    )
    return rows.update(status=S.ACTIVE, lock_token=None, locked_at=None, revision=F("revision") + 1)


def move_held(columns: Mapping[int, Mapping[str, Any]], *, source: str, to: str, now: datetime) -> list[int]:
    """`source` -> `to` for rows that the caller has locked; returns those that were moved.

    `columns` are the values that change with the status, by execution id, the same columns for all.
    """
    if to not in EDGES[source]:
        raise IllegalTransition(f"{source!r} may not become {to!r}")
    rows = [{"id": pk, "status": to, "updated_at": now, **values} for pk, values in columns.items()]
    return update_from_values(WorkflowExecution, rows, guard={"status": source}, increment=["revision"])


def sources_for(to: str, among: Collection[str]) -> list[str]:
    """The states of `among` that may become `to`."""
    return [state for state in sources_of(EDGES, to) if state in among]


def pending(campaign_id: int) -> QuerySet[WorkflowExecution]:
    """Those enrolled before the campaign started."""
    return WorkflowExecution.objects.filter(campaign_id=campaign_id, status=S.PENDING)


def activate_pending(
    campaign_id: int, now: datetime, *, due: datetime, started_at: datetime, ids: Sequence[int]
) -> int:
    """pending -> active for those of `ids`; one event each.

    `due` is when their first step may run, `started_at` when the campaign began for them.
    """
    return _move_many(
        pending(campaign_id), ids, event=ExecutionEventType.ACTIVATED, now=now, status=S.ACTIVE,
        next_run_at=due, eligible_at=due, started_at=started_at,
    )  # fmt: skip


def cancellable(campaign_id: int) -> QuerySet[WorkflowExecution]:
    """The campaign's live executions that no worker holds."""
    statuses = sources_for(S.CANCELLED, LIVE - CLAIMED)
    return WorkflowExecution.objects.filter(campaign_id=campaign_id, status__in=statuses)


def cancel_live(campaign_id: int, reason: EndReason, now: datetime, *, ids: Sequence[int]) -> int:
    """Cancel those of `ids` that are live and that no worker holds.

    Those queued or processing are left to their worker, which finds the campaign ended and stops them
    at its next checkpoint: what is on its way to the provider cannot be called back.
    """
    return _cancel(cancellable(campaign_id), ids, reason, now)


def cancel_for_subjects(
    subject_type: str, subject_ids: Collection[int], reason: EndReason, now: datetime, *, actor_id: int | None
) -> int:
    """Cancel every live execution of these subjects that no worker holds; a worker finds its own."""
    rows = WorkflowExecution.objects.filter(
        subject_type=subject_type,
        subject_id__in=subject_ids,
        status__in=sources_for(S.CANCELLED, LIVE - CLAIMED),
    )
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    return _cancel(rows, ids, reason, now, actor_id=actor_id)


def _cancel(
    rows: QuerySet[WorkflowExecution],
    ids: Sequence[int],
    reason: EndReason,
    now: datetime,
    *,
    actor_id: int | None = None,
) -> int:
    return _move_many(
        rows, ids, event=ExecutionEventType.CANCELLED, actor_id=actor_id, data={"reason": str(reason)},
        now=now, status=S.CANCELLED, active_key=None, completed_at=now, end_reason=reason, paused_at=None,
    )  # fmt: skip


def _move_many(
    rows: QuerySet[WorkflowExecution],
    ids: Sequence[int],
    *,
    event: str,
    now: datetime,
    data: Mapping[str, Any] | None = None,
    actor_id: int | None = None,
    **columns: Any,
) -> int:
    """Move those of `ids` that are still among `rows`. Run inside a transaction.

    Two statements for a thousand: a guarded UPDATE, and its answer as lines of history. The rows are
    locked in the order of their ids, as everywhere.
    """
    moved = 0
    for start in range(0, len(ids), MASS):
        wanted = rows.filter(pk__in=ids[start : start + MASS]).order_by("pk")
        held = wanted.select_for_update(of=("self",), no_key=True).values("pk")
        changed = update_answering(
            rows.filter(pk__in=held[:MASS]), _TOLD, revision=F("revision") + 1, updated_at=now, **columns
        )
        store([_told(row, event, now, data or {}, actor_id) for row in sorted(changed)])
        moved += len(changed)
    return moved


def _told(
    row: tuple[Any, ...], event: str, now: datetime, data: Mapping[str, Any], actor_id: int | None
) -> EventLine:
    pk, workspace_id, campaign_id, subject_type, subject_id, node_id = row
    return EventLine(
        pk, workspace_id, campaign_id, subject_type, subject_id, event, now, node_id, data, "", actor_id
    )

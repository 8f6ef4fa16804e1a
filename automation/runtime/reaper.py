"""Taking back executions whose worker died. It knows nothing of messages: each action closes what it left."""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, QuerySet, Value, When

from automation.models import WorkflowExecution
from automation.runtime.actions.base import runtime_actions
from automation.runtime.events import EventLine, event_row, store
from automation.states import CLAIMED, EndReason, ExecutionEventType, ExecutionStatus
from automation.transitions import is_last_try
from core.failpoints import failpoint
from core.tenancy import UTCDateTimeField, workspace_scope

log = structlog.get_logger(__name__)
BATCH = 1000


def reap(now: datetime, *, lease: timedelta | None = None) -> int:
    """queued or processing with an expired lease -> active; returns how many.

    Guarded by the very state and lock time that was read: a worker that finished meanwhile is left
    alone. An execution whose step was tried alone and interrupted three times in a row without progress is
    set `failed`, so that one bad step cannot crash workers for ever; messages that a queue lost do not count,
    their executions are only marked (`automation.runtime.suspects`).
    """
    expired_before = now - (lease or timedelta(seconds=settings.LEASE_SECONDS))
    stale = _claimed_before(expired_before)
    workspaces = list(stale.order_by("workspace_id").values_list("workspace_id", flat=True).distinct())
    return sum(_reap_workspace(workspace_id, expired_before, now) for workspace_id in workspaces)


def questions(now: datetime) -> list[QuerySet[WorkflowExecution]]:
    """Rows that exist when `tick_step` has work."""
    return [_claimed_before(now - timedelta(seconds=settings.LEASE_SECONDS))]


def tick_step(now: datetime) -> dict[str, int]:
    """`reap` as a step of each tick."""
    return {"reaped": reap(now)}


def _claimed_before(moment: datetime) -> QuerySet[WorkflowExecution]:
    return WorkflowExecution.unscoped.filter(locked_at__lt=moment, status__in=sorted(CLAIMED))


def _reap_workspace(workspace_id: int, expired_before: datetime, now: datetime) -> int:
    reaped, last_id = 0, 0
    with workspace_scope(workspace_id):
        while True:
            rows = list(
                WorkflowExecution.objects.filter(
                    locked_at__lt=expired_before, status__in=sorted(CLAIMED), pk__gt=last_id
                ).order_by("pk")[:BATCH]
            )
            if not rows:
                return reaped
            last_id = rows[-1].pk
            failpoint("reap_read")
            reaped += _free(rows, expired_before, now)


def _free(rows: list[WorkflowExecution], expired_before: datetime, now: datetime) -> int:
    begun = [row for row in rows if row.status == ExecutionStatus.PROCESSING]
    queued = [row for row in rows if row.status != ExecutionStatus.PROCESSING]
    again = [row for row in begun if not is_last_try(row)]
    poisoned = [row for row in begun if is_last_try(row)]
    first_time = When(failures=0, then=Value(now, output_field=UTCDateTimeField()))
    mark = Case(first_time, default=F("suspected_at"))  # which stays until there is progress
    with transaction.atomic():
        unworked = _back_to_active(queued, expired_before, suspected_at=mark)
        freed = _back_to_active(again, expired_before, suspected_at=mark, failures=F("failures") + 1)
        failed = _fail(poisoned, expired_before, now)
        moved = [*unworked, *freed, *failed]
        store([_recovered(row, now) for row in moved])
        store(_abandoned([*freed, *failed], now))
        store([_failed(row, now) for row in failed])
        failpoint("reap_write")
    if moved:
        log.warning("executions_recovered", workspace_id=rows[0].workspace_id, count=len(moved))
    return len(moved)


def _back_to_active(
    rows: list[WorkflowExecution], expired_before: datetime, **columns: object
) -> list[WorkflowExecution]:
    return _still_stale(
        rows, expired_before, status=ExecutionStatus.ACTIVE, lock_token=None, locked_at=None, **columns
    )


def _fail(rows: list[WorkflowExecution], expired_before: datetime, now: datetime) -> list[WorkflowExecution]:
    return _still_stale(
        rows, expired_before, status=ExecutionStatus.FAILED, active_key=None, lock_token=None,
        locked_at=None,
        completed_at=now, end_reason=EndReason.POISON, last_error="interrupted three times in a row",
    )  # fmt: skip


def _abandoned(rows: list[WorkflowExecution], now: datetime) -> list[EventLine]:
    """Let each action close what the dead workers left: their campaigns may never run again."""
    by_id = {row.pk: row for row in rows}
    return [
        event_row(by_id[pk], kind, now, node_id=by_id[pk].current_node_id, data=data)
        for action in runtime_actions()
        for pk, lines in action.abandon(list(by_id), now).items()
        for kind, data in lines
    ]


def _still_stale(
    rows: list[WorkflowExecution], expired_before: datetime, **columns: object
) -> list[WorkflowExecution]:
    """Lock those of `rows` that nobody touched since they were read, then move exactly them."""
    if not rows:
        return []
    seen = {row.pk: (row.status, row.lock_token) for row in rows}
    held = WorkflowExecution.objects.filter(pk__in=seen, locked_at__lt=expired_before)
    locked = [
        row
        for row in held.select_for_update(of=("self",), no_key=True).order_by("pk")
        if (row.status, row.lock_token) == seen[row.pk]
    ]
    WorkflowExecution.objects.filter(pk__in=[row.pk for row in locked]).update(
        revision=F("revision") + 1, **columns
    )
    return locked


def _recovered(row: WorkflowExecution, now: datetime) -> EventLine:
    locked_at = row.locked_at.isoformat() if row.locked_at else ""
    return event_row(
        row, ExecutionEventType.RECOVERED, now, node_id=row.current_node_id,
        data={"old_status": row.status, "locked_at": locked_at},
    )  # fmt: skip


def _failed(row: WorkflowExecution, now: datetime) -> EventLine:
    data = {"reason": str(EndReason.POISON)}
    return event_row(row, ExecutionEventType.FAILED, now, node_id=row.current_node_id, data=data)

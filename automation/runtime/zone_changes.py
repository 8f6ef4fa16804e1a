"""Moves the moments that people wait for when a country changes its clocks.

"Tomorrow at nine" or "in two days" is kept as an instant, computed by the zone rules of that day. When the
tick finds newer rules than the database remembers, every such wait is computed again from the moment it
began, a part at a time: doing it twice changes nothing. Waits of minutes and hours stay as they are. A host
that still has older rules changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, Final

import structlog
from django.db import transaction
from django.db.models import Max, Q, QuerySet

from automation.definition_cache import compiled
from automation.models import WorkflowExecution, WorkflowExecutionEvent
from automation.runtime.facts import FactSheet
from automation.runtime.policy import policy_source
from automation.runtime.subjects import load_subjects
from automation.states import CLAIMABLE, ExecutionEventType, ExecutionStatus
from core.bulk import update_from_values
from core.models import ZoneRules
from core.tenancy import workspace_scope
from core.zone_rules import edition
from engine.graph import ClockWaitNode, EndNode, EventWaitNode, WaitNode
from engine.types import Facts
from engine.zones import ZoneError, zone

log = structlog.get_logger(__name__)

PART: Final = 500
SECONDS: Final = 30.0  # of one tick: whoever was moved later must not be claimed before they are
MAY_WAIT: Final = sorted({*CLAIMABLE, ExecutionStatus.PAUSED})


def questions(_now: datetime) -> list[QuerySet[ZoneRules]]:
    """The row that exists when the rules changed, or people are still being moved."""
    return [ZoneRules.objects.filter(~Q(edition=edition()) | Q(cursor__isnull=False))]


def follow(now: datetime) -> Mapping[str, int]:
    """A step of each tick: move those who wait for a local time. Two at once take turns."""
    mine, row = edition(), ZoneRules.objects.filter(pk=1).first()
    if row is None or not mine or mine < row.edition:
        return {}
    if mine != row.edition:
        log.info("zone_rules_changed", old=row.edition, new=mine)
        ZoneRules.objects.filter(pk=1, edition=row.edition).update(edition=mine, cursor=0)
    moved, stop_at = 0, time.monotonic() + SECONDS
    while time.monotonic() < stop_at:
        changed = _part(mine, now)
        if changed is None:
            break
        moved += changed
    return {"waits_moved": moved}


def _part(mine: str, now: datetime) -> int | None:
    """One transaction: how many were moved, None when nobody is left."""
    with transaction.atomic():
        state = ZoneRules.objects.select_for_update(no_key=True).filter(pk=1, edition=mine).first()
        if state is None or state.cursor is None:
            return None
        waiting = WorkflowExecution.unscoped.filter(
            pk__gt=state.cursor, status__in=MAY_WAIT, next_run_at__gt=now
        )
        rows = list(waiting.select_for_update(no_key=True).order_by("pk")[:PART])
        moved = 0
        for workspace_id, mates in groupby(
            sorted(rows, key=lambda row: row.workspace_id), key=lambda row: row.workspace_id
        ):
            with workspace_scope(workspace_id):
                moved += _move(workspace_id, list(mates))
        ZoneRules.objects.filter(pk=1).update(cursor=rows[-1].pk if rows else None)
    return moved if rows else None


def _move(workspace_id: int, rows: Sequence[WorkflowExecution]) -> int:
    policies = policy_source().for_campaigns(workspace_id, {row.campaign_id for row in rows})
    subjects = load_subjects(workspace_id, [(row.subject_type, row.subject_id) for row in rows])
    sheet, begun = FactSheet.of(policies.values()), _waits_begun(row.pk for row in rows)
    changes: dict[str, list[dict[str, Any]]] = {"wake_at": [], "eligible_at": []}
    for row in rows:
        subject = subjects.get((row.subject_type, row.subject_id))
        if subject is None or row.pk not in begun or row.campaign_id not in policies:
            continue
        end = _end(row, *begun[row.pk], sheet.facts(row, subject, policies[row.campaign_id]))
        column = "eligible_at" if row.wake_at is None else "wake_at"  # a delay before a step, or a wait at it
        old = getattr(row, column)
        if end is not None and old is not None and end != old:
            changes[column].append({"id": row.pk, "next_run_at": _next(row, old, end), column: end})
    return sum(
        len(update_from_values(WorkflowExecution, alike, guard={"status": MAY_WAIT}, increment=["revision"]))
        for alike in changes.values()
    )


def _next(row: WorkflowExecution, old: datetime, end: datetime) -> datetime:
    """Somebody may be woken before the end of a wait, to leave: never later than that."""
    sooner = row.next_run_at is not None and row.next_run_at < old
    return min(end, row.next_run_at) if sooner and row.next_run_at is not None else end


def _waits_begun(ids: Iterable[int]) -> dict[int, tuple[int | None, datetime]]:
    """At which step, and when, the last wait of each began. Two queries."""
    lines = WorkflowExecutionEvent.objects.filter(type=ExecutionEventType.WAIT_STARTED)
    newest = lines.filter(execution_id__in=list(ids)).values("execution_id").annotate(last=Max("pk"))
    found = lines.filter(pk__in=[one["last"] for one in newest])
    return {pk: (node, at) for pk, node, at in found.values_list("execution_id", "node_id", "occurred_at")}


def _end(row: WorkflowExecution, node_id: int | None, begun: datetime, facts: Facts) -> datetime | None:
    """When the wait that began then is over by the rules of today; None for what is no wait of that kind."""
    entry = compiled(row.workflow_version_id)
    node = entry.graph.nodes.get(entry.node_keys.get(node_id or 0, ""))
    try:
        match node:
            case WaitNode() | ClockWaitNode() | EventWaitNode() if node_id == row.current_node_id:
                return node.end(begun, facts) if row.entered else None
            case EndNode(delay=delay) if delay is not None and row.wake_at is None:
                return delay.after(begun, zone(facts.workspace_timezone))
            case _:
                return None
    except ZoneError:
        return None

"""Delivery reports, wherever they come from: matched, kept as history, and never a step of a workflow.

The webhook and the poll end here. A report changes its message only; executions are not touched.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef

from core import clock
from core.failpoints import failpoint
from core.tenancy import workspace_scope
from sms.delivery_reasons import reason_for
from sms.models import SmsLog, SmsLogEvent, SmsStatus, UnmatchedReport
from sms.transitions import furthest, move_forward
from sms.types import DeliveryReport, DeliveryStatus

log = structlog.get_logger(__name__)

EVENT = "delivery_report"
KEEP_UNMATCHED = timedelta(hours=72)
MAX_UNMATCHED = 5000  # in one workspace; a flood of invented ids is not kept
MAX_ID = 40
MAX_WORD = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A message with what was reported of it. `ambiguous`: its id names other messages too."""

    log_id: int
    workspace_id: int
    reports: tuple[DeliveryReport, ...]
    ambiguous: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """How many messages were recognised, how many moved on, how many reports wait for their message."""

    matched: int = 0
    moved: int = 0
    waiting: int = 0


def ingest_reports(workspace_id: int, reports: Sequence[DeliveryReport]) -> Ingested:
    """Take the reports of one workspace, in one transaction and a constant number of statements.

    A report is matched by the provider's id within the workspace, and stored once however often it
    comes. One whose message is not on record yet waits (`match_waiting`), because a fast provider
    may report before our own transaction has stored the id.
    """
    now = clock.now()
    usable = [report for report in reports if _is_id(report.provider_message_id)]
    with workspace_scope(workspace_id), transaction.atomic():
        matches, unmatched = _match(workspace_id, usable)
        moved = store(matches, now)
        waiting = _keep_waiting(workspace_id, unmatched, now)
        failpoint("report_tx")
    return Ingested(matched=len(matches), moved=moved, waiting=waiting)


def _is_id(text: str) -> bool:
    return 0 < len(text) <= MAX_ID and text.isprintable()


def _match(workspace_id: int, reports: Sequence[DeliveryReport]) -> tuple[list[Match], list[DeliveryReport]]:
    by_id: dict[str, list[DeliveryReport]] = defaultdict(list)
    for report in reports:
        by_id[report.provider_message_id].append(report)
    found: dict[str, list[int]] = defaultdict(list)
    rows = SmsLog.objects.filter(workspace_id=workspace_id, provider_message_id__in=by_id)
    for pk, message_id in rows.values_list("pk", "provider_message_id") if by_id else ():
        found[message_id].append(pk)
    matches = [
        Match(log_id=pk, workspace_id=workspace_id, reports=tuple(by_id[message_id]), ambiguous=len(pks) > 1)
        for message_id, pks in found.items()
        for pk in pks
    ]
    return matches, [report for report in reports if report.provider_message_id not in found]


def store(matches: Sequence[Match], now: datetime) -> int:
    """Add each report to its message's history once, and move the messages on; returns how many moved.

    System code: `matches` may lie in several workspaces and name their own. One statement for the
    history and at most one for each status and reason. An ambiguous id tells nothing certain of any of its
    messages: history only. Call it inside a transaction.
    """
    if not matches:
        return 0
    lock_messages(match.log_id for match in matches)
    SmsLogEvent.unscoped.bulk_create(
        [_event(match, report, now) for match in matches for report in match.reports], ignore_conflicts=True
    )
    goals: dict[tuple[SmsStatus, str], list[int]] = defaultdict(list)
    for match in matches:
        goal = furthest(report.status for report in match.reports)
        if match.ambiguous:
            log.warning("provider_id_conflict", sms_log_id=match.log_id, workspace_id=match.workspace_id)
        elif goal is not None:
            goals[goal, reason_for(match.reports, goal)].append(match.log_id)
    rows = SmsLog.unscoped.all()
    return sum(
        move_forward(rows, ids, goal, now, reason=reason) for (goal, reason), ids in sorted(goals.items())
    )


def lock_messages(ids: Iterable[int]) -> None:
    """Hold these messages until the transaction ends, in the order of their ids: two batches that share
    messages wait for each other instead of locking each other out. System code. One statement."""
    rows = SmsLog.unscoped.filter(pk__in=set(ids)).order_by("pk")
    list(rows.select_for_update(no_key=True).values_list("pk", flat=True))


def _event(match: Match, report: DeliveryReport, now: datetime) -> SmsLogEvent:
    word = str(storable(report.provider_status))[:MAX_WORD]
    return SmsLogEvent(
        workspace_id=match.workspace_id,
        sms_log_id=match.log_id,
        event=EVENT,
        provider_status=word,
        payload=storable(report.raw),
        dedupe_key=f"{EVENT}:{word}",
        occurred_at=now,
    )


def _keep_waiting(workspace_id: int, reports: Sequence[DeliveryReport], now: datetime) -> int:
    moving = [report for report in reports if report.status is not DeliveryStatus.UNKNOWN]
    moving.sort(key=lambda report: (report.provider_message_id, report.provider_status))  # one order for all
    if not moving or UnmatchedReport.objects.count() >= MAX_UNMATCHED:
        return 0
    rows = [
        UnmatchedReport(
            workspace_id=workspace_id,
            provider_message_id=report.provider_message_id,
            status=report.status,
            provider_status=str(storable(report.provider_status))[:MAX_WORD],
            payload=storable(report.raw),
            received_at=now,
        )
        for report in moving
    ]
    UnmatchedReport.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)


def match_waiting(now: datetime, *, limit: int = 500) -> int:
    """Give waiting reports to the messages that have come on record since; returns how many were used.

    System code, all workspaces. Reports that waited longer than `KEEP_UNMATCHED` are dropped.
    """
    message = SmsLog.unscoped.filter(
        workspace_id=OuterRef("workspace_id"), provider_message_id=OuterRef("provider_message_id")
    )
    rows = list(UnmatchedReport.unscoped.filter(Exists(message)).order_by("pk")[:limit])
    by_workspace: dict[int, list[UnmatchedReport]] = defaultdict(list)
    for row in rows:
        by_workspace[row.workspace_id].append(row)
    for workspace_id, waiting in by_workspace.items():
        with transaction.atomic():
            ingest_reports(workspace_id, [_report(row) for row in waiting])
            UnmatchedReport.unscoped.filter(pk__in=[row.pk for row in waiting]).delete()
    UnmatchedReport.unscoped.filter(received_at__lt=now - KEEP_UNMATCHED).delete()
    return len(rows)


def _report(row: UnmatchedReport) -> DeliveryReport:
    return DeliveryReport(
        provider_message_id=row.provider_message_id,
        status=DeliveryStatus(row.status),
        provider_status=row.provider_status,
        raw=row.payload,
    )


def storable(value: Any) -> Any:
    """A JSON value as both databases can hold it: no NUL, no half characters, no infinite numbers."""
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {storable(str(key)): storable(item) for key, item in value.items()}
    if isinstance(value, Iterable):
        return [storable(item) for item in value]
    return value

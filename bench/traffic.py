"""Messages through a whole installation: who is due, when all is done, and that the books agree."""

from __future__ import annotations

import sys
import time
from datetime import timedelta
from typing import Any

from bench.installation import Panel

POLL_S = 0.02


def make_due(campaign: Any, people: int) -> None:
    """Let `people` of the campaign who were not written to yet be due, from all over the table."""
    from django.db import connection
    from django.db.models import F

    from automation.models import WorkflowExecution
    from core import clock

    now = clock.now()
    waiting = WorkflowExecution.unscoped.filter(
        campaign_id=campaign.pk, status="waiting", consumes_budget=True, next_run_at__gt=now
    )
    chosen = waiting.order_by(F("pk") * 7919 % 100_003, "pk").values("pk")[:people]
    due = now - timedelta(minutes=1)
    found = WorkflowExecution.unscoped.filter(pk__in=chosen).update(next_run_at=due)
    if found != people:
        sys.exit(f"only {found} of {people} people are left: give more --rows")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE automation_workflowexecution")


def send_all(panel: Panel, people: int, *, patience_s: float = 600.0) -> float:
    """Tick until `people` more messages are accepted and recorded; the seconds it took."""
    from automation.runtime.tick import run_tick

    wanted = panel.counts()["messages"] + people
    began = time.perf_counter()
    claimed = 0
    while claimed < people:
        claimed += (report := run_tick()).claimed
        _in_time(began, patience_s, f"{people - claimed} people were not claimed: {report.as_dict()}")
    while panel.counts()["messages"] < wanted or is_anything_claimed():
        _in_time(began, patience_s, f"{wanted - panel.counts()['messages']} messages did not come")
        time.sleep(POLL_S)
    return time.perf_counter() - began


def _in_time(began: float, patience_s: float, problem: str) -> None:
    if time.perf_counter() - began > patience_s:
        sys.exit(f"gave up after {patience_s:.0f} s: {problem}")


def is_anything_claimed() -> bool:
    from automation.models import WorkflowExecution

    return bool(WorkflowExecution.unscoped.filter(locked_at__isnull=False).exists())


def check_books(panel: Panel) -> str:
    """Accepted by the panel = numbers = message rows = events = counters, else the bench fails."""
    from django.db.models import Sum

    from automation.models import CounterScope, DailyCounter, WorkflowExecutionEvent
    from sms.models import SmsLog, SmsStatus

    counts = panel.counts()
    used = DailyCounter.unscoped.filter(scope_type=CounterScope.CAMPAIGN).aggregate(used=Sum("used"))["used"]
    books = {
        "accepted": counts["messages"],
        "numbers": counts["numbers"],
        "rows": SmsLog.unscoped.filter(status=SmsStatus.SUBMITTED).count(),
        "all rows": SmsLog.unscoped.count(),
        "events": WorkflowExecutionEvent.unscoped.filter(type="sms_attempt").count(),
        "counters": used or 0,
    }
    if len(set(books.values())) != 1:
        sys.exit(f"the books do not agree: {books}")
    return f"books agree: {counts['messages']} messages accepted = rows = events = counters, none twice"

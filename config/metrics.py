"""What the monitoring system is told about campaigns and messages: a few cheap numbers.

Each query is bounded by an index or by a fixed number of rows, so a scrape costs the same with a
thousand people and with a million.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Count

from automation.models import WorkflowExecution
from campaigns.models import Campaign, CampaignStatus
from campaigns.policy import first_due
from core import clock, metrics
from core.metrics import Gauge
from sms.models import SmsLog

NEWEST = 10_000


def due_age() -> Iterator[Gauge]:
    """How long the longest waiting due step has waited, sending steps and others apart.

    People who wait for the next day's limit are due all the while: a sending step may well be a
    day old. Any other step that is older than a few minutes means that ticks or workers are behind.
    """
    running = Campaign.unscoped.filter(status=CampaignStatus.ACTIVE)
    rows: list[dict[str, Any]] = list(
        running.annotate(send=first_due(sends=True), other=first_due(sends=False)).values("send", "other")
    )
    now = clock.now()
    for kind in ("send", "other"):
        moments: list[datetime] = [row[kind] for row in rows if row[kind] is not None]
        age = max(((now - moment).total_seconds() for moment in moments), default=0.0)
        yield Gauge("peyk_due_age_seconds", "Age of the oldest due step.", max(age, 0.0), {"step": kind})


def claimed() -> Iterator[Gauge]:
    """Steps handed to workers, by how far they are."""
    rows = (
        WorkflowExecution.unscoped.filter(locked_at__isnull=False).values("status").annotate(rows=Count("pk"))
    )
    counts = {"queued": 0, "processing": 0, **{str(row["status"]): int(row["rows"]) for row in rows}}
    for status, count in sorted(counts.items()):
        yield Gauge("peyk_claimed_executions", "Steps in the hands of workers.", count, {"status": status})


def recent_messages() -> Iterator[Gauge]:
    """What became of the newest messages, by status."""
    newest = SmsLog.unscoped.order_by("-pk").values("pk", "status")[:NEWEST]
    rows = SmsLog.unscoped.filter(pk__in=newest.values("pk")).values("status").annotate(rows=Count("pk"))
    for row in sorted(rows, key=lambda row: str(row["status"])):
        yield Gauge(
            "peyk_recent_messages",
            f"The newest {NEWEST} messages by status.",
            int(row["rows"]),
            {"status": str(row["status"])},
        )


def register() -> None:
    """Called once at start-up by the wiring."""
    metrics.register("due age", due_age)
    metrics.register("claimed", claimed)
    metrics.register("recent messages", recent_messages)

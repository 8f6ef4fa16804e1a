"""People who wait for an event, and the events that the steps of a walk ask about.

An event is never written to an execution. `deliver_event` only makes those who wait for it due; the
worker that takes them asks the keeper of events (`automation.subject_events`) what happened since the
wait began, and the walk decides. So an event may be delivered twice, late or beside the time-out:
whatever comes first in time wins, and the walk goes on once, under its claim like every other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F

from automation import subject_events
from automation.definition_cache import VersionEntry
from automation.models import WorkflowExecution
from automation.runtime.rows import Walking
from automation.states import CLAIMED, ExecutionStatus
from automation.subject_events import Known, SubjectKey
from core.bulk import update_returning
from core.tenancy import workspace_scope
from engine.graph import EventWaitNode, Graph
from engine.types import Arrival, Facts, Park, Position

NOBODY: Known = {}


def deliver_event(workspace_id: int, event_name: str, subject: SubjectKey, now: datetime) -> int:
    """Make every walk of `subject` that waits for the event due at `now`; returns how many.

    Call it after the event is stored and committed, outside any transaction (RuntimeError within one), as
    often as you like: once somebody is due there is nothing left to do. Status, position and token stay
    as they are, so the claim decides who goes on.
    """
    if not event_name:
        return 0
    with workspace_scope(workspace_id):
        _outwait_workers(subject)
        waiting = WorkflowExecution.objects.filter(
            subject_type=subject[0], subject_id=subject[1], status=ExecutionStatus.WAITING,
            waiting_event=event_name, next_run_at__gt=now,
        ).exclude(waiting_event="")  # fmt: skip
        with transaction.atomic(durable=True):
            return len(update_returning(waiting, next_run_at=now, revision=F("revision") + 1))


def _outwait_workers(subject: SubjectKey) -> None:
    """Let each worker that holds a walk of `subject` finish its transaction.

    It may have read the events before this one and be about to let somebody wait for it. One lock at a
    time and none kept: nothing can wait in a circle.
    """
    held = WorkflowExecution.objects.filter(
        subject_type=subject[0], subject_id=subject[1], status__in=sorted(CLAIMED)
    )
    for pk in list(held.order_by("pk").values_list("pk", flat=True)):
        with transaction.atomic(durable=True):
            row = WorkflowExecution.objects.filter(pk=pk)
            list(row.select_for_update(of=("self",), no_key=True).values_list("pk"))


def known_events(
    workspace_id: int, rows: Iterable[Walking], entry: Callable[[Walking], VersionEntry],
    now: datetime,
) -> Known:  # fmt: skip
    """The events that the versions of `rows` ask about. No question where none asks."""
    asked: dict[SubjectKey, dict[str, datetime]] = {}
    for row in rows:
        graph = entry(row).graph
        if not graph.events:
            continue
        since = min(row.started_at or now, now - timedelta(days=graph.event_days))
        names = asked.setdefault((row.subject_type, row.subject_id), {})
        for name in graph.events:
            names[name] = min(since, names.get(name, since))
    return subject_events.happened(workspace_id, asked) if asked else NOBODY


def with_events(
    facts: Facts, arrivals: Iterable[Arrival], graph: Graph, position: Position, now: datetime
) -> Facts:
    """`facts` with what happened, and with the event that ends the wait at `position`, if one does."""
    moments: dict[str, list[datetime]] = {}
    for arrival in arrivals:
        moments.setdefault(arrival.name, []).append(arrival.at)
    node = graph.nodes.get(position.node)
    came = None
    if isinstance(node, EventWaitNode) and position.entered:
        came = node.first_match(arrivals, position, facts, now)
    return facts._replace(events=moments, arrival=came)


def due_at(park: Park, arrivals: Iterable[Arrival], graph: Graph, facts: Facts, now: datetime) -> datetime:
    """When somebody parked may run again: at once when what they wait for has come already."""
    node = graph.nodes.get(park.position.node) if park.event else None
    if isinstance(node, EventWaitNode) and node.first_match(arrivals, park.position, facts, now):
        return now
    return park.until


def arrivals_of(known: Mapping[SubjectKey, Iterable[Arrival]], row: Walking) -> list[Arrival]:
    return list(known.get((row.subject_type, row.subject_id), ()))

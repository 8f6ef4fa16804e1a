"""Telling those who wait that something happened: after the commit, again at every tick until it is done.

    register_listener("automation", wake_who_waits)

An event may be told twice (a worker died after the telling, the queue repeats a task): a listener must not
mind. It is called outside any transaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import structlog
from django.db.models import QuerySet

from core import clock
from core.failpoints import failpoint
from core.queue import Payload, enqueue, task
from core.tenancy import workspace_scope
from targets.models import TargetEventPending

log = structlog.get_logger(__name__)

DELIVER: Final = "targets.deliver_events"
GRACE: Final = timedelta(seconds=30)  # for the queue, which is told of each event; then the sweep takes it
RETRY_AFTER: Final = timedelta(minutes=10)
AT_ONCE: Final = 500
Listener = Callable[[int, str, int, datetime], object]

_listeners: dict[str, Listener] = {}


def register_listener(key: str, listener: Listener) -> None:
    """`listener(workspace_id, name, target_id, now)` hears of every event. Replaces one of the same key."""
    _listeners[key] = listener


def wake(workspace_id: int, ids: Sequence[int]) -> None:
    """Have these events told soon."""
    try:
        enqueue(DELIVER, {"workspace_id": workspace_id, "ids": list(ids)}, group="default")
    except Exception:  # whatever a broker raises: the sweep finds the events
        log.exception("events_not_queued", workspace_id=workspace_id, count=len(ids))


@task(DELIVER)
def deliver_events(payload: Payload) -> None:
    """Tell of events that were stored; a doubled task finds them told."""
    deliver(int(payload["workspace_id"]), [int(pk) for pk in payload["ids"]], clock.now())


def deliver(workspace_id: int, ids: Iterable[int], now: datetime) -> int:
    """Tell of these events, as far as nobody did; returns how many it was.

    One that a listener cannot take is logged and left for a later sweep; the others go on.
    """
    with workspace_scope(workspace_id):
        marks = TargetEventPending.objects.filter(event_id__in=list(ids)).order_by("event_id")
        rows = list(marks.values_list("event_id", "event__name", "event__target_id"))
        return sum(_tell(workspace_id, pk, name, target_id, now) for pk, name, target_id in rows)


def _tell(workspace_id: int, event_id: int, name: str, target_id: int, now: datetime) -> bool:
    mark = TargetEventPending.objects.filter(event_id=event_id)
    try:
        for listener in list(_listeners.values()):
            listener(workspace_id, name, target_id, now)
    except Exception:  # one event must not hold up the others
        log.exception("event_not_told", event_id=event_id, workspace_id=workspace_id)
        mark.update(due_at=now + RETRY_AFTER, updated_at=now)
        return False
    failpoint("event_told")
    return bool(mark.delete()[0])


def left(now: datetime) -> QuerySet[TargetEventPending]:
    """Events that the queue should have told by now."""
    return TargetEventPending.unscoped.filter(due_at__lte=now)


def sweep(now: datetime) -> Mapping[str, int]:
    """A step of each tick: tell what the queue left. System code, all workspaces."""
    found: dict[int, list[int]] = defaultdict(list)
    for workspace_id, pk in (
        left(now).order_by("due_at", "pk").values_list("workspace_id", "event_id")[:AT_ONCE]
    ):
        found[workspace_id].append(pk)
    return {"events_told": sum(deliver(home, ids, now) for home, ids in sorted(found.items()))}

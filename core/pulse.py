"""Is the queue worked? The scheduler asks through the queue itself, and whoever works it answers.

A worker that hangs or is gone gives no answer, whatever its process looks like from outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import structlog

from core.heartbeat import beat
from core.models import Heartbeat
from core.queue import Payload, enqueue, task

log = structlog.get_logger(__name__)

TASK = "core.pulse"
ASKED, ANSWERED = "pulse", "queue"
EVERY = timedelta(seconds=55)  # once a minute, also when a tick comes a little early
UNANSWERED_EVERY = timedelta(minutes=10)  # questions do not pile up before a worker that is gone


@task(TASK)
def answer(_payload: Payload) -> None:
    """Run by a worker: the queue is worked."""
    beat(ANSWERED)


def ask(now: datetime) -> Mapping[str, int]:
    """A step of each tick: put the question into the queue when it is time. Never fails the tick."""
    beats = dict(Heartbeat.objects.filter(name__in=(ASKED, ANSWERED)).values_list("name", "at"))
    asked, answered = beats.get(ASKED), beats.get(ANSWERED)
    if asked is not None:
        wait = EVERY if answered is not None and answered >= asked else UNANSWERED_EVERY
        if asked <= now < asked + wait:
            return {}
    beat(ASKED)
    try:
        enqueue(TASK, {}, group="default")
    except Exception:  # whatever a broker raises; the missing answer tells of it
        log.exception("pulse_not_queued")
    return {}

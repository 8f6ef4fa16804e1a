"""Is the queue worked? The scheduler asks through the queue itself, and whoever works it answers.

A worker that hangs or is gone gives no answer, whatever its process looks like from outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import structlog
from django.db.models import Exists, QuerySet

from core import one_host
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
    """Run by a worker: the queue is worked, and on which host. Raises `one_host.SecondHost`."""
    one_host.hold()
    beat(ANSWERED)


def questions(now: datetime) -> list[QuerySet[Heartbeat]]:
    """Rows that exist when it may be time to ask: any sign of life, unless we asked a moment ago."""
    fresh = Heartbeat.objects.filter(name=ASKED, at__lte=now, at__gt=now - EVERY)
    return [Heartbeat.objects.exclude(Exists(fresh))]


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

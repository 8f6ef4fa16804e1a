"""Queue tasks of the SMS channel."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import structlog

from core import clock
from core.heartbeat import beat, last_beat
from core.queue import Payload, enqueue, task
from sms import delivery

log = structlog.get_logger(__name__)

POLL_DELIVERIES = "sms.poll_deliveries"
ASKED, ANSWERED = "sms_poll_asked", "sms_poll_deliveries"
UNANSWERED_EVERY = timedelta(minutes=10)  # rounds do not pile up before a worker that is gone


@task(POLL_DELIVERIES)
def poll_deliveries(payload: Payload) -> None:
    """One round of questions. The payload is empty; a doubled message finds the round taken and ends."""
    report = delivery.poll_due(clock.now(), limit=int(payload.get("limit", 200)))
    beat(ANSWERED, report.as_dict())


def ask_for_polling(now: datetime) -> Mapping[str, int]:
    """A step of each tick: put a round into the queue when a message is due. Never fails the tick."""
    if not delivery.anything_due(now):
        return {}
    asked, answered = last_beat(ASKED), last_beat(ANSWERED)
    unanswered = asked is not None and (answered is None or answered < asked)
    if asked is not None and unanswered and asked <= now < asked + UNANSWERED_EVERY:
        return {}
    beat(ASKED)
    try:
        enqueue(POLL_DELIVERIES, {}, group="default")
    except Exception:  # whatever a broker raises: the next tick asks again
        log.exception("sms_poll_not_queued")
        return {}
    return {"sms_polls": 1}

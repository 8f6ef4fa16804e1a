"""Queue tasks of the SMS channel, and the steps of each tick that queue them when there is work."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import structlog

from core import clock
from core.heartbeat import beat, last_beat
from core.queue import Payload, enqueue, task
from core.tenancy import workspace_scope
from sms import credit, delivery, reconcile, retries

log = structlog.get_logger(__name__)

POLL_DELIVERIES = "sms.poll_deliveries"
ASKED, ANSWERED = "sms_poll_asked", "sms_poll_deliveries"
RECONCILE = "sms.reconcile"
RECONCILE_ASKED, RECONCILE_ANSWERED = "sms_reconcile_asked", "sms_reconcile"
CHECK_CREDIT = "sms.check_credit"
CREDIT_ASKED, CREDIT_ANSWERED = "sms_credit_asked", "sms_credit"
RETRIES_AT_ONCE = 200
UNANSWERED_EVERY = timedelta(minutes=10)  # rounds do not pile up before a worker that is gone


@task(POLL_DELIVERIES)
def poll_deliveries(payload: Payload) -> None:
    """One round of questions. The payload is empty; a doubled message finds the round taken and ends."""
    report = delivery.poll_due(clock.now(), limit=int(payload.get("limit", 200)))
    beat(ANSWERED, report.as_dict())


@task(RECONCILE)
def look_up_unknown(_payload: Payload) -> None:
    """One round of looking up unknown outcomes; a doubled message finds the round taken and ends."""
    beat(RECONCILE_ANSWERED, reconcile.reconcile_due(clock.now()).as_dict())


@task(CHECK_CREDIT)
def check_credit(_payload: Payload) -> None:
    """Ask every account whose credit is due to be asked for."""
    beat(CREDIT_ANSWERED, {"accounts": credit.check_due(clock.now())})


@task(retries.SEND)
def send_retries(payload: Payload) -> None:
    """Send what support asked for; a doubled task finds it taken."""
    with workspace_scope(int(payload["workspace_id"])):
        retries.send_due(clock.now())


def ask_for_retries(now: datetime) -> Mapping[str, int]:
    """A step of each tick: have retries sent that the queue left."""
    workspaces = sorted(set(retries.due_rows(now).values_list("workspace_id", flat=True)[:RETRIES_AT_ONCE]))
    for workspace_id in workspaces:
        retries.wake(workspace_id)
    return {"retries_asked": len(workspaces)} if workspaces else {}


def ask_for_polling(now: datetime) -> Mapping[str, int]:
    """A step of each tick: put a round into the queue when a message is due. Never fails the tick."""
    if not delivery.anything_due(now) or not _queued(POLL_DELIVERIES, ASKED, ANSWERED, now):
        return {}
    return {"sms_polls": 1}


def ask_for_reconciling(now: datetime) -> Mapping[str, int]:
    """A step of each tick: put a round of looking up into the queue when one is due. Never fails the tick."""
    if not reconcile.anything_due(now) or not _queued(RECONCILE, RECONCILE_ASKED, RECONCILE_ANSWERED, now):
        return {}
    return {"sms_reconciles": 1}


def ask_for_credit(now: datetime) -> Mapping[str, int]:
    """A step of each tick: put a credit check into the queue when one is due. Never fails the tick."""
    if not credit.anything_due(now) or not _queued(CHECK_CREDIT, CREDIT_ASKED, CREDIT_ANSWERED, now):
        return {}
    return {"sms_credit_checks": 1}


def _queued(name: str, asked_beat: str, answered_beat: str, now: datetime) -> bool:
    """Whether the task was put into the queue; not while an earlier one has no answer yet."""
    asked, answered = last_beat(asked_beat), last_beat(answered_beat)
    unanswered = asked is not None and (answered is None or answered < asked)
    if asked is not None and unanswered and asked <= now < asked + UNANSWERED_EVERY:
        return False
    beat(asked_beat)
    try:
        enqueue(name, {}, group="default")
    except Exception:  # whatever a broker raises: the next tick asks again
        log.exception("sms_task_not_queued", task=name)
        return False
    return True

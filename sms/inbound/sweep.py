"""What the queue did not bring to its end: found again at every tick. System code, all workspaces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db.models import QuerySet

from core import clock
from core.queue import Payload, task
from core.tenancy import workspace_scope
from sms.inbound import replies
from sms.inbound.processing import process
from sms.inbound.storing import GRACE, PROCESS
from sms.models import InboundPending, SmsLog, SmsStatus

AT_ONCE = 200
ABANDONED_AFTER = timedelta(minutes=10)  # longer than any call


@task(PROCESS)
def process_inbound(payload: Payload) -> None:
    """Act on messages that came in; a doubled task finds them done."""
    with workspace_scope(int(payload["workspace_id"])):
        process([int(pk) for pk in payload["ids"]], clock.now())


@task(replies.SEND)
def send_replies(payload: Payload) -> None:
    """Send the answers that are due; a doubled task finds them taken."""
    with workspace_scope(int(payload["workspace_id"])):
        replies.send_due(clock.now())


def left(now: datetime) -> QuerySet[InboundPending]:
    """Messages that the queue should have brought to their end by now."""
    return InboundPending.unscoped.filter(due_at__lte=now)


def due_replies(now: datetime) -> QuerySet[SmsLog]:
    """Answers that wait and may leave."""
    waiting = _replies().filter(status=SmsStatus.QUEUED)
    return waiting.filter(created_at__lte=now - GRACE).exclude(not_before__gt=now)


def abandoned(now: datetime) -> QuerySet[SmsLog]:
    """Answers, tests and retries by hand whose worker died while it called the provider; what a walk claimed
    has a token, and a reaper of its own."""
    alone = SmsLog.unscoped.filter(status=SmsStatus.SENDING, claim_token__isnull=True)
    return alone.filter(request_at__lt=now - ABANDONED_AFTER)


def _replies() -> QuerySet[SmsLog]:
    return SmsLog.unscoped.filter(campaign_id__isnull=True, producer=replies.PRODUCER)


def sweep(now: datetime) -> Mapping[str, int]:
    """A step of each tick: work on messages that the queue left.

    A no must be heard while the queue is down, so they are worked on here; it calls nobody.
    """
    by_workspace: dict[int, list[int]] = defaultdict(list)
    for workspace_id, pk in (
        left(now).order_by("due_at", "pk").values_list("workspace_id", "inbound_id")[:AT_ONCE]
    ):
        by_workspace[workspace_id].append(pk)
    done = 0
    for workspace_id, ids in sorted(by_workspace.items()):
        with workspace_scope(workspace_id):
            done += process(ids, now)
    return {"inbound_swept": done}


def ask_for_replies(now: datetime) -> Mapping[str, int]:
    """A step of each tick: have due answers sent. What an abandoned call came to is unknown; it is never
    sent again."""
    abandoned(now).update(status=SmsStatus.UNKNOWN, response_at=now, error_code="interrupted", updated_at=now)
    workspaces = sorted(set(due_replies(now).values_list("workspace_id", flat=True)[:AT_ONCE]))
    for workspace_id in workspaces:
        replies.wake(workspace_id)
    return {"replies_asked": len(workspaces)}

"""Keeping what came in: once, before anything is done about it."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

import structlog
from django.db import transaction

from core import clock
from core.bulk import insert_rows
from core.failpoints import failpoint
from core.queue import enqueue
from core.tenancy import workspace_scope
from sms.inbound.reading import Incoming
from sms.models import InboundPending, InboundSms

log = structlog.get_logger(__name__)

PROCESS = "sms.process_inbound"
# A relay that repeats a message does so at once; a person who writes the same again takes longer.
REPEATED_WITHIN = timedelta(minutes=5)
GRACE = timedelta(seconds=30)  # for the queue, which is told of each message; then the sweep takes it


def store(workspace_id: int, message: Incoming) -> int | None:
    """Keep the message and have it worked on soon; returns its number, or None for one that came before.

    With an id of the provider, that id and the content decide. Without one, the same text from the same
    sender is a repetition while it follows directly and within `REPEATED_WITHIN`: somebody who says no,
    then yes, then no again is heard three times. A unique key decides between twins at the same moment.
    """
    now = clock.now()
    with workspace_scope(workspace_id), transaction.atomic():
        key = _key(message, now)
        inserted = insert_rows(InboundSms, [_row(workspace_id, message, key, now)], skip_conflicts=True)
        if not inserted:
            return None
        pk = inserted[0][0]
        insert_rows(InboundPending, [{"inbound_id": pk, "workspace_id": workspace_id, "due_at": now + GRACE}])
        transaction.on_commit(lambda: _wake(workspace_id, pk))
        failpoint("inbound_stored_tx")
    return pk


def _row(workspace_id: int, message: Incoming, key: str, now: datetime) -> dict[str, object]:
    return {
        "dedupe_key": key,
        "workspace_id": workspace_id,
        "received_at": now,
        "sender": message.sender,
        "number": message.number,
        "line": message.line,
        "text": message.text,
        "reference": message.reference,
        "unread": dict(message.unread),
    }


def _key(message: Incoming, now: datetime) -> str:
    content = _digest(message.sender, message.line, message.text, *map(str, message.unread.items()))
    if message.reference:
        return f"id:{_digest(message.reference, content)}"
    if not message.number:  # nobody's conversation: the same content once in a while
        return f"at:{content}:{int(now.timestamp()) // int(REPEATED_WITHIN.total_seconds())}"
    last = (
        InboundSms.objects.filter(number=message.number)
        .order_by("-id")
        .values_list("pk", "sender", "line", "text", "received_at", "dedupe_key")
        .first()
    )
    if last is None:
        return f"after:0:{content}"
    pk, sender, line, text, received_at, key = last
    same = (sender, line, text) == (message.sender, message.line, message.text)
    if same and now - received_at < REPEATED_WITHIN:
        return str(key)
    return f"after:{pk}:{content}"


def _digest(*parts: str) -> str:
    whole = "\x1f".join(parts).encode("utf-8", "replace")
    return hashlib.blake2b(whole, digest_size=16).hexdigest()


def _wake(workspace_id: int, pk: int) -> None:
    try:
        enqueue(PROCESS, {"workspace_id": workspace_id, "ids": [pk]}, group="default")
    except Exception:  # whatever a broker raises: the sweep finds the message
        log.exception("inbound_not_queued", inbound_id=pk)

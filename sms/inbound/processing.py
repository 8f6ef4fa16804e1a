"""Acting on what came in: no, yes again, a keyword of somebody else, or nothing.

One message is one transaction: what it did and the note that it did it are stored together, so a message
that was worked on twice at once, or whose worker died, did it once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import structlog
from django.db import OperationalError, transaction

from blacklist import actions as blacklist
from blacklist.models import Channel, Reason, Source
from blacklist.queries import is_blocked
from core.bulk import insert_rows
from core.failpoints import failpoint
from sms.inbound import hooks, replies
from sms.inbound.hooks import Inbound, Subject
from sms.inbound.preferences import preferences_of, words_of
from sms.inbound.words import Meaning, Words, word_key
from sms.models import InboundEffect, InboundOutcome, InboundPending, InboundSettings, InboundSms
from workspaces import audit

log = structlog.get_logger(__name__)

RETRY_AFTER = timedelta(minutes=10)
SAID_NO = frozenset({InboundEffect.OPTED_OUT, InboundEffect.OPTED_OUT_BEFORE})


def process(ids: Iterable[int], now: datetime) -> int:
    """Act on these messages of the active workspace, as far as they wait; returns how many it was.

    A message that cannot be worked on is logged and left for a later sweep; the others go on.
    """
    rows = list(InboundSms.objects.filter(pk__in=list(ids), pending__isnull=False).order_by("pk"))
    if not rows:
        return 0
    preferences = preferences_of(rows[0].workspace_id)
    words = words_of(preferences)
    return sum(_attempt(row, words, preferences, now) for row in rows)


def _attempt(row: InboundSms, words: Words, preferences: InboundSettings, now: datetime) -> bool:
    pending = InboundPending.objects.filter(inbound_id=row.pk)
    try:
        with transaction.atomic():
            # Whoever takes the mark away does it all; another worker waits here and finds it gone.
            if not pending.delete()[0]:
                return False
            _act(row, words, preferences)
            failpoint("inbound_tx")
    except Exception:  # one message must not hold up the others
        log.exception("inbound_failed", inbound_id=row.pk, workspace_id=row.workspace_id)
        pending.update(due_at=now + RETRY_AFTER, updated_at=now)
        return False
    return True


def _act(row: InboundSms, words: Words, preferences: InboundSettings) -> None:
    effect = _effect(row, words)
    subject = _subject(row, effect)
    reply_id = None
    if effect == InboundEffect.OPTED_OUT:
        reply_id = replies.reserve(row, preferences.confirmation, subject)
    used = _tell(row, effect, subject)
    if effect == InboundEffect.NOTHING and used:
        effect = InboundEffect.HANDLED
    note = {
        "inbound_id": row.pk,
        "workspace_id": row.workspace_id,
        "effect": effect,
        "subject_type": subject.subject_type if subject else "",
        "subject_id": subject.subject_id if subject else None,
        "reply_id": reply_id,
        "handled_by": used,
    }
    insert_rows(InboundOutcome, [note])


def _effect(row: InboundSms, words: Words) -> InboundEffect:
    """Do what the words ask for."""
    if row.unread:
        return InboundEffect.UNREADABLE
    if not row.number:
        return InboundEffect.UNKNOWN_SENDER
    meaning = words.meaning(row.text)
    if meaning is Meaning.OPT_OUT:
        return _opt_out(row)
    return _opt_in(row) if meaning is Meaning.OPT_IN else InboundEffect.NOTHING


def _opt_out(row: InboundSms) -> InboundEffect:
    """Block the number; who is on the way to it stops at the next send."""
    result = blacklist.add(
        workspace_id=row.workspace_id,
        channel=Channel.SMS,
        values=[row.number],
        source=Source.OPT_OUT,
        reason=Reason.OPT_OUT,
        user=None,
    )
    return InboundEffect.OPTED_OUT if result.changed else InboundEffect.OPTED_OUT_BEFORE


def _opt_in(row: InboundSms) -> InboundEffect:
    """Take back the person's own no. What an operator, a file or a complaint blocked stays blocked."""
    removed = blacklist.remove(
        workspace_id=row.workspace_id,
        channel=Channel.SMS,
        values=[row.number],
        user=None,
        only_source=Source.OPT_OUT,
    )
    if removed:
        return InboundEffect.OPTED_IN
    if not is_blocked(row.workspace_id, Channel.SMS, row.number):
        return InboundEffect.OPT_IN_IDLE
    # Somebody else decided; they are told that the person asks (the start page says so too).
    audit.record("sms.asked_back", entity=row, new={"inbound": row.pk}, user=None)
    return InboundEffect.OPT_IN_REFUSED


def _subject(row: InboundSms, effect: InboundEffect) -> Subject | None:
    if not row.number:
        return None
    try:
        with transaction.atomic():
            return hooks.subject_of(row.number)
    except Exception as exc:  # not knowing whose number it is must not undo an opt-out
        if isinstance(exc, OperationalError) and effect not in SAID_NO:
            raise
        log.exception("inbound_matcher_failed", inbound_id=row.pk)
        return None


def _tell(row: InboundSms, effect: InboundEffect, subject: Subject | None) -> Sequence[str]:
    """Show the message to whoever registered; returns who used it.

    Raises OperationalError where the database was too busy for one of them: the message is worked on again as
    a whole, so nobody misses it. A no does not wait for that.
    """
    if not row.number:
        return []
    message = Inbound(
        id=row.pk, workspace_id=row.workspace_id, number=row.number, line=row.line, text=row.text,
        key=word_key(row.text), effect=effect, subject=subject, received_at=row.received_at,
    )  # fmt: skip
    used = []
    for key, handler in hooks.handlers().items():
        try:
            with transaction.atomic():
                if handler(message):
                    used.append(key)
        except Exception as exc:  # somebody else's mistake must not undo an opt-out
            if isinstance(exc, OperationalError) and effect not in SAID_NO:
                raise
            log.exception("inbound_handler_failed", handler=key, inbound_id=row.pk)
    return used

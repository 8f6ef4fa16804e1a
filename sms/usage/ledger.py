"""Writing the ledger: one row for each message that a provider accepted, whoever sent it and however often
it is asked for.

Writing is a side effect: when it fails, the outcome of the message stands, the message is named in the log,
and `missing` finds it again. Only accepted messages count. What a provider refused, never got, or may have
got (`unknown`) has no row; an unknown one that is proven accepted later gets its row then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import DatabaseError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from core.bulk import insert_rows
from core.tenancy import current_workspace_id
from sms.models import ACCEPTED_STATUSES, Script, SmsLog, SmsStatus, SmsUsage
from sms.parts import GSM, count_parts
from sms.providers.registry import simulated_kinds

log = structlog.get_logger(__name__)

NOBODY = frozenset({"", "none"})  # the "providers" of messages that no provider saw
ANSWERED_WITHIN = timedelta(hours=1)
CHUNK = 1000
# A report may call a message failed that was accepted; a provider's id proves that it was.
ACCEPTED = Q(status__in=ACCEPTED_STATUSES) | (
    Q(status__in=(SmsStatus.FAILED, SmsStatus.REJECTED)) & ~Q(provider_message_id="")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """An accepted message. `reported`: the parts that the provider counted, if it did."""

    log_id: int
    event_type: str
    text: str = field(repr=False)
    counted: int
    reported: int | None
    line: str
    campaign_id: int | None
    provider: str
    at: datetime


def enter(messages: Sequence[Accepted]) -> None:
    """Write the rows of these messages of the active workspace; those that have one keep it.

    Call it in the transaction that records the acceptance. One statement in a savepoint. Raises nothing.
    """
    unbilled = _unbilled()
    rows = [_row(message) for message in messages if message.provider not in unbilled]
    if not rows:
        return
    try:
        with transaction.atomic():
            insert_rows(SmsUsage, rows, skip_conflicts=True)
    except DatabaseError:
        log.exception("usage_not_written", sms_log_ids=[row["sms_log_id"] for row in rows])


def enter_messages(ids: Iterable[int]) -> None:
    """`enter` for messages on record: of these, the accepted ones of the active workspace. Two statements.

    For whoever settles an outcome in a transaction of its own: call it inside, after the message has its
    new status. Raises nothing.
    """
    enter(_accepted(SmsLog.objects.filter(ACCEPTED, pk__in=list(ids))))


def missing(*, after: int = 0) -> Iterator[list[Accepted]]:
    """Accepted messages of the active workspace without a row, in pieces, by message number from `after`."""
    while True:
        written = SmsUsage.objects.filter(sms_log_id=OuterRef("pk"))
        rows = SmsLog.objects.filter(ACCEPTED, ~Exists(written), pk__gt=after)
        found = _accepted(rows.exclude(provider__in=_unbilled()).order_by("pk")[:CHUNK])
        if not found:
            return
        yield found
        after = found[-1].log_id


def unknown_outcomes() -> int:
    """Messages of the active workspace that may have been accepted: they are not in the ledger."""
    return SmsLog.objects.filter(status=SmsStatus.UNKNOWN).count()


def script_of(text: str) -> Script:
    """The alphabet that the text is billed in."""
    return Script.LATIN if GSM.issuperset(text) else Script.PERSIAN


def _unbilled() -> frozenset[str]:
    return NOBODY | simulated_kinds()


def _accepted(rows: QuerySet[SmsLog]) -> list[Accepted]:
    columns = rows.values_list(
        "pk", "producer", "final_message", "segments", "sender_number", "campaign_id", "provider",
        "request_at", "response_at", "created_at",
    )  # fmt: skip
    return [
        Accepted(
            log_id=pk, event_type=producer, text=text, counted=count_parts(text).parts, reported=segments,
            line=line, campaign_id=campaign_id, provider=provider,
            at=_accepted_at(asked or made, answered),
        )
        for pk, producer, text, segments, line, campaign_id, provider, asked, answered, made in columns
    ]  # fmt: skip


def _accepted_at(asked: datetime, answered: datetime | None) -> datetime:
    """A provider answers at once: what was settled much later was accepted when it was asked for."""
    in_time = answered is not None and answered - asked <= ANSWERED_WITHIN
    return answered if answered is not None and in_time else asked


def _row(message: Accepted) -> dict[str, Any]:
    return {
        "sms_log_id": message.log_id,
        "workspace_id": current_workspace_id(),
        "event_type": message.event_type,
        "sent_on": message.at,
        "message_count": 1,
        "sms_count": max(1, message.counted if message.reported is None else message.reported),
        "counted_parts": max(1, message.counted),
        "script": script_of(message.text),
        "line": message.line,
        "campaign_id": message.campaign_id,
        "provider": message.provider,
    }

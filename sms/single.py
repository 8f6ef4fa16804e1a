"""Storing what came of a message that left by itself, outside any chunk: a test, an answer to an opt-out."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sms.models import SmsLog, SmsStatus
from sms.sending import FIRST_POLL, STATUS_OF
from sms.types import SendResult
from sms.usage import ledger


def store_result(row: SmsLog, result: SendResult, now: datetime, *, still: Collection[SmsStatus]) -> None:
    """Store the outcome once: only a row that is `still` one of these takes one. Callers own the transaction.

    An accepted message gets its row in the ledger.
    """
    message_id = (result.provider_message_id or "")[:40]
    SmsLog.objects.filter(pk=row.pk, status__in=still).update(
        status=STATUS_OF[result.outcome],
        response_at=now,
        provider_message_id=message_id,
        provider_response=dict(result.raw),
        error_code=result.code[:40],
        segments=result.parts or row.segments,
        poll_at=now + FIRST_POLL if message_id else None,
        updated_at=now,
    )
    ledger.enter_messages([row.pk])

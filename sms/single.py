"""Storing what came of a message that left by itself, outside any chunk: a test, an answer to an opt-out."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from uuid import UUID

import structlog
from django.conf import settings

from sms import breaker, queries, rate
from sms.channel import Account
from sms.lines import NOT_APPROVED
from sms.models import SmsLog, SmsStatus
from sms.sending import FIRST_POLL, STATUS_OF, THROTTLE_PAUSE
from sms.types import Outcome, SendResult
from sms.usage import ledger

log = structlog.get_logger(__name__)


def in_time(rows: Sequence[SmsLog]) -> Iterator[SmsLog]:
    """One row after another (the first in any case) while a call ends before the queue stops the task."""
    last = time.monotonic() + settings.TASK_TIME_LIMIT - 2 * settings.HTTP_BUDGET_SECONDS
    for row in rows:
        yield row
        if time.monotonic() > last:
            return


def permitted(account_id: UUID) -> bool:
    """Whether the account's rate has room for one more message at this moment; takes it."""
    limit = next((row.rate_per_second for row in queries.usable_accounts(queries.current_workspace())
                  if row.pk == account_id), 0)  # fmt: skip
    return not limit or rate.take(str(account_id), rate=limit, wanted=1, patience=0.0) is not None


def offer(account: Account, row: SmsLog, sender: str) -> SendResult:
    """The one call for a message that was claimed. Raises nothing."""
    sms = account.outbound(
        to=row.phone_number, text=row.final_message, sender=sender, reference=row.idempotency_key
    )
    if sms is None:
        return SendResult(outcome=Outcome.REFUSED, code=NOT_APPROVED)
    try:
        return account.gateway.send(sms, deadline_s=float(settings.HTTP_BUDGET_SECONDS))
    except Exception:  # a mistake of ours after the request began: it may have gone out
        log.exception("gateway_raised", log_id=row.pk)
        return SendResult(outcome=Outcome.IN_DOUBT, code="internal_error")


def status_of(result: SendResult) -> SmsStatus:
    return STATUS_OF[result.outcome]


def judge(account: Account, result: SendResult, now: datetime) -> None:
    """What the answer says of the account."""
    if result.outcome in (Outcome.UNAVAILABLE, Outcome.THROTTLED):
        pause = account.backoff if result.outcome is Outcome.UNAVAILABLE else THROTTLE_PAUSE
        breaker.close(account.id, until=now + pause, reason=result.code, now=now)
    elif not account.half_open:
        return
    elif result.outcome in (Outcome.ACCEPTED, Outcome.REFUSED) and result.code != NOT_APPROVED:
        breaker.reopen(account.id, now)
    else:
        breaker.release_trials([account.id], now)


def store_result(row: SmsLog, result: SendResult, now: datetime, *, still: Collection[SmsStatus]) -> bool:
    """Store the outcome once: only a row that is `still` one of these takes one; returns whether it did.

    Callers own the transaction. An accepted message gets its row in the ledger.
    """
    message_id = (result.provider_message_id or "")[:40]
    stored = SmsLog.objects.filter(pk=row.pk, status__in=still).update(
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
    return stored == 1

"""What a described provider can be asked: what became of a message, and what is left. GET, one answer each.

Both are optional. A word of the provider that the customer did not list says nothing; nothing here sends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Final

from sms.providers.codes import http_code, meaning_of
from sms.providers.generic_reading import at, document_of
from sms.providers.http import CallFault, Reply
from sms.providers.masking import masked
from sms.types import CreditResult, DeliveryReport, DeliveryStatus, Outcome

# What the customer may say of a word of the provider about a delivery.
DELIVERY_WORDS: Final = frozenset(
    {
        DeliveryStatus.PENDING, DeliveryStatus.SENT, DeliveryStatus.DELIVERED, DeliveryStatus.UNDELIVERED,
        DeliveryStatus.FAILED, DeliveryStatus.REJECTED,
    }
)  # fmt: skip


def read_delivery(
    message_id: str, reply: Reply | CallFault, *, path: str, words: Mapping[str, str], secrets: Sequence[str]
) -> DeliveryReport | None:
    """The report of one answer; None when it says nothing. Pure; never raises."""
    if isinstance(reply, CallFault) or not 200 <= reply.status < 300:
        return None
    word = at(document_of(reply.body), path)
    if word is None or not word.strip():
        return None
    status = words.get(word.strip(), "")
    return DeliveryReport(
        provider_message_id=message_id,
        status=DeliveryStatus(status) if status in DELIVERY_WORDS else DeliveryStatus.UNKNOWN,
        provider_status=masked(word.strip(), secrets)[:60],
        raw={"http_status": reply.status, "body": masked(reply.body.decode("utf-8", "replace"), secrets)},
    )


def read_credit(reply: Reply | CallFault, *, path: str, secrets: Sequence[str]) -> CreditResult:
    """What is left by one answer. Pure; never raises."""
    if isinstance(reply, CallFault):
        return _unread(reply.code, {"error": reply.detail})
    raw = {"http_status": reply.status, "body": masked(reply.body.decode("utf-8", "replace"), secrets)}
    if not 200 <= reply.status < 300:
        return _unread(http_code(reply.status), raw)
    try:
        amount = Decimal((at(document_of(reply.body), path) or "").strip()[:32])
    except InvalidOperation:
        return _unread("unreadable_answer", raw)
    if not amount.is_finite():
        return _unread("unreadable_answer", raw)
    return CreditResult(outcome=Outcome.ACCEPTED, amount=amount, raw=raw)


def _unread(code: str, raw: Mapping[str, object]) -> CreditResult:
    return CreditResult(outcome=meaning_of(code, {}).outcome, code=code, raw=raw)

"""Which messages of a chunk share one call to the provider, and that call.

Each message keeps its own row and gets its own result, whoever it travels with. An account decides how
many may travel together: the larger the call, the more messages a single lost answer leaves in doubt.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import structlog
from django.conf import settings

from core.failpoints import failpoint
from sms.channel import Account
from sms.providers.base import BulkSmsGateway
from sms.types import OutboundSms, Outcome, SendResult

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One message that is about to be offered. `place` is its place in the chunk."""

    place: int
    account: Account
    sms: OutboundSms = field(repr=False)


def calls_of(offers: Sequence[Offer]) -> list[list[Offer]]:
    """The offers as calls, in the order of their first messages; most often one message each."""
    calls: list[list[Offer]] = []
    open_calls: dict[tuple[UUID, Hashable], list[Offer]] = {}
    for offer in offers:
        key, limit = _key(offer)
        call = open_calls.get((offer.account.id, key)) if key is not None else None
        if call is None or len(call) >= limit:
            call = []
            calls.append(call)
            if key is not None:
                open_calls[(offer.account.id, key)] = call
        call.append(offer)
    return calls


def _key(offer: Offer) -> tuple[Hashable | None, int]:
    gateway, account = offer.account.gateway, offer.account
    if account.batch_size < 2 or account.half_open or not isinstance(gateway, BulkSmsGateway):
        return None, 1
    return gateway.batch_key(offer.sms), min(account.batch_size, gateway.batch_limit)


class Caller:
    """Makes the calls of one chunk. Safe to share between threads."""

    def __init__(self, deadline: float) -> None:
        """`deadline` is a `time.monotonic()` moment: what has not begun by then is surely not sent."""
        self._deadline = deadline
        self._closed: set[UUID] = set()

    def __call__(self, call: Sequence[Offer]) -> list[SendResult]:
        """One result for each message of the call. Raises nothing."""
        account = call[0].account
        if account.id in self._closed:
            return [SendResult(outcome=Outcome.UNAVAILABLE, code="channel_closed")] * len(call)
        left = min(float(settings.HTTP_BUDGET_SECONDS), self._deadline - time.monotonic())
        if left <= 0:
            return [SendResult(outcome=Outcome.NOT_SENT, code="too_late")] * len(call)
        failpoint("before_socket")
        try:
            results = send(call, left)
        except Exception:  # a mistake of ours after the request began: it may have gone out
            log.exception("gateway_raised", keys=[offer.sms.reference for offer in call])
            results = [SendResult(outcome=Outcome.IN_DOUBT, code="internal_error")] * len(call)
        failpoint("after_http")
        if any(result.outcome in (Outcome.UNAVAILABLE, Outcome.THROTTLED) for result in results):
            self._closed.add(account.id)  # the rest of the chunk would only knock at the same closed door
        return results


def send(call: Sequence[Offer], deadline_s: float) -> list[SendResult]:
    """One call; one result for each of its messages, in their order.

    A gateway that answers for more or fewer messages than it was given has a fault of its own: then
    nothing is known of any of them.
    """
    gateway = call[0].account.gateway
    if len(call) == 1:
        return [gateway.send(call[0].sms, deadline_s=deadline_s)]
    if not isinstance(gateway, BulkSmsGateway):
        raise TypeError("this gateway takes one message a call")
    results = gateway.send_many([offer.sms for offer in call], deadline_s=deadline_s)
    if len(results) != len(call):
        return [SendResult(outcome=Outcome.IN_DOUBT, code="internal_error")] * len(call)
    return results

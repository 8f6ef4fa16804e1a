"""The contract between the product and a provider of SMS."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from sms.types import CreditResult, DeliveryReport, OutboundSms, Outbox, SendResult


@runtime_checkable
class SmsGateway(Protocol):
    """One account at one provider. Safe to share between threads; holds no state of a message.

    No method raises for anything a provider or the network does: faults are outcomes. What an
    adapter raises is a mistake in this code base.
    """

    @property
    def key(self) -> str:
        """The registered kind, such as `melipayamak`; stored as the message's provider."""
        ...

    def send(self, sms: OutboundSms, *, deadline_s: float) -> SendResult:
        """Offer one message, with exactly one HTTP POST or none, and say what became of it.

        Never retries, follows no redirect, and writes no byte once `deadline_s` (seconds from the
        call, over connecting, writing and reading together) is over. Whatever does not prove
        otherwise is `IN_DOUBT`; an answer that no table lists proves nothing.
        """
        ...

    def deliveries(self, ids: Sequence[str]) -> list[DeliveryReport]:
        """What is known of these messages. An id about which the provider could not be asked, or gave
        no usable answer, is absent. Order is not promised."""
        ...

    def credit(self) -> CreditResult:
        """What is left on the account."""
        ...

    def lines(self) -> list[str]:
        """The sender lines of the account; empty when there are none or they cannot be read."""
        ...


@runtime_checkable
class BulkSmsGateway(Protocol):
    """What a gateway also has when its provider takes many messages in one call."""

    @property
    def batch_limit(self) -> int:
        """The most messages one call takes."""
        ...

    def batch_key(self, sms: OutboundSms) -> Hashable | None:
        """Messages with equal keys may share a call. None: this one must go alone."""
        ...

    def send_many(self, messages: Sequence[OutboundSms], *, deadline_s: float) -> list[SendResult]:
        """Offer messages of one key with one call; one result each, in their order.

        As `SmsGateway.send`, for all of them: a lost or unreadable answer leaves every message in doubt.
        So does an answer that does not name every message: it gives no way to tell which it left out.
        """
        ...


@runtime_checkable
class OutboxReader(Protocol):
    """What a gateway also has when its provider can list what was sent. It settles unknown outcomes."""

    def outbox(self, *, since: datetime, max_pages: int) -> Outbox:
        """The account's sent messages back to `since` (aware), with at most `max_pages` requests.

        Never raises for what the provider or the network does.
        """
        ...

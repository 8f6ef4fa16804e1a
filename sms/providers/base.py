"""The contract between the product and a provider of SMS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sms.types import CreditResult, DeliveryReport, OutboundSms, SendResult


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

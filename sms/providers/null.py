"""The provider of a workspace that has none."""

from __future__ import annotations

from collections.abc import Sequence

from sms.types import CreditResult, DeliveryReport, OutboundSms, Outcome, SendResult


class NullGateway:
    """Answers "not configured" to everything, so that a missing account pauses the channel instead
    of using up the people of a campaign."""

    key = "none"

    def send(self, sms: OutboundSms, *, deadline_s: float) -> SendResult:  # noqa: ARG002  # the contract's shape
        return SendResult(outcome=Outcome.UNAVAILABLE, code="not_configured")

    def deliveries(self, ids: Sequence[str]) -> list[DeliveryReport]:  # noqa: ARG002  # the contract's shape
        return []

    def credit(self) -> CreditResult:
        return CreditResult(outcome=Outcome.UNAVAILABLE, code="not_configured")

    def lines(self) -> list[str]:
        return []

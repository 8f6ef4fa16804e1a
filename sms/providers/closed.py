"""The provider of a database that may not send (`core.installation`)."""

from __future__ import annotations

from collections.abc import Sequence

from sms.types import CreditResult, DeliveryReport, OutboundSms, Outcome, SendResult

CODE = "another_installation"


class ClosedGateway:
    """Asks and sends nothing: a copy of the database must reach nobody, whoever presses the button."""

    key = "none"

    def __init__(self, code: str = CODE) -> None:
        self._code = code

    def send(self, sms: OutboundSms, *, deadline_s: float) -> SendResult:  # noqa: ARG002  # the contract's shape
        return SendResult(outcome=Outcome.NOT_SENT, code=self._code)

    def deliveries(self, ids: Sequence[str]) -> list[DeliveryReport]:  # noqa: ARG002  # the contract's shape
        return []

    def credit(self) -> CreditResult:
        return CreditResult(outcome=Outcome.NOT_SENT, code=self._code)

    def lines(self) -> list[str]:
        return []

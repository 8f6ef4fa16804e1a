"""A provider for development: prints that a message would leave, and sends nothing."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Sequence

from sms.parts import count_parts
from sms.providers.masking import MASK
from sms.types import CreditResult, DeliveryReport, DeliveryStatus, OutboundSms, Outcome, SendResult


class StdoutGateway:
    """Accepts everything and says so on standard output, without number and text. See `SmsGateway`."""

    key = "stdout"

    def send(self, sms: OutboundSms, *, deadline_s: float) -> SendResult:
        if deadline_s <= 0:
            return SendResult(outcome=Outcome.NOT_SENT, code="too_late")
        counted = count_parts(sms.text)
        sys.stdout.write(f"SMS to {MASK}: {len(sms.text)} characters, {counted.parts} part(s), not sent\n")
        return SendResult(outcome=Outcome.ACCEPTED, provider_message_id=uuid.uuid4().hex, parts=counted.parts)

    def deliveries(self, ids: Sequence[str]) -> list[DeliveryReport]:
        return [
            DeliveryReport(
                provider_message_id=one, status=DeliveryStatus.DELIVERED, provider_status="printed"
            )
            for one in ids
        ]

    def credit(self) -> CreditResult:
        return CreditResult(outcome=Outcome.REFUSED, code="not_offered")

    def lines(self) -> list[str]:
        return []

"""Why a message that the provider took did not arrive: the reports' words in our own vocabulary.

The words are stored with the message (`SmsLog.error_code`), so pages filter by them and need no history.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from sms.models import SmsStatus
from sms.transitions import STEP_OF
from sms.types import DeliveryReport

NO_REASON: Final = "undelivered"
# Delivery codes of Melipayamak's interfaces, and the words that a generic webhook may give as `reason`.
REASONS: Final[Mapping[str, str]] = {
    "2": "phone_unreachable",
    "3": "operator_error",
    "16": "operator_not_reached",
    "35": "operator_blocked",
    "300": "filtered",
    "500": "refused_on_the_way",
    "off": "phone_unreachable",
    "unreachable": "phone_unreachable",
    "unknown_number": "number_unknown",
    "blocked": "operator_blocked",
    "blacklist": "operator_blocked",
    "filtered": "filtered",
    "expired": "validity_over",
}


def reason_for(reports: Iterable[DeliveryReport], status: SmsStatus) -> str:
    """The reason word of a message that these reports move to `status`; "" when it needs none."""
    if status in (SmsStatus.SENT, SmsStatus.DELIVERED):
        return ""
    words = (_word(report) for report in reports if STEP_OF.get(report.status) == status)
    return next((word for word in words if word), NO_REASON)


def _word(report: DeliveryReport) -> str:
    given = report.raw.get("reason")
    said = given if isinstance(given, str) else report.provider_status
    return REASONS.get(said.strip().lower(), "")

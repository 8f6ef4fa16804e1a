"""Reads of the message log. Every query is limited to the active workspace."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

from django.db.models import QuerySet

from core.errors import NotFound
from core.phones import mobile_or_none
from core.text import to_latin_digits
from sms.models import SmsLog, SmsLogEvent, SmsStatus

WAITING_TO_RETRY = "waiting"
MOST_ATTEMPTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFilter:
    """Which messages: every field narrows; empty ones do not. `until` is not included."""

    status: str = ""
    since: datetime | None = None
    until: datetime | None = None
    campaign_id: int | None = None
    number: str = ""
    line: str = ""
    code: str = ""

    def as_dict(self) -> dict[str, str]:
        """What narrows, for the audit log of a download."""
        return {name: str(value) for name, value in asdict(self).items() if value}


def messages(chosen: LogFilter) -> QuerySet[SmsLog]:
    """The messages of `chosen`, newest first, without the long columns that a list does not show."""
    rows = SmsLog.objects.defer("provider_response", "message_template").order_by("-id")
    if chosen.status == WAITING_TO_RETRY:
        rows = rows.filter(status=SmsStatus.FAILED, retry_scheduled_at__isnull=False)
    elif chosen.status:
        rows = rows.filter(status=chosen.status)
    if chosen.line:
        rows = rows.filter(sender_number=chosen.line)
    if chosen.code:
        rows = rows.filter(error_code=chosen.code)
    return narrowed(rows, chosen)


def narrowed(rows: QuerySet[SmsLog], chosen: LogFilter) -> QuerySet[SmsLog]:
    """Those of `rows` from the chosen days and campaign, to the chosen number."""
    if chosen.since:
        rows = rows.filter(created_at__gte=chosen.since)
    if chosen.until:
        rows = rows.filter(created_at__lt=chosen.until)
    if chosen.campaign_id is not None:
        rows = rows.filter(campaign_id=chosen.campaign_id)
    return _to_number(rows, chosen.number) if chosen.number else rows


def _to_number(rows: QuerySet[SmsLog], number: str) -> QuerySet[SmsLog]:
    """A whole number in any spelling is looked up; a part of one is searched for."""
    whole = mobile_or_none(number)
    if whole:
        return rows.filter(phone_number=whole)
    digits = "".join(char for char in to_latin_digits(number) if char.isascii() and char.isdigit())
    return rows.filter(phone_number__contains=digits) if digits else rows.none()


def message(pk: int) -> SmsLog:
    """One message with everything known of it. Raises NotFound."""
    row = SmsLog.objects.filter(pk=pk).first()
    if row is None:
        raise NotFound
    return row


def history_of(row: SmsLog) -> list[SmsLogEvent]:
    """What was reported of a message, oldest first."""
    return list(SmsLogEvent.objects.filter(sms_log_id=row.pk).order_by("id"))


def attempts_of(row: SmsLog) -> list[SmsLog]:
    """The other attempts of the same visit, oldest first; of a message of no walk, none."""
    if row.execution_id is None:
        return []
    visit = SmsLog.objects.filter(execution_id=row.execution_id, cycle=row.cycle, node_id=row.node_id)
    return list(visit.exclude(pk=row.pk).order_by("attempt_number")[:MOST_ATTEMPTS])

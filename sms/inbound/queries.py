"""Reads of what came in. Every query is limited to the active workspace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db.models import QuerySet

from blacklist.queries import blocked_values
from core.phones import PhoneError, parse_phone
from core.tenancy import current_workspace_id
from core.text import to_latin_digits
from sms.inbound.hooks import Subject
from sms.models import InboundEffect, InboundOutcome, InboundSms

WAITING = "waiting"
MOST_ASKING = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundFilter:
    """Which messages: every field narrows; empty ones do not. `until` is not included."""

    effect: str = ""
    since: datetime | None = None
    until: datetime | None = None
    number: str = ""
    text: str = ""

    @property
    def narrows(self) -> bool:
        return any((self.effect, self.since, self.until, self.number, self.text))

    def as_dict(self) -> dict[str, str]:
        """What narrows, for the audit log of a download."""
        return {name: str(value) for name, value in asdict(self).items() if value}


def messages(chosen: InboundFilter) -> QuerySet[InboundSms]:
    """The messages of `chosen` with what they did and what they were answered, newest first."""
    rows = InboundSms.objects.select_related("outcome__reply").order_by("-id")
    if chosen.effect == WAITING:
        rows = rows.filter(outcome__isnull=True)
    elif chosen.effect in InboundEffect.values:
        rows = rows.filter(outcome__effect=chosen.effect)
    if chosen.since:
        rows = rows.filter(received_at__gte=chosen.since)
    if chosen.until:
        rows = rows.filter(received_at__lt=chosen.until)
    if chosen.text:
        rows = rows.filter(text__icontains=chosen.text)
    return _from_number(rows, chosen.number) if chosen.number else rows


def _from_number(rows: QuerySet[InboundSms], number: str) -> QuerySet[InboundSms]:
    """A whole number in any spelling is looked up; a part of one is searched for."""
    try:
        return rows.filter(number=parse_phone(number).value)
    except PhoneError:
        digits = "".join(char for char in to_latin_digits(number) if char.isascii() and char.isdigit())
    return rows.filter(sender__contains=digits) if digits else rows.none()


def of_person(subject: Subject, numbers: Iterable[str]) -> Sequence[QuerySet[InboundSms]]:
    """What somebody wrote, as two sets without a row in common.

    What was theirs when it came stays theirs; what nobody's was belongs to whoever has the number now.
    """
    own = InboundSms.objects.filter(
        outcome__subject_type=subject.subject_type, outcome__subject_id=subject.subject_id
    )
    wanted = [number for number in numbers if number]
    nobody_s = InboundSms.objects.filter(number__in=wanted, outcome__subject_id__isnull=True)
    return own, nobody_s


def by_ids(ids: Iterable[int]) -> dict[int, InboundSms]:
    """These messages with what they did. One query."""
    wanted = set(ids)
    if not wanted:
        return {}
    return {row.pk: row for row in InboundSms.objects.select_related("outcome").filter(pk__in=wanted)}


def asked_back(since: datetime) -> list[str]:
    """Numbers that asked for messages again from `since` on and are still blocked by somebody else.

    At most `MOST_ASKING`. Two queries.
    """
    asked = InboundOutcome.objects.filter(effect=InboundEffect.OPT_IN_REFUSED, created_at__gte=since)
    numbers = list(
        dict.fromkeys(asked.order_by("-id").values_list("inbound__number", flat=True)[:MOST_ASKING])
    )
    blocked = blocked_values(current_workspace_id(), "sms", numbers) if numbers else set()
    return [number for number in numbers if number in blocked]

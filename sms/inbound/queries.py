"""Reads of what came in. Every query is limited to the active workspace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from core.phones import PhoneError, parse_phone
from core.text import to_latin_digits
from sms.inbound.hooks import Subject
from sms.models import InboundEffect, InboundSms

WAITING = "waiting"


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

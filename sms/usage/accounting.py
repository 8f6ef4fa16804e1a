"""The account of a month, from the ledger alone: messages, parts, what was expected and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeVar

from django.db.models import Case, IntegerField, Sum, Value, When

from sms.models import SmsUsage
from sms.usage.months import Month, midnight
from sms.usage.prices import PriceBook

K = TypeVar("K", bound=Hashable)
HISTORY = 6  # months shown beside the chosen one
_FIELDS = ("event_type", "campaign_id", "line", "script")


@dataclass(slots=True)
class Total:
    """`expected` is by the parts that we counted before sending, `cost` by those that are billed.

    Parts without a price are in neither sum and are counted in `unpriced`.
    """

    messages: int = 0
    parts: int = 0
    counted: int = 0
    expected: Decimal = Decimal(0)
    cost: Decimal = Decimal(0)
    unpriced: int = 0

    def add(self, other: Total) -> None:
        self.messages += other.messages
        self.parts += other.parts
        self.counted += other.counted
        self.expected += other.expected
        self.cost += other.cost
        self.unpriced += other.unpriced

    @property
    def extra_parts(self) -> int:
        """Billed beyond what was expected; below zero: less."""
        return self.parts - self.counted

    @property
    def extra_cost(self) -> Decimal:
        return self.cost - self.expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Messages of one kind in one stretch of unchanged prices."""

    event_type: str
    campaign_id: int | None
    line: str
    script: str
    stretch: int
    total: Total


@dataclass(frozen=True, slots=True)
class Account:
    """One month of the active workspace."""

    month: Month
    groups: Sequence[Group] = field(default_factory=list)

    @property
    def total(self) -> Total:
        return _sum(self.groups)

    def by(self, key: Callable[[Group], K]) -> list[tuple[K, Total]]:
        """Totals by what `key` says of a group, the largest first."""
        sums: dict[K, Total] = {}
        for group in self.groups:
            sums.setdefault(key(group), Total()).add(group.total)
        return sorted(sums.items(), key=lambda pair: (-pair[1].parts, str(pair[0])))


def account_of(month: Month, book: PriceBook) -> Account:
    """One query, whatever the number of messages."""
    changes = book.changes_between(month.first_day, month.next.first_day)
    days = [month.first_day, *changes]
    return Account(month, _groups(month.start, month.end, days, month.zone, _FIELDS, book))


def history(until: Month, book: PriceBook, *, months: int = HISTORY) -> list[tuple[Month, Total]]:
    """The totals of the months up to `until`, the newest first. One query."""
    listed = [until]
    while len(listed) < months:
        listed.append(listed[-1].previous)
    first, last = listed[-1], until.next
    begins = [month.first_day for month in reversed(listed)]
    days = sorted({*begins, *book.changes_between(first.first_day, last.first_day)})
    groups = _groups(first.start, last.start, days, until.zone, ("line", "script"), book)
    ends = {month: month.next.first_day for month in listed}
    return [
        (month, _sum(g for g in groups if month.first_day <= days[g.stretch] < ends[month]))
        for month in listed
    ]


def _sum(groups: Iterable[Group]) -> Total:
    total = Total()
    for group in groups:
        total.add(group.total)
    return total


def _groups(
    start: datetime, end: datetime, days: Sequence[date], zone: str, fields: Sequence[str], book: PriceBook
) -> list[Group]:
    """Sums by `fields` and by stretch: stretch i begins on `days[i]` and ends where the next one begins."""
    later = [
        When(sent_on__gte=midnight(day, zone), then=Value(index))
        for index, day in reversed(list(enumerate(days)))
    ]
    rows = (
        SmsUsage.objects.filter(sent_on__gte=start, sent_on__lt=end)
        .annotate(stretch=Case(*later, default=Value(0), output_field=IntegerField()))
        .values(*fields, "stretch")
        .annotate(messages=Sum("message_count"), parts=Sum("sms_count"), counted=Sum("counted_parts"))
    )
    return [_group(row, days, book) for row in rows.order_by()]


def _group(row: dict[str, Any], days: Sequence[date], book: PriceBook) -> Group:
    rials = book.rials(row["line"], row["script"], days[row["stretch"]])
    parts, counted = row["parts"], row["counted"]
    total = Total(messages=row["messages"], parts=parts, counted=counted)
    if rials is None:
        total.unpriced = parts
    else:
        total.expected, total.cost = counted * rials, parts * rials
    return Group(
        event_type=row.get("event_type", ""), campaign_id=row.get("campaign_id"), line=row["line"],
        script=row["script"], stretch=row["stretch"], total=total,
    )  # fmt: skip

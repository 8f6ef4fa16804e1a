"""Months as a workspace counts them: Jalali or Gregorian, from midnight to midnight in its zone. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Self
from zoneinfo import ZoneInfo

import jdatetime

from core.dates import JALALI_BELOW, JALALI_MONTHS, format_date
from core.text import to_latin_digits, to_persian_digits

ENGLISH_JALALI = (
    "Farvardin", "Ordibehesht", "Khordad", "Tir", "Mordad", "Shahrivar",
    "Mehr", "Aban", "Azar", "Dey", "Bahman", "Esfand",
)  # fmt: skip
PERSIAN_GREGORIAN = (
    "ژانویه", "فوریه", "مارس", "آوریل", "مه", "ژوئن", "ژوئیه", "اوت", "سپتامبر", "اکتبر", "نوامبر", "دسامبر",
)  # fmt: skip
_KEY = re.compile(r"([0-9]{4})-([0-9]{1,2})")
_YEARS = ((1380, 1500), (2000, 2120))


@dataclass(frozen=True, slots=True)
class Month:
    """One month; a year below `JALALI_BELOW` is a Jalali one."""

    year: int
    month: int
    zone: str

    @classmethod
    def holding(cls, moment: datetime, *, zone: str, language: str) -> Self:
        """The month of an aware moment, in the calendar that goes with the workspace's language."""
        day = moment.astimezone(ZoneInfo(zone)).date()
        if language.startswith("fa"):
            jalali = jdatetime.date.fromgregorian(date=day)
            return cls(jalali.year, jalali.month, zone)
        return cls(day.year, day.month, zone)

    def other(self, key: str) -> Month:
        """The month that `key` (`1405-09`, `2026-11`) names, in its own calendar; self when it names none."""
        found = _KEY.fullmatch(to_latin_digits(key.strip()))
        if not found:
            return self
        year, month = int(found[1]), int(found[2])
        known = any(first <= year <= last for first, last in _YEARS) and 1 <= month <= 12
        return Month(year, month, self.zone) if known else self

    @property
    def key(self) -> str:
        return f"{self.year:04d}-{self.month:02d}"

    @property
    def first_day(self) -> date:
        """The first day, as the Gregorian calendar has it."""
        if self.year < JALALI_BELOW:
            day: date = jdatetime.date(self.year, self.month, 1).togregorian()
            return day
        return date(self.year, self.month, 1)

    @property
    def start(self) -> datetime:
        return midnight(self.first_day, self.zone)

    @property
    def end(self) -> datetime:
        """The first moment that is no longer in it."""
        return self.next.start

    @property
    def next(self) -> Month:
        return self._moved(1)

    @property
    def previous(self) -> Month:
        return self._moved(-1)

    def _moved(self, months: int) -> Month:
        years, month = divmod(self.year * 12 + self.month - 1 + months, 12)
        return Month(years, month + 1, self.zone)

    def label(self, language: str) -> str:
        """`آذر ۱۴۰۵`, `Azar 1405`, `نوامبر ۲۰۲۶` or `November 2026`."""
        persian = language.startswith("fa")
        if self.year < JALALI_BELOW:
            name = (JALALI_MONTHS if persian else ENGLISH_JALALI)[self.month - 1]
        else:
            name = PERSIAN_GREGORIAN[self.month - 1] if persian else f"{self.first_day:%B}"
        return f"{name} {to_persian_digits(str(self.year)) if persian else self.year}"

    def days(self, language: str) -> str:
        """The first and the last day in the reader's calendar; "" where the month is one of that calendar."""
        if language.startswith("fa") == (self.year < JALALI_BELOW):
            return ""
        first, last = self.first_day, self.next.first_day - timedelta(days=1)
        return " – ".join(format_date(day, language, words=True) for day in (first, last))


def midnight(day: date, zone: str) -> datetime:
    """The moment at which `day` begins in `zone`, in UTC."""
    return datetime.combine(day, time(), ZoneInfo(zone)).astimezone(UTC)

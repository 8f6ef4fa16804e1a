"""Jalali and Gregorian dates as people write and read them. Storage is always UTC."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import jdatetime
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from core.errors import Invalid
from core.text import search_key, strip_format_chars, to_latin_digits, to_persian_digits

JALALI_MONTHS = (
    "فروردین", "اردیبهشت", "خرداد", "تیر", "مرداد", "شهریور", "مهر", "آبان", "آذر", "دی", "بهمن", "اسفند",
)  # fmt: skip
JALALI_BELOW = 1700

_YEAR_FIRST = re.compile(r"(?P<y>[0-9]{4})(?P<mark>[/\-.])(?P<m>[0-9]{1,2})(?P=mark)(?P<d>[0-9]{1,2})")
# Without separators only years that people write: other numbers of eight digits are no dates.
_COMPACT = re.compile(r"(?P<y>1[34][0-9]{2}|19[0-9]{2}|20[0-9]{2})(?P<m>[0-9]{2})(?P<d>[0-9]{2})")
# Day first is clear for Jalali years only: abroad 09/10/2026 is two different days.
_DAY_FIRST = re.compile(r"(?P<d>[0-9]{1,2})(?P<mark>[/\-.])(?P<m>[0-9]{1,2})(?P=mark)(?P<y>1[34][0-9]{2})")
_IN_WORDS = re.compile(r"(?P<d>[0-9]{1,2}) (?P<word>[^\W\d]+) (?P<y>1[34][0-9]{2})")
_TIME = re.compile(r"(?P<day>.+?)(?:(?:[ T]|، ?|, ?)(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2}))?")
_MONTH_OF = {search_key(name): number for number, name in enumerate(JALALI_MONTHS, start=1)}


class DateError(Invalid):
    """The text is not a date."""

    code = "date_invalid"


def _readable(text: str) -> str:
    return " ".join(to_latin_digits(strip_format_chars(text)).split())


def parse_date(text: str) -> date:
    """A Jalali or Gregorian date from `1405/09/09`, `2026-11-30` and the like; years below 1700 are Jalali.

    Digits may be Persian, Arabic or Latin; separators `/`, `-` or `.`, or none (`14050909`). A Jalali
    date may also begin with its day, or name its month. Raises DateError also for days that do not
    exist (30 Esfand of a common year).
    """
    text = _readable(text)
    for form in (_YEAR_FIRST, _COMPACT, _DAY_FIRST, _IN_WORDS):
        match = form.fullmatch(text)
        if match is not None:
            parts = match.groupdict()
            month = int(parts["m"]) if "m" in parts else _MONTH_OF.get(search_key(parts["word"]), 0)
            return _day(int(parts["y"]), month, int(parts["d"]))
    raise DateError(_("Write the date as year/month/day, for example 2026/11/30."))


def _day(year: int, month: int, day: int) -> date:
    try:
        if year < JALALI_BELOW:
            return jdatetime.date(year, month, day).togregorian()  # type: ignore[no-any-return]
        return date(year, month, day)
    except ValueError as exc:
        raise DateError(_("There is no such day in the calendar.")) from exc


def parse_local_datetime(text: str, zone: str) -> datetime:
    """An aware moment from `1405/09/09 14:30` (time optional, midnight then) in `zone`. Raises DateError."""
    match = _TIME.fullmatch(_readable(text))
    if match is None:
        raise DateError(_("Write the date as year/month/day, for example 2026/11/30."))
    day = parse_date(match["day"])
    hour, minute = int(match["hour"] or 0), int(match["minute"] or 0)
    if hour > 23 or minute > 59:
        raise DateError(_("Write the time as hour:minute, for example 14:30."))
    return datetime(day.year, day.month, day.day, hour, minute, tzinfo=ZoneInfo(zone))


def format_date(day: date, language: str, *, words: bool = False) -> str:
    """`۱۴۰۵/۰۹/۰۹` (or `۹ آذر ۱۴۰۵`) in Persian, `2026-11-30` (or `30 Nov 2026`) in English."""
    if language.startswith("fa"):
        jalali = jdatetime.date.fromgregorian(date=day)
        if words:
            return to_persian_digits(f"{jalali.day} {JALALI_MONTHS[jalali.month - 1]} {jalali.year}")
        return to_persian_digits(f"{jalali.year:04d}/{jalali.month:02d}/{jalali.day:02d}")
    return f"{day.day} {day:%b %Y}" if words else day.isoformat()


def format_datetime(moment: datetime, zone: str, language: str, *, words: bool = False) -> str:
    """The date and the 24-hour time in `zone`."""
    local = moment.astimezone(ZoneInfo(zone))
    time = f"{local:%H:%M}"
    day = format_date(local.date(), language, words=words)
    if language.startswith("fa"):
        return f"{day}، {to_persian_digits(time)}"
    return f"{day}, {time}"


def format_number(value: int | float, language: str) -> str:
    """Grouped digits: `۱۲٬۳۴۵` in Persian, `12,345` in English."""
    text = f"{value:,}"
    if language.startswith("fa"):
        return to_persian_digits(text.replace(",", "٬").replace(".", "٫"))
    return text


def in_digits_of_the_reader(values: Mapping[str, Any]) -> dict[str, Any]:
    """Whole numbers among the values of a sentence, as the active language writes them."""
    language = get_language() or "fa"
    return {
        name: format_number(value, language) if type(value) is int else value
        for name, value in values.items()
    }

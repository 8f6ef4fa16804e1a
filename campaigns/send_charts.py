"""When a campaign's messages left: by day and by hour of today, on the clock of the workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import jdatetime
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from campaigns.figures import DAYS, first_day
from core.charts import Chart, bars
from core.dates import JALALI_MONTHS
from core.text import to_persian_digits

HOURS: Final = 24
Hours = Mapping[str, Sequence[int]]  # see campaigns.figures.Figures


@dataclass(frozen=True, slots=True)
class Charts:
    days: Chart
    hours: Chart


def charts_of(hours: Hours, zone: str, now: datetime) -> Charts:
    """The last fourteen days, and today hour by hour."""
    first, today = first_day(zone, now), now.astimezone(ZoneInfo(zone)).date()
    by_day = {first + timedelta(days=place): [0, 0] for place in range(DAYS)}
    for hour, values in hours.items():
        sums = by_day.get(date.fromisoformat(hour[:10]))
        if sums is not None:
            sums[:] = [one + more for one, more in zip(sums, values, strict=True)]
    series = (_("Taken by the provider"), _("Not taken"))
    today_s = [(_clock(hour), hours.get(f"{today.isoformat()}T{hour:02d}", (0, 0))) for hour in range(HOURS)]
    return Charts(
        days=bars(series, [(_day(day), values) for day, values in by_day.items()], label_every=2),
        hours=bars(series, today_s, label_every=3),
    )


def _is_persian() -> bool:
    return (get_language() or "fa").startswith("fa")


def _day(day: date) -> str:
    """A day and its month in words: ۹ آذر, 30 Nov."""
    if not _is_persian():
        return f"{day.day} {day:%b}"
    jalali = jdatetime.date.fromgregorian(date=day)
    return to_persian_digits(f"{jalali.day} {JALALI_MONTHS[jalali.month - 1]}")


def _clock(hour: int) -> str:
    text = f"{hour:02d}:00"
    return to_persian_digits(text) if _is_persian() else text

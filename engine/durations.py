"""A length of time as a marketer says it: "30 minutes", "2 days", "1 month".

Minutes and hours are elapsed time. Days, weeks, months and years are calendar time: the same wall
clock so many dates later in the given zone, so "1 day" over a clock change is 23 or 25 hours. A month
that lacks the date ends on its last day (31 January + 1 month = 28 or 29 February).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from dateutil.relativedelta import relativedelta

from engine.types import Problem
from engine.zones import resolve_local

_LARGEST = {"minute": 5_256_000, "hour": 87_600, "day": 3_650, "week": 520, "month": 120, "year": 10}
_ELAPSED = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_NOMINAL = {**_ELAPSED, "day": timedelta(days=1), "week": timedelta(weeks=1)}
_NOMINAL |= {"month": timedelta(days=28), "year": timedelta(days=365)}


@dataclass(frozen=True, slots=True)
class Duration:
    """`amount` (1 or more) of `unit`: minute, hour, day, week, month or year; ten years at most."""

    amount: int
    unit: str

    def after(self, start: datetime, tz: tzinfo) -> datetime:
        """The instant this long after `start` (aware), counted on the calendar of `tz`. Aware UTC."""
        elapsed = _ELAPSED.get(self.unit)
        if elapsed is not None:
            return start.astimezone(UTC) + self.amount * elapsed
        wall = start.astimezone(tz).replace(tzinfo=None)
        match self.unit:
            case "day":
                wall += timedelta(days=self.amount)
            case "week":
                wall += timedelta(weeks=self.amount)
            case "month":
                wall += relativedelta(months=self.amount)
            case _:
                wall += relativedelta(years=self.amount)
        return max(resolve_local(wall, tz), start.astimezone(UTC))

    @property
    def at_least(self) -> timedelta:
        """The shortest this can be, without regard to clock changes (a month is 28 days here)."""
        return self.amount * _NOMINAL[self.unit]


def parse_duration(raw: object, *, extra_keys: frozenset[str] = frozenset()) -> Duration | list[Problem]:
    """Read `{"amount": 2, "unit": "days"}`; units may be singular or plural.

    Returns the duration, or every problem found. `extra_keys` may stand beside the two and are ignored.
    """
    if not isinstance(raw, Mapping):
        return [Problem(code="duration_missing")]
    problems = [
        Problem(code="config_key_unknown", fields={"key": str(key)[:40]})
        for key in raw
        if key not in {"amount", "unit"} | extra_keys
    ]
    amount, unit = raw.get("amount"), _singular(raw.get("unit"))
    if unit is None:
        problems.append(Problem(code="duration_unit_unknown", fields={"unit": str(raw.get("unit"))[:40]}))
    if isinstance(amount, bool) or not isinstance(amount, int) or amount < 1:
        problems.append(Problem(code="duration_amount_invalid"))
    elif unit is not None and amount > _LARGEST[unit]:
        problems.append(Problem(code="duration_too_long"))
    if problems or unit is None or not isinstance(amount, int):
        return problems
    return Duration(amount, unit)


def _singular(unit: Any) -> str | None:
    if not isinstance(unit, str):
        return None
    word = unit.removesuffix("s")
    return word if word in _LARGEST else None

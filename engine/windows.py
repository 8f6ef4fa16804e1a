"""When something may be sent: opening hours by weekday, as a value.

    {"timezone": "Asia/Tehran",
     "days": {"sat": [["09:00", "18:00"]], ..., "fri": null},
     "exceptions": {"2026-03-21": {"name": "Nowruz", "ranges": null}, "2026-03-25": [["10:00", "12:00"]]}}

A range begins inclusive and ends exclusive, on the wall clock of the zone. It cannot cross midnight: the
night is split, and "24:00" ends a day without a gap. A day with null, an empty list or no entry is
closed. An exception takes the place of its date's weekday; it may have a name, which people see and
nothing depends on.

Clock changes: a wall time that exists twice is open both times; a range that begins inside a gap opens
at the first instant after it, if it is not over by then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Any, Final
from zoneinfo import ZoneInfo

from engine.types import Problem
from engine.zones import ZoneError, resolve_local, transition_between, zone

DAYS: Final = ("sat", "sun", "mon", "tue", "wed", "thu", "fri")
MAX_RANGES: Final = 24
MAX_EXCEPTIONS: Final = 1_000
MAX_NAME: Final = 100
_KEYS: Final = {"timezone", "days", "exceptions"}
_CLOCK: Final = re.compile(r"(?:([01][0-9]|2[0-3]):([0-5][0-9]))|(24:00)", re.ASCII)
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_DAY_MINUTES: Final = 24 * 60
_ONE_DAY: Final = timedelta(days=1)
_HORIZON: Final = 400  # days; every window has an open weekday, so an opening lies within a few weeks

Span = tuple[int, int]  # minutes of the day, end exclusive
Spans = tuple[Span, ...]


class WindowError(ValueError):
    """The JSON is no window; `problems` says why, all of it."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(", ".join(sorted({problem.code for problem in problems})))


@dataclass(frozen=True, slots=True)
class SendWindow:
    """Opening hours. Make one with `parse`."""

    timezone: str
    days: Mapping[str, Spans]
    exceptions: Mapping[date, Spans] = field(default_factory=dict)
    names: Mapping[date, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, raw: object, *, timezone: str = "") -> SendWindow:
        """Read stored JSON. `timezone` is used where the JSON names none.

        Raises WindowError: bad zone, unknown day, bad or overlapping range, no open day at all.
        """
        if not isinstance(raw, Mapping):
            raise WindowError([Problem(code="window_malformed")])
        problems = [
            Problem(code="window_key_unknown", fields={"key": str(key)[:40]})
            for key in raw
            if key not in _KEYS
        ]
        name = raw.get("timezone") or timezone
        try:
            zone(name)
        except ZoneError:
            problems.append(Problem(code="window_timezone_invalid", fields={"timezone": str(name)[:64]}))
        days = _parse_days(raw.get("days"), problems)
        exceptions, names = _parse_exceptions(raw.get("exceptions"), problems)
        if not problems and not any(days.values()):
            problems.append(Problem(code="window_never_open"))
        if problems:
            raise WindowError(problems)
        return cls(str(name), days, exceptions, names)

    def to_json(self) -> dict[str, Any]:
        """The stored form: all seven days, ranges in order; `exceptions` only when there are some."""
        out: dict[str, Any] = {
            "timezone": self.timezone,
            "days": {day: _spans_json(self.days[day]) for day in DAYS},
        }
        if self.exceptions:
            out["exceptions"] = {
                day.isoformat(): self._exception_json(day) for day in sorted(self.exceptions)
            }
        return out

    def _exception_json(self, day: date) -> Any:
        ranges, name = _spans_json(self.exceptions[day]), self.names.get(day)
        return {"name": name, "ranges": ranges} if name else ranges

    def spans_on(self, day: date) -> Spans:
        """The ranges of a date, as minutes of the day."""
        found = self.exceptions.get(day)
        return self.days[DAYS[(day.weekday() + 2) % 7]] if found is None else found

    def is_open(self, t: datetime) -> bool:
        """Whether `t` (aware) lies in a range."""
        local = t.astimezone(zone(self.timezone))
        minute = local.hour * 60 + local.minute
        return any(start <= minute < end for start, end in self.spans_on(local.date()))

    def next_open(self, t: datetime) -> datetime:
        """`t` itself when open, otherwise the next opening (aware UTC), which is later than `t`."""
        if self.is_open(t):
            return t
        for moment in self._edges(t):
            if moment > t and self.is_open(moment):
                return moment
        raise WindowError([Problem(code="window_never_open")])

    def closes_at(self, t: datetime) -> datetime | None:
        """When the range that `t` lies in is over; ranges that touch count as one.

        `t` itself when closed; None when it does not close within 400 days.
        """
        if not self.is_open(t):
            return t
        if not self.exceptions and all(_is_whole_day(spans) for spans in self.days.values()):
            return None
        for moment in self._edges(t):
            if moment > t and not self.is_open(moment):
                return moment
        return None

    def _edges(self, t: datetime) -> Iterator[datetime]:
        """Every instant from the day of `t` on at which open may turn to closed or back, in order."""
        tz = zone(self.timezone)
        first = t.astimezone(tz).date()
        last = max([first, *self.exceptions], default=first) + _HORIZON * _ONE_DAY
        day = first
        while day <= last:
            yield from sorted(_edges_on(day, self.spans_on(day), tz))
            day += _ONE_DAY


def _edges_on(day: date, spans: Spans, tz: ZoneInfo) -> set[datetime]:
    midnight = datetime.combine(day, time())
    walls = [midnight + timedelta(minutes=minute) for span in spans for minute in span]
    edges = {resolve_local(wall, tz) for wall in walls}
    begin, end = resolve_local(midnight, tz), resolve_local(midnight + _ONE_DAY, tz)
    if begin.astimezone(tz).utcoffset() != end.astimezone(tz).utcoffset():
        edges.add(transition_between(begin, end, tz))
        edges |= {wall.replace(tzinfo=tz, fold=1).astimezone(UTC) for wall in walls}
    return edges


def _parse_days(raw: object, problems: list[Problem]) -> dict[str, Spans]:
    days: dict[str, Spans] = dict.fromkeys(DAYS, ())
    if not isinstance(raw, Mapping):
        problems.append(Problem(code="window_malformed"))
        return days
    for day, spans in raw.items():
        if day in days:
            days[day] = _parse_spans(spans, day, problems)
        else:
            problems.append(Problem(code="window_day_unknown", fields={"day": str(day)[:20]}))
    return days


def _parse_exceptions(raw: object, problems: list[Problem]) -> tuple[dict[date, Spans], dict[date, str]]:
    exceptions: dict[date, Spans] = {}
    names: dict[date, str] = {}
    if raw is None:
        return exceptions, names
    if not isinstance(raw, Mapping) or len(raw) > MAX_EXCEPTIONS:
        problems.append(Problem(code="window_malformed"))
        return exceptions, names
    for text, entry in raw.items():
        day = _date(text)
        if day is None:
            problems.append(Problem(code="window_date_invalid", fields={"day": str(text)[:20]}))
            continue
        name, ranges = _named(entry, problems)
        exceptions[day] = _parse_spans(ranges, text, problems)
        if name:
            names[day] = name
    return exceptions, names


def _date(text: object) -> date | None:
    if not isinstance(text, str) or not _DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _named(entry: object, problems: list[Problem]) -> tuple[str, object]:
    """The name and the ranges of an exception; one without a name is its ranges alone."""
    if not isinstance(entry, Mapping):
        return "", entry
    name = entry.get("name", "")
    if not isinstance(name, str) or len(name) > MAX_NAME:
        problems.append(Problem(code="window_malformed"))
        return "", None
    problems += [
        Problem(code="window_key_unknown", fields={"key": str(key)[:40]})
        for key in entry
        if key not in ("name", "ranges")
    ]
    return name.strip(), entry.get("ranges")


def _parse_spans(raw: object, day: str, problems: list[Problem]) -> Spans:
    if raw is None:
        return ()
    if not isinstance(raw, (list, tuple)) or len(raw) > MAX_RANGES:
        problems.append(Problem(code="window_range_invalid", fields={"day": day}))
        return ()
    spans: list[Span] = []
    for pair in raw:
        span = _parse_span(pair)
        if span is None:
            problems.append(Problem(code="window_range_invalid", fields={"day": day}))
        elif span[0] >= span[1]:
            problems.append(Problem(code="window_range_order", fields={"day": day}))
        else:
            spans.append(span)
    spans.sort()
    if any(left[1] > right[0] for left, right in pairwise(spans)):
        problems.append(Problem(code="window_ranges_overlap", fields={"day": day}))
    return tuple(spans)


def _parse_span(pair: object) -> Span | None:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        return None
    start, end = _minute(pair[0]), _minute(pair[1])
    return None if start is None or end is None or start == _DAY_MINUTES else (start, end)


def _minute(text: object) -> int | None:
    """Minutes from midnight of "HH:MM" or "24:00"; None for anything else."""
    match = _CLOCK.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    return _DAY_MINUTES if match.group(3) else int(match.group(1)) * 60 + int(match.group(2))


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


def _spans_json(spans: Spans) -> list[list[str]] | None:
    return [[_clock(start), _clock(end)] for start, end in spans] or None


def _is_whole_day(spans: Spans) -> bool:
    minute = 0
    for start, end in spans:
        if start != minute:
            return False
        minute = end
    return minute == _DAY_MINUTES

"""Moments in conditions: from an expected value to the instants, and the wall clocks, it stands for."""

from __future__ import annotations

from bisect import bisect_left
from datetime import UTC, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple

from django.db.models import BooleanField, Case, Q, When
from django.db.models.lookups import GreaterThanOrEqual

from automation.condition_values import Readable, clock_micros, offset_micros, shift_micros, spells
from engine.comparing import LOCAL, OFFSET, RELATIVE, ZULU, Comparison, as_date, as_moment
from engine.types import FieldType
from engine.zones import resolve_local

_EPOCH = datetime.fromisoformat("1970-01-01")  # a wall clock, without a zone
_LAST = datetime.max.replace(tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_REACH = timedelta(days=2) // _MICROSECOND  # no clock is two days away from UTC


class Span(NamedTuple):
    """The instants that equal an expected value, `end` exclusive: one microsecond, or a day of the zone."""

    begin: datetime
    end: datetime


def span_of(value: object, context: Comparison) -> Span | None:
    """The span of an expected value; None where it stands for no moment that can be counted."""
    if context.kind is not FieldType.DATE:
        moment = as_moment(value, context)
        return None if moment is None else Span(moment.astimezone(UTC), _after(moment, _MICROSECOND))
    day = as_date(value, context)
    if day is None:
        return None
    midnight = datetime.combine(day, time())
    begin = resolve_local(midnight, context.zone())
    try:
        return Span(begin, resolve_local(midnight + timedelta(days=1), context.zone()))
    except OverflowError:
        return Span(begin, _LAST)


def _after(moment: datetime, step: timedelta) -> datetime:
    try:
        return moment.astimezone(UTC) + step
    except OverflowError:
        return _LAST


def moment_at_least(text: Readable, moment: datetime, context: Comparison) -> Q:
    """Whether `text` spells a moment that is `moment` or later; false for what spells none."""
    instant = _micros(moment.astimezone(UTC).replace(tzinfo=None))
    shift = instant - _micros(context.now.astimezone(UTC).replace(tzinfo=None))
    zulu = clock_micros(text, zone_length=1)
    offset = clock_micros(text, zone_length=6) - offset_micros(text)
    return Q(
        Case(
            When(
                spells(text, LOCAL),
                then=GreaterThanOrEqual(clock_micros(text), _first_clock(moment, context.zone())),
            ),
            When(spells(text, ZULU), then=GreaterThanOrEqual(zulu, instant)),
            When(spells(text, OFFSET), then=GreaterThanOrEqual(offset, instant)),
            When(spells(text, RELATIVE), then=GreaterThanOrEqual(shift_micros(text), shift)),
            default=False,
            output_field=BooleanField(),
        )
    )


def _micros(clock: datetime) -> int:
    return (clock - _EPOCH) // _MICROSECOND


@lru_cache(maxsize=1024)
def _first_clock(moment: datetime, tz: tzinfo) -> int:
    """The earliest wall clock of `tz`, in microseconds, that means `moment` or later.

    A later clock never means an earlier instant, so a database without time zones can compare clocks: the
    gaps and the double hours of the zone are in this one number.
    """
    middle = _micros(moment.astimezone(UTC).replace(tzinfo=None))
    clocks = range(middle - _REACH, middle + _REACH)
    return clocks[0] + bisect_left(clocks, moment, key=lambda clock: _instant(clock, tz))


def _instant(clock: int, tz: tzinfo) -> datetime:
    try:
        return resolve_local(_EPOCH + clock * _MICROSECOND, tz)
    except OverflowError:
        return _LAST

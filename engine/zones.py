"""Local time to instants, with one rule for clock changes.

A local time that does not exist (the clock jumped over it) means the first valid instant after the jump.
A local time that exists twice means its first occurrence. Every wait and window resolves through here.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+\-/]{0,63}", re.ASCII)
_SECOND = timedelta(seconds=1)


class ZoneError(ValueError):
    """`name` is no time zone this host knows."""

    def __init__(self, name: object) -> None:
        self.name = name
        super().__init__(f"unknown time zone {name!r}")


@lru_cache(maxsize=256)
def _load(name: str) -> ZoneInfo:
    if not _NAME.fullmatch(name):
        raise ZoneError(name[:64])
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as exc:
        raise ZoneError(name) from exc


def zone(name: object) -> ZoneInfo:
    """The zone called `name` (IANA, such as "Asia/Tehran"). Raises ZoneError for anything else."""
    if not isinstance(name, str):
        raise ZoneError(str(name)[:64])
    return _load(name)


def first_zone(*names: object) -> ZoneInfo:
    """The first of `names` that is a known zone; the last one has to be. Raises ZoneError."""
    for name in names[:-1]:
        try:
            return zone(name)
        except ZoneError:
            continue
    return zone(names[-1])


@lru_cache(maxsize=8192)
def resolve_local(local: datetime, tz: tzinfo) -> datetime:
    """The instant (aware UTC) of the wall-clock time `local` (naive) in `tz`."""
    first = local.replace(tzinfo=tz, fold=0)
    instant = first.astimezone(UTC)
    if instant.astimezone(tz).replace(tzinfo=None) == local:
        return instant
    before = local.replace(tzinfo=tz, fold=1).astimezone(UTC)  # read with the later offset: earlier
    return transition_between(before.replace(microsecond=0), instant.replace(microsecond=0), tz)


def transition_between(low: datetime, high: datetime, tz: tzinfo) -> datetime:
    """The first instant after `low`, at most `high`, that has the UTC offset of `high` in `tz`.

    Both aware UTC, with different offsets and one clock change between them. Exact to the second.
    """
    after = high.astimezone(tz).utcoffset()
    seconds_low, seconds_high = 0, int((high - low) / _SECOND)
    while seconds_high - seconds_low > 1:
        middle = (seconds_low + seconds_high) // 2
        if (low + middle * _SECOND).astimezone(tz).utcoffset() == after:
            seconds_high = middle
        else:
            seconds_low = middle
    return low + seconds_high * _SECOND

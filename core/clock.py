"""The one source of "now". Real in production, a shared file in demonstrations, frozen in tests."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from django.conf import settings


class Clock(Protocol):
    def now(self) -> datetime: ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class FrozenClock:
    """Stands still until it is moved."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at


class FileClock:
    """Eight bytes in a file, read by every process of one demonstration.

    The file holds seconds since 1970 as a little-endian double and is replaced whole by one write,
    so a reader sees the old moment or the new one. A missing file falls back to the system's time.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def now(self) -> datetime:
        try:
            raw = self.path.read_bytes()
        except FileNotFoundError:
            return datetime.now(UTC)
        return datetime.fromtimestamp(struct.unpack("<d", raw[:8])[0], UTC)

    def set(self, at: datetime) -> None:
        temporary = self.path.with_suffix(".new")
        temporary.write_bytes(struct.pack("<d", at.timestamp()))
        os.replace(temporary, self.path)


_override: ContextVar[Clock | None] = ContextVar("peyk_clock", default=None)
_process_clock: Clock | None = None


def _clock() -> Clock:
    global _process_clock
    if _process_clock is None:
        path = getattr(settings, "CLOCK_FILE", "")
        _process_clock = FileClock(path) if path else SystemClock()
    return _process_clock


def now() -> datetime:
    """The current moment as an aware UTC datetime."""
    return (_override.get() or _clock()).now()


def use_process_clock(clock: Clock | None) -> None:
    """Replace the clock of the whole process (tests with threads); None returns to the configured one."""
    global _process_clock
    _process_clock = clock


@contextmanager
def frozen(at: datetime) -> Iterator[FrozenClock]:
    """Freeze the clock of this context at `at` (aware); move it by assigning `.at`."""
    clock = FrozenClock(at.astimezone(UTC))
    token = _override.set(clock)
    try:
        yield clock
    finally:
        _override.reset(token)

"""Errors that are the database's or a moment's, never those of the row at hand."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

import structlog
from django.db import InterfaceError, OperationalError

log = structlog.get_logger(__name__)
T = TypeVar("T")

# A deadlock's victim, a lock or a statement that took too long, a connection that is gone, SQLite's
# "database is locked": what failed may pass the next time.
PASSING: Final = (OperationalError, InterfaceError)
TRIES: Final = 3
FIRST_PAUSE_S: Final = 0.05
LONGEST_PAUSE_S: Final = 2.0


def is_away(error: BaseException) -> bool:
    """Whether nobody is there to ask: the connection broke, or the server refuses everybody."""
    if not isinstance(error, PASSING):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(("08", "57P"))


def again(work: Callable[[], T], *, tries: int = TRIES, until: float | None = None) -> T:
    """`work()`, repeated with growing pauses while it raises a passing error; the last one is raised.

    `work` is one transaction and nothing else: what it did before it failed was rolled back, or it finds
    out by itself that it was committed. With `until` (a `time.monotonic()` moment) as often as fits.
    """
    pauses = _pauses()
    for attempt in range(1, 1_000):
        try:
            return work()
        except PASSING as error:
            pause = next(pauses)
            over = attempt >= tries if until is None else time.monotonic() + pause > until
            if over:
                raise
            log.warning(
                "database_tried_again", attempt=attempt, error=type(error.__cause__ or error).__name__
            )
        time.sleep(pause)
    raise AssertionError("unreachable")  # pragma: no cover


def _pauses() -> Iterator[float]:
    """Growing, and never the same for two victims of one deadlock."""
    pause = FIRST_PAUSE_S
    while True:
        yield pause * random.uniform(0.5, 1.5)
        pause = min(pause * 2, LONGEST_PAUSE_S)

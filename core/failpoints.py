"""Named places where a test may kill, stop, delay or break the process. They do nothing in production.

    PEYK_FAILPOINTS="after_reserve=kill; before_socket=sleep:0.5@3; mid_record_tx=dberror:40P01,once"

`name=action[:argument][@n][#key][,once]`, entries separated by `;`. `@n` begins with the n-th hit of this
process, `,once` acts on that hit alone; `#key+key` counts only hits with one of these keys, where a
place names one (the row it is about). The variable is obeyed only under settings that say `TESTING`;
elsewhere `manage.py check` refuses it (`core.checks.check_failpoints`) and the points stay dead.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import OperationalError

VARIABLE: Final = "PEYK_FAILPOINTS"
PAUSE_AT_MOST_S: Final = 60.0

# In the order one message meets them. A test compares this list with the calls in the code.
NAMES: Final = (
    "before_claim",  # the tick, before a claim's transaction
    "in_claim_tx",  # claimed, not committed
    "after_claim",  # claimed, not dispatched
    "before_dispatch",  # before one chunk goes to the queue
    "after_dispatch",  # one chunk is in the queue
    "before_ack",  # the embedded worker has a message and has not acknowledged it
    "after_ack",  # acknowledged, not begun
    "before_reserve",  # the worker, before its first transaction
    "after_lone_take",  # suspects are taken, committed, and not begun
    "in_walk",  # one execution is about to be walked; its key is the row's id
    "after_budget",  # budget taken, message rows not written
    "followup_tx",  # follow-ups are recorded, their executions not moved on
    "mid_reserve_tx",  # message rows written, nothing committed
    "after_reserve",  # committed, nobody called
    "before_socket",  # one message, right before its request
    "after_http",  # one message is answered
    "before_record",  # all are answered, nothing recorded
    "mid_record_tx",  # results written, executions not moved
    "after_record",  # all committed
    "reap_read",  # the reaper has read stale rows
    "reap_write",  # the reaper has freed them, not committed
    "report_tx",  # delivery reports are stored, not committed
    "inbound_stored_tx",  # a message somebody wrote is kept, not committed
    "inbound_tx",  # it was acted on, not committed
    "event_told",  # those who wait for an event are due, its mark not taken away
    "import_piece_tx",  # one piece of a file is written, not committed
    "import_piece",  # one piece is committed, the next not begun
    "enrol_chunk_tx",  # one chunk of a selection has entered, not committed
    "enrol_chunk",  # one chunk is committed, the next not begun
    "newcomers_tx",  # new people entered by a rule, not committed
    "job_part",  # one part of a large job is committed, the next not begun
    "settle_chunk_tx",  # people followed their campaign's start or end, not committed
    "settle_chunk",  # one chunk is committed, the next not begun
)


class FailpointRaised(RuntimeError):
    """The action `raise`."""


class FailpointError(ValueError):
    """A specification that names no failpoint or no action."""


@dataclass(slots=True)
class _Armed:
    action: Callable[[], None]
    first: int = 1
    once: bool = False
    keys: frozenset[str] = frozenset()
    hits: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def hit(self, key: object) -> None:
        if self.keys and str(key) not in self.keys:
            return
        with self.lock:
            self.hits += 1
            acts = self.hits == self.first if self.once else self.hits >= self.first
        if acts:
            self.action()


_armed: dict[str, _Armed] | None = None  # None: the environment has not been read


def failpoint(name: str, key: object = None) -> None:
    """Do what this place is armed with; nothing unless a test armed it. `key` is what it is about."""
    if _armed is None:
        arm(os.environ.get(VARIABLE, "") if getattr(settings, "TESTING", False) else "")
    if _armed and name in _armed:
        _armed[name].hit(key)


def arm(spec: str) -> None:
    """Arm the points of `spec` and disarm all others. Raises FailpointError, and outside of tests."""
    global _armed
    if spec and not getattr(settings, "TESTING", False):
        raise FailpointError("failpoints are for tests")
    entries = (entry.strip() for entry in spec.split(";"))
    _armed = dict(_parse(entry) for entry in entries if entry)


@contextmanager
def acting(name: str, action: Callable[[], None], *, at: int = 1, once: bool = True) -> Iterator[None]:
    """For tests in one process: call `action` at the `at`-th hit of `name` inside the block."""
    global _armed
    if not getattr(settings, "TESTING", False):
        raise FailpointError("failpoints are for tests")
    before = _armed
    _armed = {**(before or {}), _known(name): _Armed(action, at, once)}
    try:
        yield
    finally:
        _armed = before


def _known(name: str) -> str:
    if name not in NAMES:
        raise FailpointError(f"no failpoint is called {name!r}")
    return name


def _parse(entry: str) -> tuple[str, _Armed]:
    name, _, rest = entry.partition("=")
    rest, _, flag = rest.partition(",")
    rest, _, key = rest.partition("#")
    what, _, nth = rest.partition("@")
    action, _, argument = what.partition(":")
    if flag not in ("", "once") or (nth and not nth.isdigit()):
        raise FailpointError(f"{entry!r} is no failpoint")
    act = _action(action.strip(), argument)
    keys = frozenset(filter(None, key.strip().split("+")))
    return _known(name.strip()), _Armed(act, int(nth or 1), flag == "once", keys)


def _action(word: str, argument: str) -> Callable[[], None]:
    match word:
        case "kill":
            return _kill
        case "raise":
            return _raise
        case "dberror":
            return lambda: _database_error(argument)
        case "sleep":
            seconds = float(argument)
            return lambda: time.sleep(seconds)
        case "pause" if argument:
            return lambda: _pause(Path(argument))
    raise FailpointError(f"{word!r} is none of kill, raise, dberror:SQLSTATE, sleep:SECONDS, pause:FILE")


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _raise() -> None:
    raise FailpointRaised


def _database_error(state: str) -> None:
    """What Django raises for a database error of this SQLSTATE; without one the connection broke."""
    cause = RuntimeError(f"SQLSTATE {state}")
    cause.sqlstate = state or None  # type: ignore[attr-defined]  # where psycopg has it
    raise OperationalError("from a failpoint") from cause


def _pause(file: Path) -> None:
    """Make `file`, so that the test sees the place was reached, and wait until somebody removes it."""
    file.touch()
    stop = time.monotonic() + PAUSE_AT_MOST_S
    while file.exists() and time.monotonic() < stop:
        time.sleep(0.01)

"""What must wait until a change is stored, where the caller may have put a transaction around it.

`transaction.on_commit` would do, but for a refusal: whoever asked is to hear that the queue is away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Act = Callable[[], None]
_waiting: ContextVar[list[Act] | None] = ContextVar("peyk_afterwards", default=None)


def afterwards(act: Act) -> None:
    """Do `act` now; inside `held_back()` it waits in the list for whoever stores the change."""
    waiting = _waiting.get()
    if waiting is None:
        act()
    else:
        waiting.append(act)


@contextmanager
def held_back() -> Iterator[list[Act]]:
    """Within the block nothing is done afterwards; the caller does what is in the list, once it is stored."""
    acts: list[Act] = []
    token = _waiting.set(acts)
    try:
        yield acts
    finally:
        _waiting.reset(token)

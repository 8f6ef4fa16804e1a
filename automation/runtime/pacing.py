"""How many claimed executions may be worked now. The runtime asks; whoever knows the outside answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol
from uuid import UUID


class Pacer(Protocol):
    def blocks(self, ids: Sequence[int], token: UUID, deadline: float) -> Iterator[list[int]]:
        """Parts of a chunk, each handed out when it may be worked. Called, and waiting, in no transaction.

        What finds no turn before `deadline` (a `time.monotonic()` moment) is put back as if never claimed.
        """
        ...

    def room(self, workspace_id: int) -> int | None:
        """How many budgeted executions may be claimed beyond those that are; None is any number."""
        ...


class Unpaced:
    """Everything at once."""

    def blocks(self, ids: Sequence[int], _token: UUID, _deadline: float) -> Iterator[list[int]]:
        yield list(ids)

    def room(self, _workspace_id: int) -> int | None:
        return None


_pacer: Pacer = Unpaced()


def register_pacer(pacer: Pacer) -> None:
    global _pacer
    _pacer = pacer


def pacer() -> Pacer:
    return _pacer

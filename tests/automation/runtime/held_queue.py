"""A broker and workers in the hands of a test."""

from __future__ import annotations

from core.queue import Payload


class Died(BaseException):
    """The worker is gone."""


class HeldQueue:
    """A broker in the hands of the test: it keeps messages until they are worked, lost or doubled."""

    def __init__(self) -> None:
        self.waiting: list[tuple[str, Payload]] = []
        self.past: list[tuple[str, Payload]] = []

    def enqueue(self, name: str, payload: Payload, *, group: str) -> None:
        self.waiting.append((name, payload))
        self.past.append((name, payload))

    def depth(self) -> int:
        return len(self.waiting)

    def drain(self, *, seconds: float) -> int:
        return 0

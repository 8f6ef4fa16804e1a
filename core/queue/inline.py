"""Runs every task at once in the caller: tests, and hosts too small for a worker."""

from __future__ import annotations

import structlog

from core.queue.port import Payload, run

log = structlog.get_logger(__name__)


class InlineQueue:
    def enqueue(self, name: str, payload: Payload, *, group: str) -> None:
        try:
            run(name, payload)
        except Exception:
            # A worker process would have died alone; the caller must not die with it.
            log.exception("task_failed", task=name, group=group)

    def depth(self) -> int:
        return 0

    def drain(self, *, seconds: float) -> int:  # noqa: ARG002  # nothing ever waits here
        return 0

"""Several threads, each with a connection of its own, let go at one barrier."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connection

from core.tenancy import workspace_scope

T = TypeVar("T")


def at_once(count: int, work: Callable[[int], T], *, workspace_id: int) -> list[T]:
    """Run `work(0..count-1)` at the same moment in `count` threads, inside the workspace; their answers."""
    barrier = threading.Barrier(count)

    def run(index: int) -> T:
        try:
            with workspace_scope(workspace_id):
                barrier.wait(timeout=20)
                return work(index)
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))

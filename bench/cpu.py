"""Processor time of the processes that do the work, read from /proc: what a busy machine changes little."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Cpu:
    """Seconds of processor time."""

    scheduler: float = 0.0
    worker: float = 0.0
    database: float = 0.0

    @property
    def total(self) -> float:
        return self.scheduler + self.worker + self.database

    def parts(self) -> list[tuple[str, float]]:
        return [("scheduler", self.scheduler), ("worker", self.worker), ("database", self.database)]

    def __sub__(self, other: Cpu) -> Cpu:
        return Cpu(
            self.scheduler - other.scheduler, self.worker - other.worker, self.database - other.database
        )

    def __add__(self, other: Cpu) -> Cpu:
        return Cpu(
            self.scheduler + other.scheduler, self.worker + other.worker, self.database + other.database
        )


class Meter:
    """This process schedules, `worker` works, and the database is a server of its own on this machine."""

    def __init__(self, *, worker: int) -> None:
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            backend = cursor.fetchone()[0]
        self.worker, self.postmaster = worker, int(_stat(backend)[1])

    def read(self) -> Cpu:
        """What each has used so far. Sessions that ended are counted with their server."""
        server = _used(self.postmaster, with_the_dead=True)
        database = server + sum(_used(pid) for pid in _children(self.postmaster))
        return Cpu(_used(os.getpid()), _used(self.worker), database)


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name: state, parent, ..."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _used(pid: int, *, with_the_dead: bool = False) -> float:
    try:
        fields = _stat(pid)
    except FileNotFoundError:  # ended between two looks
        return 0.0
    return sum(int(value) for value in fields[11 : 15 if with_the_dead else 13]) / TICKS


def _children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        yield from (int(child) for child in (task / "children").read_text().split())

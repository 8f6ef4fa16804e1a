"""SQLite is for one host: a second one that would tick or work on the same file is refused.

A file that two hosts reach lies on a network disk, where neither its locks nor ours hold. So whoever ticks
or works keeps a sign of life with the identity of its host in the database, and refuses to begin while
another host's is fresh. One that went quiet may be taken over: a move needs nothing but a few minutes.

The identity is that of the running kernel, so processes and containers of one machine are one host whatever
they call themselves. After a restart the machine is known again by its id, or else waits those few minutes.
"""

from __future__ import annotations

import platform
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import structlog
from django.db import connection, transaction
from django.utils import translation
from django.utils.translation import gettext as _

from core import clock
from core.errors import TryLater
from core.heartbeat import beat
from core.models import Heartbeat

log = structlog.get_logger(__name__)

NAME: Final = "host"
QUIET_AFTER: Final = timedelta(minutes=3)  # then it is gone: both kinds of it give a sign once a minute
BOOT_ID, MACHINE_ID = Path("/proc/sys/kernel/random/boot_id"), Path("/etc/machine-id")


class SecondHost(TryLater):
    """Another host ticks or works on this SQLite file."""

    code = "second_host"


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """`boot` names the running kernel, `machine` what outlives a restart; each "" when it cannot be told."""

    boot: str
    machine: str
    name: str

    def is_it(self, other: Mapping[str, Any], *, seen: datetime, started: datetime) -> bool:
        """Whether `other`, last seen alive at `seen`, is this host, whose kernel runs since `started`.

        One machine id on two kernels that were alive at the same time is a cloned disk: two hosts.
        """
        if self.boot and other.get("boot"):
            same_kernel = self.boot == other["boot"]
            return same_kernel or (self._same_machine(other) and seen <= started)
        return self._same_machine(other)

    def _same_machine(self, other: Mapping[str, Any]) -> bool:
        return bool(self.machine) and self.machine == other.get("machine")


def here() -> Host:
    """This host. Where there is no `/proc` the address of its network card has to do."""
    boot, machine = _read(BOOT_ID), _read(MACHINE_ID)
    if not boot:
        machine = machine or f"{uuid.getnode():012x}"
    return Host(boot=boot, machine=machine, name=platform.node()[:100])


def hold() -> None:
    """Say that this host ticks or works now. Two statements on SQLite, none elsewhere.

    Raises SecondHost while another host does; its text is in English and Persian.
    """
    if connection.vendor != "sqlite":
        return
    with transaction.atomic():
        if (other := _other()) is None:
            beat(NAME, asdict(here()))
    if other is not None:
        log.error("second_host", other=other.name, last_seen=other.seen.isoformat())
        raise SecondHost(other.words(), host=other.name)


def is_elsewhere() -> bool:
    """Whether another host ticks or works on this database. One query on SQLite, none elsewhere."""
    return connection.vendor == "sqlite" and _other() is not None


def let_go() -> None:
    """Forget whose database it is: a person says that the other host is gone."""
    Heartbeat.objects.filter(name=NAME).delete()


@dataclass(frozen=True, slots=True)
class _Other:
    name: str
    seen: datetime

    def words(self) -> str:
        """What happened and what to do, in both languages: whoever reads a log has chosen none."""
        said = []
        for language in ("en", "fa"):
            with translation.override(language):
                said.append(
                    _(
                        "SQLite is for one host, and “%(host)s” works on this database. Stop the ticks and "
                        "workers there, or use PostgreSQL. If that host is gone, this one may begin three "
                        "minutes after its last sign of life."
                    )
                    % {"host": self.name}
                )
        return "\n".join(said)


def _other() -> _Other | None:
    row = Heartbeat.objects.filter(name=NAME).first()
    now = clock.now()
    if row is None or now - row.at >= QUIET_AFTER:
        return None
    if here().is_it(row.data, seen=row.at, started=now - timedelta(seconds=_up_for())):
        return None
    return _Other(str(row.data.get("name") or "?"), row.at)


def _up_for() -> float:
    clocks = (getattr(time, "CLOCK_BOOTTIME", None), time.CLOCK_MONOTONIC)
    return time.clock_gettime(next(one for one in clocks if one is not None))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()[:64]
    except (OSError, ValueError):
        return ""

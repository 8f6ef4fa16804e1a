"""Whether the installation is alive: the database answers, the scheduler and the queue gave signs of life."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import structlog
from django.db import DatabaseError

from core import clock
from core.models import Heartbeat

log = structlog.get_logger(__name__)

# How old a sign of life may be before somebody should look. Both are given at least once a minute.
LATE_AFTER_S: Mapping[str, int] = MappingProxyType({"tick": 180, "queue": 180})


@dataclass(frozen=True, slots=True)
class Health:
    """`ages`: seconds since each sign of life, None for one that never came."""

    database: bool
    ages: Mapping[str, float | None]

    @property
    def late(self) -> list[str]:
        """Names whose last sign of life is too old, or never came."""
        return [name for name, limit in LATE_AFTER_S.items() if self._is_late(name, limit)]

    @property
    def status(self) -> str:
        """`down` without a database, `late` when nothing moves messages along, else `ok`."""
        return "down" if not self.database else "late" if self.late else "ok"

    def _is_late(self, name: str, limit: int) -> bool:
        age = self.ages.get(name)
        return age is None or age > limit


def look() -> Health:
    """The state now, with one query. Never raises for a database that is away."""
    now = clock.now()
    try:
        beats = dict(Heartbeat.objects.values_list("name", "at"))
    except DatabaseError:
        log.exception("database_is_away")
        return Health(database=False, ages=dict.fromkeys(LATE_AFTER_S))
    names = sorted({*LATE_AFTER_S, *beats})
    ages = {name: (now - beats[name]).total_seconds() if name in beats else None for name in names}
    return Health(database=True, ages=ages)

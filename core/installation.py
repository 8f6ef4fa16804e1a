"""Which installation a database belongs to: a copy of it must not send.

A restored backup, a clone or a staging copy holds live credentials, due people and forgotten messages.
The database carries a stamp: the environment's name (`PEYK_ENVIRONMENT`) and the identity of the database
itself, which a copy does not share. Ticks, workers and gateways ask `refusal()` before anything leaves and
do nothing while it answers; `manage.py adopt_database` puts a new stamp on what a person looked at.

A host also remembers the highest message it has seen: a database that knows fewer has gone back in time.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final
from uuid import uuid4

import structlog
from django.conf import settings
from django.db import connection

from core import clock, one_host
from core.models import Installation

log = structlog.get_logger(__name__)

ASK_AGAIN_S: Final = 30.0  # how long an answer is good for
COMMAND: Final = "manage.py adopt_database"


class Refusal(StrEnum):
    """Why nothing may be sent from this database."""

    NONE = ""
    ANOTHER = "another_installation"  # the stamp names another database or another environment
    WENT_BACK = "database_went_back"  # it has forgotten messages that this host has seen
    SECOND_HOST = "second_host"  # a SQLite file that another host works on


@dataclass(slots=True)
class _Answer:
    refusal: Refusal
    until: float


_answer: _Answer | None = None
_watermark: Callable[[], int] = lambda: 0  # noqa: E731  # the highest message; sms registers it


def register_watermark(highest: Callable[[], int]) -> None:
    """`highest` answers with a number that never falls in one database, cheaply."""
    global _watermark
    _watermark = highest


def refusal() -> Refusal:
    """Whether this deployment must not send from this database, and why. At most four queries in half a
    minute; none in between. A database seen for the first time is stamped as ours."""
    global _answer
    if not settings.ENVIRONMENT_GUARD:
        return Refusal.NONE
    now = time.monotonic()
    if _answer is None or now >= _answer.until:
        found = _look()
        _answer = _Answer(found, now + ASK_AGAIN_S)
        if found:
            log.error("sending_refused", reason=str(found), remedy=COMMAND)
    return _answer.refusal


def forget() -> None:
    """Ask the database again next time: it was adopted, or another one is connected."""
    global _answer
    _answer = None


def adopt() -> Installation:
    """Put this deployment's stamp on the database; what other hosts remember of it counts no longer."""
    row, _made = Installation.objects.update_or_create(
        pk=1, defaults={"uid": uuid4(), "stamp": stamp(), "adopted_at": clock.now()}
    )
    _remember(row, _watermark())
    one_host.let_go()
    forget()
    return row


def stamp() -> str:
    """What tells this deployment and this database from others."""
    return f"{settings.ENVIRONMENT}|{_identity()}"


def _look() -> Refusal:
    row = Installation.objects.filter(pk=1).first()
    if row is None:
        Installation.objects.bulk_create(
            [Installation(pk=1, uid=uuid4(), stamp=stamp(), adopted_at=clock.now())], ignore_conflicts=True
        )
        row = Installation.objects.get(pk=1)
    if row.stamp != stamp():
        return Refusal.ANOTHER
    remembered = _remembered(row)  # before the database is asked: another process may be a message ahead
    highest = _watermark()
    if highest < remembered:
        return Refusal.WENT_BACK
    _remember(row, highest)
    return Refusal.SECOND_HOST if one_host.is_elsewhere() else Refusal.NONE


def _identity() -> str:
    """PostgreSQL: the cluster (kept by its physical replicas) and the database in it. SQLite: the file."""
    if connection.vendor == "sqlite":
        path = Path(str(connection.settings_dict["NAME"]))
        return f"sqlite:{path.stat().st_ino}" if path.exists() else "sqlite:memory"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT oid, has_function_privilege('pg_control_system()', 'execute') FROM pg_database "
            "WHERE datname = current_database()"
        )
        oid, may_ask = cursor.fetchone() or (0, False)
        cluster = 0
        if may_ask:  # a managed server may keep it to itself; then the database's number has to do
            cursor.execute("SELECT system_identifier FROM pg_control_system()")
            cluster = (cursor.fetchone() or (0,))[0]
    return f"postgresql:{cluster}:{oid}"


def _memory() -> Path:
    return Path(settings.VAR_DIR) / "installation.json"


def _remembered(row: Installation) -> int:
    """The highest message this host has seen in this database; 0 when it cannot say."""
    try:
        return int(json.loads(_memory().read_text(encoding="utf-8")).get(str(row.uid), 0))
    except (OSError, ValueError, AttributeError, TypeError):
        return 0


def _remember(row: Installation, highest: int) -> None:
    """Only of the last database: who forgets an older one asks nothing of it."""
    path = _memory()
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        fresh.write_text(json.dumps({str(row.uid): highest}), encoding="utf-8")
        fresh.replace(path)
    except OSError:
        log.warning("installation_not_remembered")

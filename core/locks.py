"""Named locks for jobs that must not overlap, and the contact lock that opt-outs and sends take."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import redis
import structlog
from django.conf import settings
from django.db import connection

from core.statements import run

log = structlog.get_logger(__name__)


@contextmanager
def named_lock(name: str, *, seconds: int = 120) -> Iterator[bool]:
    """Try to hold `name`; yields True when held, False when somebody else has it. Never waits.

    A file lock on one host; with Redis a lease of `seconds`, shared by all hosts, and while Redis is away
    the file lock again. It saves useless work only: conditional updates keep the data right without it.
    """
    if settings.REDIS_URL:
        lock = redis.Redis.from_url(settings.REDIS_URL).lock(
            f"peyk:lock:{name}", timeout=seconds, blocking=False
        )
        try:
            held = bool(lock.acquire())
        except redis.RedisError:
            log.warning("shared_lock_away", name=name)
        else:
            try:
                yield held
            finally:
                with suppress(redis.RedisError):  # what cannot be given back ends by itself
                    if held and lock.owned():
                        lock.release()
            return
    with _file_lock(name) as held:
        yield held


@contextmanager
def _file_lock(name: str) -> Iterator[bool]:
    path = Path(settings.VAR_DIR) / "locks" / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True


def contact_key(workspace_id: int, value: str) -> int:
    """A stable signed 64-bit key for one contact value of one workspace."""
    digest = hashlib.blake2b(f"{workspace_id}|{value}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def sending_key(workspace_id: int) -> int:
    """The key of "messages of this workspace are being prepared"."""
    return contact_key(workspace_id, "sending")


def lock_sending(workspace_id: int) -> None:
    """Wait until no message of the workspace is being prepared, and let none be until the transaction ends.

    Whoever prepares messages holds the other side (`lock_contacts(sends=True)`). SQLite has one writer at
    a time anyway.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [sending_key(workspace_id)])


def lock_contacts(workspace_id: int, values: Iterable[str], *, exclusive: bool, sends: bool = False) -> None:
    """Hold the contacts until the transaction ends; an exclusive holder is alone.

    Whoever decides to write to a number and whoever blocks it take the same lock, so one of them is
    first: either the block is seen, or the block waits until the message is reserved. Steps of campaigns
    take it exclusively, for what the number had already counts; a single test message shares it. One
    statement, keys in order (no deadlock among callers). SQLite has one writer at a time anyway.

    `sends`: what the transaction then reads of a stop of all sending stays true until it ends.
    """
    keys = sorted({contact_key(workspace_id, value) for value in values})
    if not (keys or sends) or connection.vendor != "postgresql":
        return
    function = "pg_advisory_xact_lock" if exclusive else "pg_advisory_xact_lock_shared"
    source = "unnest(%s::bigint[]) AS k"
    parameters = ["{" + ",".join(map(str, keys)) + "}"]
    if sends:  # first, so that whoever waits for this holds no contact
        shared = "(SELECT pg_advisory_xact_lock_shared(%s::bigint) OFFSET 0)"
        source = f"{shared} AS s LEFT JOIN {source} ON true"
        parameters.insert(0, str(sending_key(workspace_id)))
    run(f"SELECT count({function}(k)) FROM {source}", parameters)  # noqa: S608

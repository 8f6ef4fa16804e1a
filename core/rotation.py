"""Sealing every stored secret again with the newest data key.

Every app that stores secrets names its column here, so that no secret is forgotten when a key goes. A row
is changed only while it still holds what was read, so a secret that somebody replaces meanwhile stays
theirs; whatever stops the work, the next run goes on with the rows that are left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, QuerySet

from core.crypto import SecretUnreadable, needs_rotation, open_sealed, seal

CHUNK = 200


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """One column of sealed secrets. `rows` gives the rows of all workspaces, `bound_to` what a row's secret
    is bound to."""

    name: str
    rows: Callable[[], QuerySet[Any]]
    column: str
    bound_to: Callable[[Any], str]


@dataclass(slots=True, kw_only=True)
class Rotated:
    """`unreadable` are secrets that none of the configured keys opens."""

    sealed_again: int = 0
    current: int = 0
    unreadable: int = 0


_columns: dict[str, SealedColumn] = {}


def register_sealed(column: SealedColumn) -> None:
    _columns[column.name] = column


def sealed_columns() -> list[SealedColumn]:
    return list(_columns.values())


def rotate(column: SealedColumn) -> Rotated:
    """Seal what is not sealed with the newest key. Can be stopped and run again at any time."""
    done, last = Rotated(), None
    while chunk := _chunk(column, last):
        for row in chunk:
            _rotate_row(column, row, done)
        last = chunk[-1].pk
    return done


def _chunk(column: SealedColumn, last: object) -> list[Model]:
    rows = column.rows().exclude(**{column.column: ""}).order_by("pk")
    return list((rows.filter(pk__gt=last) if last is not None else rows)[:CHUNK])


def _rotate_row(column: SealedColumn, row: Model, done: Rotated) -> None:
    token = getattr(row, column.column)
    if not needs_rotation(token):
        done.current += 1
        return
    bound_to = column.bound_to(row)
    try:
        fresh = seal(open_sealed(token, bound_to=bound_to), bound_to=bound_to)
    except SecretUnreadable:
        done.unreadable += 1
        return
    unchanged = column.rows().filter(**{"pk": row.pk, column.column: token})
    if unchanged.update(**{column.column: fresh}):
        done.sealed_again += 1
    else:
        done.current += 1  # replaced while we looked: what is there now was sealed just now

"""Signs of life, kept in the database because memory caches are not shared between processes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import CharField, Func, QuerySet, Value

from core import clock
from core.models import Heartbeat


def beat(name: str, data: Mapping[str, Any] | None = None) -> None:
    """Record that `name` is alive now. One statement, but for the first time.

    Outside a transaction PostgreSQL does not wait for the disk: a sign of life that a crash takes away
    is given again by whoever lives on.
    """
    columns = {"at": clock.now(), "data": dict(data or {})}
    if not _unflushed(Heartbeat.objects.filter(name=name)).update(**columns):
        Heartbeat.objects.update_or_create(name=name, defaults=columns)


def last_beat(name: str) -> datetime | None:
    """When `name` was last alive, or None when it never was."""
    return Heartbeat.objects.filter(name=name).values_list("at", flat=True).first()


def _unflushed(rows: QuerySet[Heartbeat]) -> QuerySet[Heartbeat]:
    if connection.vendor != "postgresql" or connection.in_atomic_block:
        return rows  # the setting lasts until the transaction ends: never somebody else's
    setting = (Value("synchronous_commit"), Value("off"), Value(value=True))
    return rows.alias(commit=Func(*setting, function="set_config", output_field=CharField())).filter(
        commit="off"
    )

"""Signs of life, kept in the database because memory caches are not shared between processes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core import clock
from core.models import Heartbeat


def beat(name: str, data: Mapping[str, Any] | None = None) -> None:
    """Record that `name` is alive now."""
    Heartbeat.objects.update_or_create(name=name, defaults={"at": clock.now(), "data": dict(data or {})})


def last_beat(name: str) -> datetime | None:
    """When `name` was last alive, or None when it never was."""
    return Heartbeat.objects.filter(name=name).values_list("at", flat=True).first()

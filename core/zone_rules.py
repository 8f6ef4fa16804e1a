"""Which edition of the time zone rules this process reads, and which the stored moments were computed by.

Governments change the clocks; the rules come with the system or with the `tzdata` package. A process reads
them once. What waits for a local time was computed by the rules of its day, so the database remembers them.
"""

from __future__ import annotations

import zoneinfo
from functools import cache
from pathlib import Path
from typing import Any

import tzdata  # type: ignore[import-untyped]

from core.models import ZoneRules


@cache
def edition() -> str:
    """The edition in use, such as "2026b"; later ones sort behind. "" when it cannot be told."""
    for folder in map(Path, zoneinfo.TZPATH):
        if (folder / "tzdata.zi").is_file():
            with (folder / "tzdata.zi").open(encoding="ascii", errors="replace") as file:
                return file.readline().removeprefix("# version ").strip()[:20]
        if (folder / "Asia").is_dir():  # its zones are read, and it does not say of when they are
            return ""
    return str(tzdata.IANA_VERSION)


def remember(**_signal: Any) -> None:
    """After each migration: a database that remembers none was filled by the rules of today."""
    ZoneRules.objects.get_or_create(pk=1, defaults={"edition": edition()})

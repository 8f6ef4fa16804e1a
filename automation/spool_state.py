"""What of the answers kept on this host's disk (`automation.runtime.spool`) still waits to be stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings


@dataclass(frozen=True, slots=True)
class SpoolState:
    """`since`: when the waiting lines were last written. `unreadable`: some could not be opened and were put
    aside for a person."""

    size: int
    since: datetime | None
    unreadable: bool


def look() -> SpoolState:
    """Two looks at the disk. A folder that is not there holds nothing."""
    folder = Path(settings.VAR_DIR) / "spool"
    try:
        found = (folder / "answers").stat()
    except OSError:
        return SpoolState(0, None, _has_bytes(folder / "unreadable"))
    since = datetime.fromtimestamp(found.st_mtime, UTC) if found.st_size else None
    return SpoolState(found.st_size, since, _has_bytes(folder / "unreadable"))


def _has_bytes(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False

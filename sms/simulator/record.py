"""What the simulator saw and accepted, as lines of JSON that survive the death of either side."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

ACCEPTED_FILE = "accepted.jsonl"
REQUESTS_FILE = "requests.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedMessage:
    """One message that the provider took and would bill.

    `seq` counts from 1 in order of acceptance. `wall` is this machine's time, `clock` the product's
    own (they differ while a demonstration's clock runs ahead). `number` is as it was sent.
    """

    seq: int
    wall: datetime
    clock: datetime
    account: str
    number: str
    sender: str
    text: str
    id: str
    parts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRequest:
    """One request to send, whatever became of it. `attempt` counts the same text to the same number;
    `fault` names the configured fault that met it; `ids` are the messages accepted through it."""

    seq: int
    wall: datetime
    clock: datetime
    account: str
    number: str
    sender: str
    text: str
    attempt: int
    fault: str
    ids: tuple[str, ...]


def read(path: str | Path) -> list[AcceptedMessage]:
    """Every accepted message of a store (its folder or its file), oldest first.

    A last line torn by a crash is left out; a missing file is an empty list.
    """
    return [_accepted(row) for row in _rows(_file(path, ACCEPTED_FILE))]


def read_requests(path: str | Path) -> list[SeenRequest]:
    """Every request to send that a store has seen, oldest first."""
    return [_seen(row) for row in _rows(_file(path, REQUESTS_FILE))]


class Journal:
    """Appends to both files of one store. Whoever opens it is the only writer; calls may come from any
    thread. With `fsync` a line survives the machine's crash too, not only the process's."""

    def __init__(self, store: str | Path, *, fsync: bool = False) -> None:
        self.store = Path(store)
        self.store.mkdir(parents=True, exist_ok=True)
        self._fsync = fsync
        self._lock = threading.Lock()
        self._accepted = _open(self.store / ACCEPTED_FILE)
        self._requests = _open(self.store / REQUESTS_FILE)

    def accept(self, message: AcceptedMessage) -> None:
        self._append(self._accepted, asdict(message))

    def see(self, request: SeenRequest) -> None:
        self._append(self._requests, asdict(request))

    def close(self) -> None:
        with self._lock:
            self._accepted.close()
            self._requests.close()

    def _append(self, file: BinaryIO, row: Mapping[str, Any]) -> None:
        line = json.dumps(row, ensure_ascii=False, default=_iso).encode("utf-8", "replace") + b"\n"
        with self._lock:
            file.write(line)
            if self._fsync:
                os.fdatasync(file.fileno())


def _open(path: Path) -> BinaryIO:
    """The file, unbuffered, to append to; a torn last line is ended so that it spoils no other."""
    torn = path.exists() and path.stat().st_size > 0 and path.read_bytes()[-1:] != b"\n"
    file = path.open("ab", buffering=0)
    if torn:
        file.write(b"\n")
    return file


def _file(path: str | Path, name: str) -> Path:
    path = Path(path)
    return path / name if path.is_dir() else path


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    for line in path.read_bytes().split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def _accepted(row: dict[str, Any]) -> AcceptedMessage:
    return AcceptedMessage(**{**row, **_times(row)})


def _seen(row: dict[str, Any]) -> SeenRequest:
    return SeenRequest(**{**row, **_times(row), "ids": tuple(row["ids"])})


def _times(row: dict[str, Any]) -> dict[str, datetime]:
    return {name: datetime.fromisoformat(row[name]) for name in ("wall", "clock")}


def _iso(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"no JSON form for {type(value).__name__}")

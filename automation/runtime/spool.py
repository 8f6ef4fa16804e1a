"""Answers of the outside that the database could not take: kept in a file until it is back.

    VAR_DIR/spool/answers      one sealed line a failed record, appended and fsynced

What was answered is known to nobody else: without it a message that was taken ends `unknown`, and its
delivery report finds no message. Each tick and each worker of this host hands the lines to the actions
they came from, which store them as if they came late: only messages that are still in doubt take one.
A line is gone when all of it is settled, or after KEEP_FOR. Neither numbers nor texts are in it.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction

from automation.models import WorkflowExecution
from automation.runtime.actions.base import runtime_action
from automation.runtime.events import event_row, store
from core import clock, database_faults, installation
from core.crypto import SecretUnreadable, open_sealed, seal
from core.tenancy import workspace_scope

log = structlog.get_logger(__name__)

VERSION: Final = 1
BOUND_TO: Final = "spool:answers"
MAX_BYTES: Final = 64 * 1024 * 1024  # some 200,000 answers; a database that is away longer loses the rest
KEEP_FOR: Final = timedelta(days=3)
Fact = Mapping[str, Any]


@runtime_checkable
class KeepsAnswers(Protocol):
    """An action whose answers may be stored later.

    facts: what must be kept of `answers` as JSON values, without personal data; [] for nothing worth it.
    Each has its `step`: execution, cycle and node.
    settle: inside a transaction of the workspace; stores those `facts` that can be stored now and returns
    the others, with a line of history by execution for what was stored.
    """

    def facts(self, answers: Sequence[Any]) -> list[Fact]: ...

    def settle(
        self, facts: Sequence[Fact], token: UUID, now: datetime
    ) -> tuple[list[Fact], dict[int, list[tuple[str, Mapping[str, Any]]]]]: ...


@dataclass(frozen=True, slots=True)
class Line:
    """The answers of one chunk and action."""

    workspace_id: int
    action: str
    token: UUID
    at: datetime
    facts: tuple[Fact, ...]

    def sealed(self) -> str:
        plain = {
            "v": VERSION, "workspace": self.workspace_id, "action": self.action, "token": str(self.token),
            "at": self.at.isoformat(), "facts": self.facts,
        }  # fmt: skip
        return seal(json.dumps(plain), bound_to=BOUND_TO)

    @classmethod
    def opened(cls, text: str) -> Line:
        """Raises SecretUnreadable or ValueError for a line cut short, of other keys or of another version."""
        plain = json.loads(open_sealed(text, bound_to=BOUND_TO))
        if plain["v"] != VERSION:
            raise ValueError("a line of another version")
        at = datetime.fromisoformat(plain["at"])
        return cls(plain["workspace"], plain["action"], UUID(plain["token"]), at, tuple(plain["facts"]))


def keep(workspace_id: int, answers: Mapping[str, Sequence[Any]], token: UUID) -> None:
    """Write down what was answered, safe against a crash of this host. Never raises: what cannot be kept
    (a full disk, too many already) is said in the log, and its messages end `unknown`."""
    try:
        lines = _lines(workspace_id, answers, token)
        if lines:
            _append([line.sealed() for line in lines])
            log.warning(
                "answers_kept", workspace_id=workspace_id, count=sum(len(line.facts) for line in lines)
            )
    except Exception:
        log.exception("answers_not_kept", workspace_id=workspace_id)


def _lines(workspace_id: int, answers: Mapping[str, Sequence[Any]], token: UUID) -> list[Line]:
    lines = []
    for subtype, given in answers.items():
        action = runtime_action(subtype)
        facts = action.facts(given) if isinstance(action, KeepsAnswers) else []
        if facts:
            lines.append(Line(workspace_id, subtype, token, clock.now(), tuple(facts)))
    return lines


def settle() -> int:
    """Store what was kept on this host; returns how many answers. Costs one look at the disk when nothing is.

    System code, all workspaces. Raises nothing: the next tick or worker tries again.
    """
    try:
        if not _path().stat().st_size:
            return 0
    except OSError:
        return 0
    try:
        if installation.refusal():
            return 0  # they belong to another database than this one
        with _locked(wait=False) as held:
            return _settle_all() if held else 0
    except Exception:  # the database went away again, or the disk is full: the lines stay
        log.exception("answers_not_settled")
        return 0


def _path() -> Path:
    return Path(settings.VAR_DIR) / "spool" / "answers"


@contextmanager
def _locked(*, wait: bool) -> Iterator[bool]:
    """One process of this host at the file; False when somebody is at it and we do not wait."""
    path = _path()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with path.with_name("lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True


def _append(lines: Sequence[str]) -> None:
    data = "".join(f"{line}\n" for line in lines).encode()
    with _locked(wait=True), _path().open("ab") as file:
        if file.tell() + len(data) > MAX_BYTES:
            raise OSError(0, "the spool is full")
        if file.tell() and not _ends_a_line():
            data = b"\n" + data  # a crash cut the last line short: do not lose this one with it
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _ends_a_line() -> bool:
    with _path().open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _settle_all() -> int:
    """Every line in a transaction of its own; what is left replaces the file in one step."""
    done, left = 0, []
    for text in _path().read_text(encoding="ascii", errors="replace").splitlines():
        try:
            line = Line.opened(text)
        except (SecretUnreadable, ValueError, KeyError, TypeError):
            log.error("answers_unreadable")
            _put_aside(text)
            continue
        rest = _what_is_left(line)
        done += len(line.facts) - len(rest)
        if rest and clock.now() - line.at < KEEP_FOR:
            left.append(Line(line.workspace_id, line.action, line.token, line.at, tuple(rest)))
    _replace([line.sealed() for line in left])
    if done:
        log.warning("answers_settled", count=done, left=sum(len(line.facts) for line in left))
    return done


def _what_is_left(line: Line) -> Sequence[Fact]:
    """The facts of `line` that wait for a later turn. Raises only when the database is away or busy: a line
    that can never be stored must not hold up those behind it."""
    try:
        return _settle_line(line)
    except database_faults.PASSING:
        raise
    except Exception:
        log.exception("answers_not_settled", workspace_id=line.workspace_id)
        return line.facts


def _put_aside(text: str) -> None:
    """A line of a key that is missing may be read by a person who has it."""
    with _path().with_name("unreadable").open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")


def _settle_line(line: Line) -> Sequence[Fact]:
    action = runtime_action(line.action)
    if not isinstance(action, KeepsAnswers):
        return []
    now = clock.now()
    with workspace_scope(line.workspace_id), transaction.atomic():
        rest, notes = action.settle(line.facts, line.token, now)
        rows = WorkflowExecution.objects.in_bulk(list(notes))
        nodes = {fact["step"][0]: fact["step"][2] for fact in line.facts}
        store(
            [
                event_row(row, kind, now, node_id=nodes[pk], data=data)
                for pk, row in rows.items()
                for kind, data in notes[pk]
            ]
        )
    return rest


def _replace(lines: Sequence[str]) -> None:
    path = _path()
    fresh = path.with_name("answers.new")
    with fresh.open("wb") as file:
        file.write("".join(f"{line}\n" for line in lines).encode())
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)

"""What a tick does beside claiming: the steps that have work, found by one question for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from django.db.models import QuerySet

from core.questions import which_exist

Questions = Callable[[datetime], Sequence[QuerySet[Any]]]


class Lifecycle(Protocol):
    """A step of each tick, before claiming; answers what it did, by name. Two ticks may call it at once."""

    def __call__(self, now: datetime) -> Mapping[str, int]: ...


@dataclass(frozen=True, slots=True)
class _Entry:
    step: Lifecycle
    questions: Questions | None


_entries: list[_Entry] = []


def register_lifecycle(step: Lifecycle, *, questions: Questions | None = None) -> None:
    """Add a step, after those already registered.

    `questions` names the rows of which at least one exists when there is anything to do; the step is
    called only then. Each must be found by an index. Without questions it is called every time.
    """
    if all(entry.step != step for entry in _entries):
        _entries.append(_Entry(step, questions))


def steps_with_work(now: datetime) -> list[Lifecycle]:
    """The steps to call now, in the order of their registration. One statement, however many there are."""
    asked = [(entry, rows) for entry in _entries if entry.questions for rows in entry.questions(now)]
    answers = which_exist([rows for _, rows in asked])
    busy = [entry for (entry, _), answer in zip(asked, answers, strict=True) if answer]
    return [entry.step for entry in _entries if entry.questions is None or entry in busy]

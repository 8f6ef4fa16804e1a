"""What the runner asks of an action: decide and reserve for many at once, call outside, record at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol, runtime_checkable
from uuid import UUID

from automation.runtime.policy import RunPolicy
from automation.runtime.rows import Row
from automation.runtime.subjects import Subject
from engine.types import ActionResult, Facts, Perform

RECONCILE = "reconcile"  # reason of a wait for what the outside says of an attempt already made


class Step(NamedTuple):
    """One execution that stands at an action."""

    id: int  # the execution's
    execution: Row
    perform: Perform
    node_id: int
    subject: Subject
    facts: Facts
    policy: RunPolicy


@dataclass(slots=True, kw_only=True)
class Reserved:
    """What `reserve` decided: results known without a call, and what is still to be called.

    `events` are extra lines of history as (type, data) by execution id.
    """

    results: dict[int, ActionResult] = field(default_factory=dict)
    calls: list[Any] = field(default_factory=list)
    events: dict[int, list[tuple[str, Mapping[str, Any]]]] = field(default_factory=dict)

    def note(self, execution_id: int, kind: str, data: Mapping[str, Any]) -> None:
        self.events.setdefault(execution_id, []).append((kind, data))


class RuntimeAction(Protocol):
    """One kind of action. All methods cost a constant number of statements, however many steps.

    reserve: inside the transaction that took the executions; asks the guards, writes what must exist
    before the outside is touched. call: no transaction is open; touches the outside, raises nothing.
    abandon: inside the reaper's transaction; closes what dead workers left of these executions.
    record: inside the recording transaction; stores results once and returns one ActionResult a call,
    given when each step's retry would run (`retry_at`, by execution id).
    """

    subtype: str

    def reserve(self, steps: Sequence[Step], token: UUID, now: datetime) -> Reserved: ...

    def call(self, calls: Sequence[Any], deadline: float) -> Sequence[Any]: ...

    def results(self, answers: Sequence[Any], now: datetime) -> dict[int, ActionResult]: ...

    def abandon(
        self, execution_ids: Sequence[int], now: datetime
    ) -> dict[int, list[tuple[str, Mapping[str, Any]]]]: ...

    def record(
        self, answers: Sequence[Any], retry_at: Mapping[int, datetime], now: datetime
    ) -> dict[int, list[tuple[str, Mapping[str, Any]]]]: ...


class Calls(Protocol):
    """Calls to the outside that are being made while their caller does something else."""

    def wait_begun(self) -> None:
        """Wait until the last of them has begun."""
        ...

    def answers(self) -> Sequence[Any]:
        """Wait for all; what `RuntimeAction.call` returns. Raises nothing."""
        ...


@runtime_checkable
class Starting(Protocol):
    """A `RuntimeAction` whose calls can be left to themselves for a while."""

    def start(self, calls: Sequence[Any], deadline: float) -> Calls: ...


_actions: dict[str, RuntimeAction] = {}


def register_runtime_action(action: RuntimeAction) -> None:
    _actions[action.subtype] = action


def runtime_actions() -> list[RuntimeAction]:
    return list(_actions.values())


def runtime_action(subtype: str) -> RuntimeAction:
    """The registered action. Raises KeyError for one that is not."""
    return _actions[subtype]

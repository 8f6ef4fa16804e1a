"""A compiled version: immutable, checked, and quick to walk. Made by `engine.compile` only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import Any

from engine.comparing import ConditionError, as_number
from engine.conditions import Test
from engine.durations import Duration
from engine.presence import Reading
from engine.retry import RetryRule
from engine.types import NO_TIMEOUT, Arrival, Facts, NodeSpec, Position
from engine.zones import first_zone, resolve_local, zone


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionNode:
    """Something the runtime does. `action` is the registry key."""

    key: str
    spec: NodeSpec
    action: str
    config: Mapping[str, Any]
    consumes_budget: bool
    retry: RetryRule
    reaches_out: bool = True
    is_enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitNode:
    """A pause: `duration` from the moment the step was reached, or until the local time `at`.

    Exactly one of the two is set. `timezone` belongs to `at`; "" means the workspace's.
    """

    key: str
    spec: NodeSpec
    duration: Duration | None = None
    at: datetime | None = None
    timezone: str = ""
    is_enabled: bool = True

    @property
    def is_fixed(self) -> bool:
        """Whether the end does not depend on when the step was reached."""
        return self.at is not None

    def end(self, reached: datetime, facts: Facts) -> datetime:
        """When the wait is over (aware UTC) for someone who reached it at `reached`. Raises ZoneError."""
        if self.duration is not None:
            return self.duration.after(reached, zone(facts.workspace_timezone))
        assert self.at is not None
        return resolve_local(self.at, zone(self.timezone or facts.workspace_timezone))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockWaitNode:
    """A pause until the clock of the person (else of the workspace) shows `hour`:`minute`.

    by_habit: the person's own best hour (`target.best_hour`, 0 to 23) takes the place of `hour`.
    in_loop: a wait that is part of a loop never passes at once, since the loop would take no time.
    """

    key: str
    spec: NodeSpec
    hour: int
    minute: int = 0
    by_habit: bool = False
    in_loop: bool = False
    is_enabled: bool = True

    @property
    def is_fixed(self) -> bool:
        return False

    def end(self, reached: datetime, facts: Facts) -> datetime:
        """The next such moment from `reached` on (aware UTC); reached at it, the wait is over at once.

        Raises ZoneError when neither zone is known.
        """
        hour = best_hour(facts, self.hour) if self.by_habit else self.hour
        tz = first_zone(facts.timezone, facts.workspace_timezone)
        day = reached.astimezone(tz).date()
        while True:
            moment = resolve_local(datetime.combine(day, time(hour, self.minute)), tz)
            if moment > reached or (moment == reached and not self.in_loop):
                return moment
            day += timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventWaitNode:
    """A pause until the event comes (exit `default`) or `timeout` is over (exit `timeout`, else `default`).

    Without `timeout` there is no end but the event. `test` reads the event's properties (`event.name`).
    """

    key: str
    spec: NodeSpec
    event: str
    test: Test
    timeout: Duration | None = None
    is_enabled: bool = True

    def end(self, reached: datetime, facts: Facts) -> datetime:
        """When the wait is over without the event. Raises ZoneError."""
        if self.timeout is None:
            return NO_TIMEOUT
        return self.timeout.after(reached, zone(facts.workspace_timezone))

    def accepts(self, arrival: Arrival, end: datetime, facts: Facts, now: datetime) -> bool:
        """Whether `arrival` is what is waited for and came by `end`. An unanswerable filter refuses."""
        if arrival.name != self.event or arrival.at > end:
            return False
        try:
            return self.test(facts._replace(event=arrival.data), now)
        except ConditionError:
            return False

    def first_match(
        self, arrivals: Iterable[Arrival], position: Position, facts: Facts, now: datetime
    ) -> Arrival | None:
        """The earliest of `arrivals` that ends the wait begun at `position`, which stands at this node.

        What came at or before the moment the step became allowed belongs to an earlier step.
        """
        end = position.wake_at if position.entered and position.wake_at is not None else NO_TIMEOUT
        since = position.eligible_at
        fitting = (
            arrival
            for arrival in arrivals
            if (since is None or arrival.at > since) and self.accepts(arrival, end, facts, now)
        )
        return min(fitting, key=lambda arrival: arrival.at, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionNode:
    """A fork. reads_execution: the test looks at the execution's own values. readings: the fields it asks
    about; events: those it counts, with days back."""

    key: str
    spec: NodeSpec
    test: Test
    reads_execution: bool = False
    readings: tuple[Reading, ...] = ()
    events: Mapping[str, int] = field(default_factory=dict)
    is_enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchNode:
    """A fork of many: the first of `cases` that holds gives the exit `case_1`, `case_2`, ...

    None holds, or one cannot be answered: `default`.
    """

    key: str
    spec: NodeSpec
    cases: tuple[Test, ...]
    reads_execution: bool = False
    events: Mapping[str, int] = field(default_factory=dict)
    is_enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitNode:
    """A fork by share (`engine.splitting`): exits `branch_1`, `branch_2`, ... and, for who is held out,
    `holdout`, else the first branch. `variants` names the branches, "" where one has no name.
    """

    key: str
    spec: NodeSpec
    weights: tuple[float, ...]
    variants: tuple[str, ...]
    holdout_percent: float = 0
    salt: str = ""
    is_enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalNode:
    """The walk ends here as `goal_reached` when `event` happened after the entry, within `window`."""

    key: str
    spec: NodeSpec
    event: str
    window: timedelta | None = None
    is_enabled: bool = True

    def is_reached(self, facts: Facts, now: datetime) -> bool:
        """Entry is `execution.started_at`; without one nothing counts."""
        entered = facts.execution.get("started_at")
        if not isinstance(entered, datetime):
            return False
        latest = now if self.window is None else min(now, entered + self.window)
        return any(entered < moment <= latest for moment in facts.events.get(self.event, ()))


class EndBehavior(StrEnum):
    COMPLETE = "complete"
    STOP = "stop"
    LOOP = "loop"
    RESTART = "restart"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndNode:
    """Where a walk ends, or begins its next cycle at `to_node` after `delay` ("" is the first step)."""

    key: str
    spec: NodeSpec
    behavior: EndBehavior
    to_node: str = ""
    delay: Duration | None = None
    max_cycles: int = 1
    is_enabled: bool = True


Node = (
    ActionNode
    | WaitNode
    | ClockWaitNode
    | EventWaitNode
    | ConditionNode
    | SwitchNode
    | SplitNode
    | GoalNode
    | EndNode
)

_READING = ("case", "branch", "default", "success", "yes", "no", "failure", "timeout", "holdout")


def best_hour(facts: Facts, fallback: int) -> int:
    """The person's best hour, or `fallback` where there is none that can be used."""
    value = as_number(facts.target.get("best_hour"))
    return int(value) if value is not None and value in range(24) else fallback


def reading_order(port: str) -> tuple[int, int, str]:
    """A sort key: the exits of one node in the order people read them."""
    word, _, number = port.partition("_")
    place = _READING.index(word) if word in _READING else len(_READING)
    return place, int(number) if number.isdecimal() else 0, port


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """The ways out that are asked before every step: `test` holds, or the stay is as long as `max_stay`."""

    test: Test | None = None
    max_stay: timedelta | None = None
    reads_execution: bool = False

    def latest(self, facts: Facts) -> datetime | None:
        """When the stay is over, counted from `execution.started_at`; None when nothing limits it."""
        entered = facts.execution.get("started_at")
        if self.max_stay is None or not isinstance(entered, datetime):
            return None
        return entered + self.max_stay


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """A version that can run. The start node is not in it: a walk begins at `first`.

    events: the names of the events that its goals, waits and conditions ask about; event_days: how many
    days before now a condition looks back for them. leaving: ways out that are open at every step.
    returns: the exits (step, port) that lead back to a step on the way there: a new round begins.
    """

    first: str
    initial_delay: timedelta | None
    settings: Mapping[str, Any]
    events: frozenset[str] = frozenset()
    event_days: int = 0
    leaving: Leaving | None = None
    returns: frozenset[tuple[str, str]] = frozenset()
    nodes: Mapping[str, Node] = field(repr=False)
    edges: Mapping[str, Mapping[str, str]] = field(repr=False)

    def node(self, key: str) -> Node:
        """The step called `key`. Raises KeyError for another."""
        return self.nodes[key]

    def successor(self, key: str, port: str) -> str | None:
        """The step behind `port` of `key`; None when nothing is connected there."""
        exits = self.edges.get(key)
        return exits.get(port) if exits is not None else None

    def consumes_budget(self, key: str, *, is_holdout: bool = False) -> bool:
        """Whether running `key` uses up a unit of budget. False when disabled, unknown or passed by."""
        node = self.nodes.get(key)
        if not isinstance(node, ActionNode) or not node.is_enabled or not node.consumes_budget:
            return False
        return not (is_holdout and node.reaches_out)

    def keys(self) -> list[str]:
        """Every step's key, in stored order."""
        return list(self.nodes)

    def step_order(self) -> list[str]:
        """Every step once, as a reader follows the flow: a branch to its end, then the next branch."""
        order: dict[str, None] = {}
        pending = [self.first]
        while pending:
            key = pending.pop()
            if key in order:
                continue
            order[key] = None
            exits = self.edges.get(key, {})
            pending.extend(exits[port] for port in sorted(exits, key=reading_order, reverse=True))
        order.update(dict.fromkeys(self.nodes))  # steps that only a loop leads to come last
        return list(order)

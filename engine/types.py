"""The vocabulary of a walk: what goes in (`Definition`, `Position`, `Facts`) and what comes out (`Walk`).

What every step makes anew (facts, positions, outcomes, lines of history) are named tuples: as immutable as
the frozen data classes here and made in a fifth of their time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

NO_TIMEOUT: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""The end of a wait that only its event ends; any zone can show it."""


class FieldType(StrEnum):
    """What a condition may do with a field."""

    TEXT = "text"
    NUMBER = "number"
    BOOL = "bool"
    DATE = "date"
    DATETIME = "datetime"
    LIST = "list"


class NodeType(StrEnum):
    START = "start"
    ACTION = "action"
    WAIT = "wait"
    CONDITION = "condition"
    SWITCH = "switch"
    SPLIT = "split"
    GOAL = "goal"
    END = "end"


class Port(StrEnum):
    """The exits with a fixed name. A switch also has `case_1`, `case_2`, ..., a split `branch_1`, ..."""

    DEFAULT = "default"
    YES = "yes"
    NO = "no"
    SUCCESS = "success"
    FAILURE = "failure"
    TIMEOUT = "timeout"  # of a wait for an event
    HOLDOUT = "holdout"  # of a split


class Profile(StrEnum):
    """What a graph may be made of, and how complete it must be."""

    CAMPAIGN = "campaign"  # every exit connected, an end that is reached; no journey kinds
    JOURNEY = "journey"  # all kinds but ends that repeat; an exit that leads nowhere ends the walk


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSpec:
    """One step as stored. `config` is the JSON object of the node's own kind."""

    key: str
    type: str
    subtype: str
    config: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    is_enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeSpec:
    source: str
    port: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A workflow version as data, not yet checked."""

    nodes: tuple[NodeSpec, ...]
    edges: tuple[EdgeSpec, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)


class ActionStatus(StrEnum):
    """How an action ended, told apart by what the walk does next."""

    SUCCESS = "success"  # accepted: go on by `success` or `default`
    FAILED = "failed"  # temporary: retry by the node's rule
    REJECTED = "rejected"  # final: no retry, exhaustion behaviour at once
    SKIPPED = "skipped"  # nothing was done: go on by `default`
    UNKNOWN = "unknown"  # may have happened: go on by `default`, never repeat
    HELD = "held"  # may have happened, or was not done: a person decides (status `paused`)
    BLOCKED = "blocked"  # a guard stopped it: the status in `status` is set
    DEFERRED = "deferred"  # not now: park until `until`, nothing is used up
    CANCELLED = "cancelled"  # the walk ends as `cancelled` with `reason`


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResult:
    """What the runtime reports back for a `Perform`.

    `until` is required for DEFERRED; with FAILED it is the earliest moment for a retry, when the other
    side named one. `halt_status` for BLOCKED (the execution status to set);
    for HELD the word of the action, `unknown` unless given;
    `reason` is a stable word (`window`, `limit`, `provider`, `target_removed`, ...).
    """

    status: ActionStatus
    reason: str = ""
    until: datetime | None = None
    halt_status: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


class Position(NamedTuple):
    """Where one execution stands. Stored by the runtime, changed only by `walk`.

    cycle: the round, from 1. It grows with a loop or restart at an end, a restart by hand, and each time an
    exit leads back to a step on the way there, so that what is done again is told apart from a repeat.
    entered: the step at `node` was begun already (its wait was started, its action was asked for).
    eligible_at: the moment this step first became allowed; a deferral never changes it.
    retries: retries of this step so far. steps_since_wait: nodes run since the last timed wait.
    last_action: status word of the last action ("" before the first).
    wake_at: None until the arrival at `node` is in the history (a fresh position, or one behind an
    initial, loop or restart delay); from then on the moment the step may next run: its arrival,
    the end of its wait, of its retry delay or of its deferral.
    variant, is_holdout: what the last split gave. A holdout stays one for the rest of the walk.
    """

    node: str
    cycle: int = 1
    entered: bool = False
    eligible_at: datetime | None = None
    retries: int = 0
    steps_since_wait: int = 0
    last_action: str = ""
    wake_at: datetime | None = None
    variant: str = ""
    is_holdout: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """An event that came in for the subject. `data` are its properties, flat and plain."""

    name: str
    at: datetime
    data: Mapping[str, Any] = field(default_factory=dict)


_NOTHING: Final[Mapping[str, Any]] = {}


class Facts(NamedTuple):
    """A snapshot of the subject for conditions and texts.

    `target`, `execution`, `campaign`, `workspace` are flat mappings of plain values
    (str, int, float, bool, None, aware datetime, date, list of str).
    `timezone` is the subject's zone name, `workspace_timezone` the workspace's.
    subject: what a split hashes, such as the person's id; a split cannot be walked without it.
    events: when each event that the graph asks about (`Graph.events`) happened, in any order.
    arrival: the event this walk was woken for, if it was. `event`: properties a condition may read as
    `event.name`; inside the filter of a wait they are the arrival's.
    """

    target: Mapping[str, Any] = _NOTHING
    execution: Mapping[str, Any] = _NOTHING
    campaign: Mapping[str, Any] = _NOTHING
    workspace: Mapping[str, Any] = _NOTHING
    timezone: str = ""
    workspace_timezone: str = "UTC"
    subject: str = ""
    event: Mapping[str, Any] = _NOTHING
    events: Mapping[str, Sequence[datetime]] = _NOTHING
    arrival: Arrival | None = None


class TraceEntry(NamedTuple):
    """One line of history. `type` is an execution event word (`node_entered`, `wait_started`,
    `wait_finished`, `condition_evaluated`, `skipped`, `suppressed`, `retry_scheduled`, `deferred_window`,
    `deferred_limit`, `deferred_provider`, `blacklisted`, `paused`, `completed`, `failed`, `cancelled`,
    `exited`).

    `data` holds JSON values only (moments as ISO 8601 text)."""

    type: str
    node: str
    at: datetime
    data: Mapping[str, Any]


class Perform(NamedTuple):
    """The runtime must do `action` with `config`, then call `walk` again with the result."""

    position: Position
    action: str
    config: Mapping[str, Any]


class Park(NamedTuple):
    """Nothing to do before `until`. `reason`: wait, retry, window, limit, provider, delay.

    clears_metadata: a restart forgets the run-time variables of the cycle that ended; a loop keeps them.
    event: the name of the event that ends the wait before `until` (walk again with `Facts.arrival`);
    `until` is `NO_TIMEOUT` when nothing else ends it.
    """

    position: Position
    until: datetime
    reason: str
    clears_metadata: bool = False
    event: str = ""


class Finish(NamedTuple):
    """The walk is over (or halted): `status` is the execution status to store."""

    position: Position
    status: str
    reason: str


class Yield(NamedTuple):
    """Store the position and come back: step budget used up, or a budgeted action came up
    after other steps and must pass the scheduler first. `due` is when it may be claimed."""

    position: Position
    due: datetime
    consumes_budget: bool


Outcome = Perform | Park | Finish | Yield


class Walk(NamedTuple):
    trace: tuple[TraceEntry, ...]
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One reason why a definition cannot be published (or one warning).

    `code` is stable; `fields` fill the translated sentence. `node` is a node key or "" for the whole graph.
    """

    code: str
    node: str = ""
    port: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)

"""The moving part of one call of the walk: where it stands, how it moves on, what it leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from engine.graph import Graph
from engine.types import Facts, Finish, Outcome, Position, TraceEntry

_NO_EXITS: Final[Mapping[str, str]] = {}


class Mover:
    """The moving part of one call: the position, unpacked, and the history so far."""

    __slots__ = (
        "cycle",
        "eligible_at",
        "entered",
        "facts",
        "graph",
        "is_holdout",
        "key",
        "last_action",
        "now",
        "retries",
        "steps",
        "trace",
        "variant",
        "visited",
        "wake_at",
    )

    def __init__(self, graph: Graph, position: Position, facts: Facts, now: datetime) -> None:
        self.graph, self.facts, self.now = graph, facts, now
        (
            self.key,
            self.cycle,
            self.entered,
            eligible_at,
            self.retries,
            self.steps,
            self.last_action,
            self.wake_at,
            self.variant,
            self.is_holdout,
        ) = position
        self.eligible_at = eligible_at or now
        self.visited = 0
        self.trace: list[TraceEntry] = []

    def advance(self, *ports: str) -> Outcome | None:
        """Move to the successor behind the first connected port; without one the walk is over."""
        exits = self.graph.edges.get(self.key, _NO_EXITS)
        for port in ports:
            target = exits.get(port)
            if target is not None:
                if self.graph.returns and (self.key, port) in self.graph.returns:
                    self.cycle += 1
                self.key, self.entered, self.retries = target, False, 0
                self.steps += 1
                self.arrive()
                return None
        return self.finish("completed", "no_next_node")

    def arrive(self) -> None:
        self.wake_at = self.eligible_at
        self.trace.append(TraceEntry("node_entered", self.key, self.now, {"cycle": self.cycle}))

    def go_on(self, last_action: str, *ports: str) -> Outcome | None:
        self.last_action, self.eligible_at = last_action, self.now
        return self.advance(*ports)

    def finish(self, status: str, reason: str) -> Finish:
        self.log(status, {"reason": reason})
        return Finish(self.position(), status, reason)

    def log(self, kind: str, data: Mapping[str, Any], *, node: str = "") -> None:
        self.trace.append(TraceEntry(kind, node or self.key, self.now, data))

    def position(self) -> Position:
        return Position(
            self.key,
            self.cycle,
            self.entered,
            self.eligible_at,
            self.retries,
            self.steps,
            self.last_action,
            self.wake_at,
            self.variant,
            self.is_holdout,
        )

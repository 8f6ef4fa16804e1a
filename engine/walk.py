"""The walk: where one execution goes next, as data.

    walk(graph, position, facts, now) -> Walk(trace, outcome)

One call crosses as many light steps as it may and stops where the world is needed: `Perform` (the
caller acts, then calls again with the result), `Park`, `Finish` or `Yield`. It performs nothing and
reads no clock, so the runtime, the simulator and the forecast all use it.

Two rules shape it. A step that uses up budget is performed only as the first step of a call without a
result: reached after any other step it is yielded, so that budget and order are decided in one place.
And `eligible_at` of a step is the moment it became allowed (the end of the wait before it, not the
moment a late worker got there), so that an older backlog stays in front.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, assert_never

from engine.comparing import ConditionError
from engine.graph import (
    ActionNode,
    ClockWaitNode,
    ConditionNode,
    EndBehavior,
    EndNode,
    EventWaitNode,
    GoalNode,
    Graph,
    Leaving,
    Node,
    SplitNode,
    SwitchNode,
    WaitNode,
)
from engine.presence import absent
from engine.settling import Settler
from engine.splitting import branch_of, is_held_out
from engine.types import (
    ActionResult,
    Facts,
    Outcome,
    Park,
    Perform,
    Port,
    Position,
    Walk,
    Yield,
)
from engine.zones import ZoneError, zone

MAX_STEPS: Final = 100
BUDGET: Final = 50
_WHEN_DISABLED: Final[Mapping[type, str]] = {ConditionNode: Port.NO, SplitNode: "branch_1"}


def start_position(graph: Graph, now: datetime, *, cycle: int = 1) -> tuple[Position, datetime]:
    """Where a new execution stands (the first step) and when it is due, the initial delay included.

    For a restart by hand, pass the next `cycle`.
    """
    due = now if graph.initial_delay is None else now + graph.initial_delay
    return Position(node=graph.first, cycle=cycle, eligible_at=due), due


def retry_position(position: Position, now: datetime) -> Position:
    """The same step of the same cycle, to be tried afresh by hand at `now`."""
    return position._replace(entered=False, eligible_at=now, wake_at=now, retries=0, steps_since_wait=0)


def walk(
    graph: Graph,
    position: Position,
    facts: Facts,
    now: datetime,
    result: ActionResult | None = None,
    *,
    budget: int = BUDGET,
) -> Walk:
    """Go on from `position` until the world is needed.

    result: how the action at `position` ended; None when the execution just stands there.
    now: aware. budget: nodes this call may cross before it yields.

    The trace lists what happened, in order, all at `now`. A position whose node is not in `graph`
    finishes as failed (`node_missing`), an unusable workspace time zone likewise (`timezone_invalid`),
    more than 100 steps without a timed wait as `step_limit`.
    Raises ValueError for a result at a node that is no action, for DEFERRED without `until`, and for a
    split without `facts.subject`.
    """
    run = _Run(graph, position, facts, now)
    try:
        outcome = None if result is None else run.settle(result)
        while outcome is None:
            outcome = run.step(budget)
    except ZoneError:
        outcome = run.finish("failed", "timezone_invalid")
    if graph.leaving is not None and isinstance(outcome, Park):
        outcome = _no_later(outcome, graph.leaving.latest(facts))
    return Walk(tuple(run.trace), outcome)


def _no_later(park: Park, latest: datetime | None) -> Park:
    """Somebody whose stay ends during a pause is woken for it."""
    return park if latest is None or park.until <= latest else park._replace(until=latest)


class _Run(Settler):
    """One call: crosses steps until the world is needed."""

    __slots__ = ()

    def step(self, budget: int) -> Outcome | None:
        """Cross the node the run stands at, or say what is needed there. None: it was crossed."""
        node = self.graph.nodes.get(self.key)
        if node is None:
            return self.finish("failed", "node_missing")
        if self.graph.leaving is not None and (reason := self.way_out(self.graph.leaving)):
            return self.finish("exited", reason)
        if self.wake_at is None:
            if self.eligible_at > self.now:
                return Park(self.position(), self.eligible_at, "delay")
            self.arrive()
        why_skipped = "" if node.is_enabled else "disabled"
        if isinstance(node, ActionNode) and not why_skipped:
            if self.is_holdout and node.reaches_out:
                why_skipped = "holdout"
            elif self.visited and node.consumes_budget:
                return Yield(self.position(), due=self.eligible_at, consumes_budget=True)
        if self.visited >= budget:
            consumes = self.graph.consumes_budget(self.key, is_holdout=self.is_holdout)
            return Yield(position=self.position(), due=self.now, consumes_budget=consumes)
        if self.steps >= MAX_STEPS and not isinstance(node, EndNode):
            return self.finish("failed", "step_limit")
        self.visited += 1
        return self.skip(node, why_skipped) if why_skipped else self.visit(node)

    def way_out(self, leaving: Leaving) -> str:
        """Why the walk is left before this step, if it is: the criteria first, then the longest stay."""
        try:
            if leaving.test is not None and leaving.test(self.own_facts(leaving.reads_execution), self.now):
                return "exit_criteria"
        except ConditionError:
            pass  # who cannot be asked stays
        latest = leaving.latest(self.facts)
        return "max_duration" if latest is not None and self.now >= latest else ""

    def skip(self, node: Node, reason: str) -> Outcome | None:
        """Pass by a step that is off, or an action that somebody held out must not see."""
        self.log("suppressed" if reason == "holdout" else "skipped", {"reason": reason})
        if reason == "holdout":
            self.last_action = "skipped"
        return self.advance(_WHEN_DISABLED.get(type(node), Port.DEFAULT))

    def visit(self, node: Node) -> Outcome | None:
        match node:
            case ActionNode(action=action, config=config):
                self.entered = True
                return Perform(self.position(), action, config)
            case ConditionNode():
                return self.branch(node)
            case WaitNode() | ClockWaitNode():
                return self.wait(node)
            case EndNode():
                return self.end(node)
            case SwitchNode():
                return self.switch(node)
            case SplitNode():
                return self.split(node)
            case EventWaitNode():
                return self.wait_for_event(node)
            case GoalNode():
                return self.goal(node)
            case unknown:
                assert_never(unknown)

    def branch(self, node: ConditionNode) -> Outcome | None:
        data: dict[str, Any] = {}
        if without := absent(node.readings, self.facts):
            data["absent"] = without
        try:
            outcome = Port.YES if node.test(self.own_facts(node.reads_execution), self.now) else Port.NO
        except ConditionError as exc:
            outcome = Port.NO
            data |= {"fallback": True, "error": exc.code, "field": exc.field}
        self.log("condition_evaluated", {"outcome": str(outcome), **data})
        return self.advance(outcome)

    def switch(self, node: SwitchNode) -> Outcome | None:
        data: dict[str, Any] = {}
        outcome: str = Port.DEFAULT
        facts = self.own_facts(node.reads_execution)
        try:
            for number, test in enumerate(node.cases, start=1):
                if test(facts, self.now):
                    outcome = f"case_{number}"
                    break
        except ConditionError as exc:
            data = {"fallback": True, "error": exc.code, "field": exc.field}
        self.log("condition_evaluated", {"outcome": str(outcome), **data})
        return self.advance(outcome)

    def split(self, node: SplitNode) -> Outcome | None:
        subject = self.facts.subject
        if not subject:
            raise ValueError(f"a split at {self.key!r} without a subject to hash")
        index = branch_of(node.key, subject, node.weights, salt=node.salt)
        ports = [f"branch_{index + 1}"]
        self.variant = node.variants[index]
        if is_held_out(node.key, subject, node.holdout_percent, salt=node.salt):
            self.is_holdout, self.variant = True, ""
            ports = [Port.HOLDOUT, "branch_1"]
        outcome = next((port for port in ports if self.graph.successor(self.key, port)), ports[-1])
        self.log(
            "condition_evaluated",
            {"outcome": str(outcome), "variant": self.variant, "holdout": self.is_holdout},
        )
        return self.advance(outcome)

    def goal(self, node: GoalNode) -> Outcome | None:
        reached = node.is_reached(self.facts, self.now)
        outcome = "reached" if reached else "not_reached"
        self.log("condition_evaluated", {"outcome": outcome, "event": node.event})
        return self.finish("completed", "goal_reached") if reached else self.advance(Port.DEFAULT)

    def own_facts(self, reads_execution: bool) -> Facts:
        """The facts, with what this very walk has done to the execution where a test asks for it."""
        if not reads_execution:
            return self.facts
        own = {"last_action_status": self.last_action, "cycle": self.cycle}
        return self.facts._replace(execution={**self.facts.execution, **own})

    def wait(self, node: WaitNode | ClockWaitNode) -> Outcome | None:
        end = self.wake_at if self.entered else None
        if end is None or node.is_fixed:  # a fixed moment is read again: zone rules may have changed
            end = node.end(self.now, self.facts)
        if end > self.now:
            if not self.entered:
                self.log("wait_started", {"until": end.isoformat()})
            self.entered, self.wake_at, self.steps = True, end, 0
            return Park(position=self.position(), until=end, reason="wait")
        return self.wake(end, {"until": end.isoformat()}, Port.DEFAULT)

    def wait_for_event(self, node: EventWaitNode) -> Outcome | None:
        end = self.wake_at if self.entered else None
        if end is None:
            end = node.end(self.now, self.facts)
            self.log("wait_started", {"until": end.isoformat(), "event": node.event})
        elif (arrival := self.facts.arrival) is not None and node.accepts(arrival, end, self.facts, self.now):
            data = {"until": arrival.at.isoformat(), "event": node.event}
            return self.wake(min(arrival.at, self.now), data, Port.DEFAULT)
        elif end <= self.now:
            data = {"until": end.isoformat(), "event": node.event, "reason": "timeout"}
            return self.wake(end, data, Port.TIMEOUT, Port.DEFAULT)
        self.entered, self.wake_at, self.steps = True, end, 0
        return Park(position=self.position(), until=end, reason="wait", event=node.event)

    def wake(self, end: datetime, data: Mapping[str, Any], *ports: str) -> Outcome | None:
        self.log("wait_finished", data)
        self.eligible_at = max(end, self.eligible_at)
        took_time = self.entered
        outcome = self.advance(*ports)
        if took_time:
            self.steps = 0
        return outcome

    def end(self, node: EndNode) -> Outcome:
        repeats = node.behavior in (EndBehavior.LOOP, EndBehavior.RESTART)
        if not repeats or node.delay is None or self.cycle >= node.max_cycles:
            return self.finish("completed", "stopped" if node.behavior is EndBehavior.STOP else "finished")
        until = node.delay.after(self.now, zone(self.facts.workspace_timezone))
        restarts = node.behavior is EndBehavior.RESTART
        data = {"until": until.isoformat(), "reason": str(node.behavior), "cycle": self.cycle + 1}
        self.log("wait_started", data)
        self.key, self.cycle = node.to_node or self.graph.first, self.cycle + 1
        self.entered, self.retries, self.steps = False, 0, 0
        self.eligible_at, self.wake_at = until, None
        if restarts:
            self.last_action = ""
        return Park(position=self.position(), until=until, reason="delay", clears_metadata=restarts)

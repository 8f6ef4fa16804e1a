"""A trial: one real person walks through the draft at once, and every decision is written down.

The walk is the engine's and the facts are those of real executions; waits are skipped, messages are written
and not sent, and nothing is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from automation import subject_events
from automation.action_specs import create_followup, send_sms
from automation.builder.people import Person, facts_of, policy_of
from automation.builder.trial_events import likely
from automation.builder.trial_followup import recorded
from automation.runtime.event_waits import with_events
from blacklist.queries import blocked_values
from core.phones import mobile_or_none
from engine.graph import EventWaitNode, Graph
from engine.text import parse_text, render
from engine.types import (
    NO_TIMEOUT,
    ActionResult,
    ActionStatus,
    Arrival,
    Facts,
    Finish,
    Park,
    Perform,
    Position,
    TraceEntry,
    Yield,
)
from engine.walk import start_position, walk
from sms.channel import Channel
from sms.models import SmsSettings
from sms.parts import count_parts
from workspaces.models import Workspace

MAX_STEPS: Final = 100
Kind = Literal["visited", "branch", "effect", "wait", "end", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One decision. `text` is a message as it would be sent, `code` a stable word (reason, outcome).

    `until` is the end of a wait that was skipped. `suggestion`: what to set right, as a stable word.
    """

    kind: Kind
    node: str
    at: datetime
    code: str = ""
    text: str = ""
    parts: int = 0
    until: datetime | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    suggestion: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What happened. `reached`: the walk came to an end within the limit."""

    lines: tuple[Line, ...]
    reached: bool
    outcome: str
    sends: int
    waits: int


@dataclass(slots=True, kw_only=True)
class _Walker:
    graph: Graph
    person: Person
    workspace: Workspace
    now: datetime
    window: Any = None
    channel: Channel | None = None
    blocked: bool = False
    at: datetime = field(init=False)
    lines: list[Line] = field(default_factory=list)
    known: list[Arrival] = field(default_factory=list)
    sends: int = 0
    waits: int = 0

    def __post_init__(self) -> None:
        self.at = self.now

    def facts(self, position: Position) -> Facts:
        facts = facts_of(self.person, self.workspace, at=self.now, position=position)
        if not self.graph.events:
            return facts
        return with_events(facts, self.known, self.graph, position, self.at)

    def run(self) -> Trial:
        position, due = start_position(self.graph, self.now)
        self.skip_to(position, due, "delay")
        result: ActionResult | None = None
        while len(self.lines) < MAX_STEPS:
            done = walk(self.graph, position, self.facts(position), self.at, result)
            result = None
            self.note(done.trace)
            outcome = done.outcome
            position = outcome.position
            match outcome:
                case Finish(status=status, reason=reason):
                    return self.finished(position, status, reason)
                case Park(until=until, reason=why):
                    if not self.parked(position, until, why):
                        return self.stuck(position)
                case Yield(due=due):
                    self.at = max(self.at, due)
                case Perform(action=action, config=config):
                    result = self.perform(position, action, config)
        self.lines = self.lines[: MAX_STEPS - 1]
        self.add("error", position.node, code="too_many_steps")
        return self.trial(reached=False, outcome="too_many_steps")

    def note(self, trace: tuple[TraceEntry, ...]) -> None:
        for entry in trace:
            match entry.type:
                case "condition_evaluated":
                    self.add("branch", entry.node, code=str(entry.data.get("outcome", "")), data=entry.data)
                case "skipped" if entry.data.get("reason") in ("disabled", "holdout"):
                    self.add("visited", entry.node, code=str(entry.data["reason"]))
                case "wait_finished":
                    if entry.data.get("reason") != "timeout" and not self._was_waiting(entry.node):
                        self.add("wait", entry.node, code="passed")

    def _was_waiting(self, node: str) -> bool:
        return bool(self.lines) and self.lines[-1].kind == "wait" and self.lines[-1].node == node

    def parked(self, position: Position, until: datetime, why: str) -> bool:
        """Skip a wait; of a wait for an event, the event comes. False when it can never end."""
        node = self.graph.nodes.get(position.node)
        if isinstance(node, EventWaitNode) and why == "wait":
            came = Arrival(name=node.event, at=self.at + timedelta(minutes=1), data=likely(node))
            if node.accepts(came, until, self.facts(position), came.at):
                self.known.append(came)
                self.skip_to(position, came.at, "event_came")
                return True
        if until >= NO_TIMEOUT:
            return False
        self.skip_to(position, until, why)
        return True

    def skip_to(self, position: Position, until: datetime, why: str) -> None:
        if until <= self.at:
            return
        self.waits += 1
        self.add("wait", position.node, code=why, until=until)
        self.at = until

    def perform(self, position: Position, action: str, config: Mapping[str, Any]) -> ActionResult:
        """Write the message as the sending path would; what would keep it back is the line's code."""
        if action == create_followup.SUBTYPE:
            self.add("effect", position.node, **recorded(config, self.facts(position), self.at))
            return ActionResult(status=ActionStatus.SUCCESS)
        if action != send_sms.SUBTYPE:
            self.add("effect", position.node, code="performed")
            return ActionResult(status=ActionStatus.SUCCESS)
        settings = send_sms.read(config)
        opens = policy_of(self.workspace, send_window=self.window).next_open(self.at)
        if settings.send_only_in_window and opens > self.at:
            self.skip_to(position, opens, "window")
        facts = self.facts(position)
        blank = settings.on_missing_variable == "send_blank"
        rendered = render(parse_text(settings.body), facts, on_missing="blank" if blank else "skip")
        assert self.channel is not None
        text = self.channel.compose(rendered.text, append_opt_out=settings.append_opt_out)
        data = {"missing": list(rendered.missing)}
        code = self._kept_back(text, skip=rendered.skip)
        suggestion = "fallback" if rendered.missing else "mobile" if code == "no_mobile" else ""
        parts = count_parts(text).parts if text else 0
        self.add(
            "effect", position.node, code=code or "sent", text=text, parts=parts, data=data,
            suggestion=suggestion,
        )  # fmt: skip
        if code == "blacklisted":
            return ActionResult(status=ActionStatus.BLOCKED, reason=code, halt_status="blacklisted")
        if code:
            return ActionResult(status=ActionStatus.SKIPPED, reason=code)
        self.sends += 1
        return ActionResult(status=ActionStatus.SUCCESS)

    def _kept_back(self, text: str, *, skip: bool) -> str:
        if self.blocked:
            return "blacklisted"
        if mobile_or_none(self.person.subject.contacts.get("sms", "")) is None:
            return "no_mobile"
        if skip:
            return "missing_personalisation"
        return "" if text else "empty_text"

    def finished(self, position: Position, status: str, reason: str) -> Trial:
        kind: Kind = "error" if status == "failed" else "end"
        self.add(kind, position.node, code=reason or status)
        return self.trial(reached=status != "failed", outcome=reason or status)

    def stuck(self, position: Position) -> Trial:
        self.add("error", position.node, code="never_ends", suggestion="time_limit")
        return self.trial(reached=False, outcome="never_ends")

    def add(self, kind: Kind, node: str, **values: Any) -> None:
        self.lines.append(Line(kind=kind, node=node, at=self.at, **values))

    def trial(self, *, reached: bool, outcome: str) -> Trial:
        return Trial(
            lines=tuple(self.lines), reached=reached, outcome=outcome, sends=self.sends, waits=self.waits
        )


def try_out(
    graph: Graph, person: Person, workspace: Workspace, now: datetime, *, settings: Mapping[str, Any]
) -> Trial:
    """Walk `person` through `graph`, beginning at `now`. A constant number of queries, nothing written."""
    value = mobile_or_none(person.subject.contacts.get("sms", ""))
    walker = _Walker(
        graph=graph,
        person=person,
        workspace=workspace,
        now=now,
        window=settings.get("send_window"),
        channel=Channel(accounts={}, primary=None, opt_out_text=_opt_out_text()),
        blocked=bool(value and blocked_values(workspace.pk, "sms", [value])),
        known=_happened(graph, person, workspace, now),
    )
    return walker.run()


def _opt_out_text() -> str:
    return SmsSettings.objects.values_list("opt_out_text", flat=True).first() or ""


def _happened(graph: Graph, person: Person, workspace: Workspace, now: datetime) -> list[Arrival]:
    """What the keeper of events knows of them, as far back as the draft looks."""
    if not graph.events:
        return []
    since = now - timedelta(days=graph.event_days)
    key = ("target", person.target.pk)
    known = subject_events.happened(workspace.pk, {key: dict.fromkeys(graph.events, since)})
    return list(known.get(key, ()))

"""Reading one node: its config against the rules of its kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from engine.compile_journey import (
    JOURNEY_TYPES,
    JOURNEY_WAITS,
    Asking,
    Reading,
    mode_differs,
    unknown_keys,
    unknown_subtype,
)
from engine.compile_shape import Shape
from engine.conditions import (
    check_condition,
    compile_condition,
    events_of,
    fields_of,
    is_empty,
    normalize_condition,
)
from engine.durations import Duration, parse_duration
from engine.graph import ActionNode, ConditionNode, EndBehavior, EndNode, WaitNode
from engine.presence import readings_of
from engine.retry import RetryRule, parse_retry
from engine.text import check_names, parse_text
from engine.types import FieldType, NodeSpec, NodeType, Problem, Profile
from engine.zones import ZoneError, zone

MIN_CYCLE_DELAY: Final = timedelta(hours=1)
MAX_CYCLES: Final = 1_000
_LOCAL: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?", re.ASCII)
_YEARS: Final = range(2000, 2200)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionSpec:
    """What compiling needs to know of one kind of action.

    ports: the ports it may leave by. check: every mistake in a config; the compiler adds the node. The
    key `retry` is the engine's: it is checked and read here, `check` should pass over it.
    consumes_budget: whether running that config uses up budget. texts: the texts in a config whose
    variables must be known. reaches_out: it touches more than the subject's own stored state (a message, a
    call, another flow), so somebody who is held out passes it by.
    """

    subtype: str
    ports: frozenset[str]
    check: Callable[[Mapping[str, Any]], Iterable[Problem]]
    consumes_budget: Callable[[Mapping[str, Any]], bool]
    texts: Callable[[Mapping[str, Any]], Iterable[str]]
    reaches_out: bool = True


class NodeReader:
    """Reads nodes of one definition; collects `warnings` on the way.

    event_texts: texts may name properties of the event that begins the walk.
    """

    def __init__(
        self,
        actions: Mapping[str, ActionSpec],
        variables: Collection[str],
        fields: Mapping[str, FieldType],
        retry: RetryRule,
        profile: Profile = Profile.CAMPAIGN,
        events: bool = False,
        event_texts: bool = False,
    ) -> None:
        self._actions = actions
        self._variables = variables
        self._fields = fields
        self._retry = retry
        self._asking = Asking(fields=fields, events=events)
        self._event_texts = event_texts
        self._is_journey = profile is Profile.JOURNEY
        self.warnings: list[Problem] = []

    def read(self, spec: NodeSpec, shape: Shape) -> Reading:
        """The node, or None with every problem of its config. Problems do not name the node yet."""
        is_wait = spec.type == NodeType.WAIT
        kind = spec.subtype if is_wait else spec.type
        read = (JOURNEY_WAITS if is_wait else JOURNEY_TYPES).get(kind)
        if read is not None and self._is_journey:
            return read(spec, shape, self._asking)
        if read is not None:
            return None, [Problem(code="kind_only_in_journeys", fields={"kind": str(kind)})]
        match spec.type:
            case NodeType.ACTION:
                return self._action(spec)
            case NodeType.WAIT:
                return _wait(spec)
            case NodeType.CONDITION:
                return self._condition(spec)
            case NodeType.END:
                if self._is_journey and spec.subtype in (EndBehavior.LOOP, EndBehavior.RESTART):
                    return None, [Problem(code="end_repeats_in_journey")]
                return _end(spec, shape)
            case _:
                return None, [Problem(code="node_type_unknown", fields={"type": str(spec.type)[:20]})]

    def _action(self, spec: NodeSpec) -> Reading:
        action = self._actions.get(spec.subtype)
        if action is None:
            return None, [unknown_subtype(spec)]
        config = dict(spec.config)
        retry = parse_retry(config.get("retry"), self._retry)
        problems = list(retry) if isinstance(retry, list) else []
        consumes = False
        try:
            problems += action.check(config)
            if not problems:
                consumes = action.consumes_budget(config)
            problems += self._texts(spec, action, config)
        except (TypeError, ValueError, KeyError, AttributeError):
            problems.append(Problem(code="config_malformed"))  # a config its own action cannot even read
        if problems or isinstance(retry, list):
            return None, problems
        node = ActionNode(
            key=spec.key,
            spec=spec,
            action=spec.subtype,
            config=config,
            consumes_budget=consumes,
            retry=retry,
            reaches_out=action.reaches_out,
            is_enabled=spec.is_enabled,
        )
        return node, []

    def _texts(self, spec: NodeSpec, action: ActionSpec, config: Mapping[str, Any]) -> list[Problem]:
        problems: list[Problem] = []
        for body in action.texts(config):
            text = parse_text(body)
            problems += check_names(text, self._variables, any_event=self._event_texts)
            if text.stray:
                fields = {"start": text.stray[0], "count": len(text.stray)}
                self.warnings.append(Problem(code="stray_brace", node=spec.key, fields=fields))
        return problems

    def _condition(self, spec: NodeSpec) -> Reading:
        if spec.subtype != "field_rules":
            return None, [unknown_subtype(spec)]
        if is_empty(spec.config):
            return None, [Problem(code="condition_empty")]
        problems = check_condition(spec.config, self._fields, events=self._asking.events)
        if problems:
            return None, problems
        tree = normalize_condition(spec.config)
        own = any(name.startswith("execution.") for name in fields_of(tree))
        node = ConditionNode(
            key=spec.key,
            spec=spec,
            test=compile_condition(tree, self._fields, events=self._asking.events),
            reads_execution=own,
            readings=readings_of(fields_of(tree)),
            events=events_of(tree),
            is_enabled=spec.is_enabled,
        )
        return node, []


def read_start(
    start: NodeSpec | None, triggers: Mapping[str, Callable[[Mapping[str, Any]], Iterable[Problem]]]
) -> tuple[timedelta | None, list[Problem]]:
    """The pause before the first step. Days and weeks are counted as 24 hours each here.

    `triggers` are the kinds of start besides `manual`, each with the check of its config.
    """
    if start is None:
        return None, []
    config = {key: value for key, value in start.config.items() if key != "initial_delay"}
    if start.subtype in triggers:
        problems = list(triggers[start.subtype](config))
    else:
        problems = [unknown_subtype(start)] if start.subtype != "manual" else []
        problems += unknown_keys(config, ())
    delay, found = _initial_delay(start.config.get("initial_delay"))
    return delay, [replace(problem, node=start.key) for problem in problems + found]


def _initial_delay(raw: object) -> tuple[timedelta | None, list[Problem]]:
    if raw is None:
        return None, []
    parsed = parse_duration(raw)
    if isinstance(parsed, list):
        return None, parsed
    if parsed.unit in ("month", "year"):
        return None, [Problem(code="duration_unit_unknown", fields={"unit": parsed.unit})]
    return parsed.at_least, []


def _wait(spec: NodeSpec) -> Reading:
    problems = mode_differs(spec, "mode") if spec.subtype in ("duration", "until") else []
    match spec.subtype:
        case "duration":
            duration = parse_duration(spec.config, extra_keys=frozenset({"mode"}))
            if isinstance(duration, list):
                return None, problems + duration
            node = WaitNode(key=spec.key, spec=spec, duration=duration, is_enabled=spec.is_enabled)
        case "until":
            problems += unknown_keys(spec.config, {"mode", "at", "timezone"})
            at = _local_moment(spec.config.get("at"))
            if at is None:
                problems.append(Problem(code="wait_until_invalid"))
            timezone = spec.config.get("timezone") or ""
            problems += _check_zone(timezone)
            node = WaitNode(
                key=spec.key, spec=spec, at=at, timezone=str(timezone), is_enabled=spec.is_enabled
            )
        case _:
            return None, [unknown_subtype(spec)]
    return (None, problems) if problems else (node, [])


def _check_zone(name: object) -> list[Problem]:
    if name == "":
        return []
    try:
        zone(name)
    except ZoneError:
        return [Problem(code="timezone_invalid", fields={"timezone": str(name)[:64]})]
    return []


def _local_moment(raw: object) -> datetime | None:
    """A local date-time without offset, within living memory; None for anything else."""
    if not isinstance(raw, str) or not _LOCAL.fullmatch(raw):
        return None
    try:
        parsed = datetime.fromisoformat(raw)
    except ValueError:
        return None
    return parsed if parsed.year in _YEARS else None


def _end(spec: NodeSpec, shape: Shape) -> Reading:
    if spec.subtype == "goto_workflow":
        return None, [Problem(code="end_goto_refused")]
    if spec.subtype not in set(EndBehavior):
        return None, [unknown_subtype(spec)]
    behavior = EndBehavior(spec.subtype)
    problems = mode_differs(spec, "behavior")
    if behavior in (EndBehavior.COMPLETE, EndBehavior.STOP):
        problems += unknown_keys(spec.config, {"behavior"})
        node = EndNode(key=spec.key, spec=spec, behavior=behavior)
        return (None, problems) if problems else (node, [])
    keys = {"behavior", "delay", "max_cycles"} | ({"to_node"} if behavior is EndBehavior.LOOP else set())
    problems += unknown_keys(spec.config, keys)
    delay, found = _cycle_delay(spec.config.get("delay"))
    problems += found
    cycles = spec.config.get("max_cycles")
    if isinstance(cycles, bool) or not isinstance(cycles, int) or not 1 <= cycles <= MAX_CYCLES:
        problems.append(Problem(code="end_max_cycles_invalid", fields={"max": MAX_CYCLES}))
        cycles = 1
    to_node = spec.config.get("to_node") or ""
    if to_node and not shape.is_step(to_node):
        problems.append(Problem(code="end_target_invalid", fields={"to_node": str(to_node)[:40]}))
    if problems:
        return None, problems
    return EndNode(
        key=spec.key, spec=spec, behavior=behavior, to_node=to_node, delay=delay, max_cycles=cycles
    ), []


def _cycle_delay(raw: object) -> tuple[Duration | None, list[Problem]]:
    delay = parse_duration(raw)
    if isinstance(delay, list):
        return None, delay
    if delay.at_least < MIN_CYCLE_DELAY:
        return None, [Problem(code="end_delay_too_short")]
    return delay, []

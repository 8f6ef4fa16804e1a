"""Reading the nodes that only journeys have: switch, split, goal, and waits for a clock or an event."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from engine.compile_shape import MAX_BRANCHES, Shape
from engine.conditions import Test, check_condition, compile_condition, events_of, fields_of, is_empty
from engine.durations import parse_duration
from engine.event_leaves import check_event_name
from engine.graph import ClockWaitNode, EventWaitNode, GoalNode, Node, SplitNode, SwitchNode
from engine.types import FieldType, NodeSpec, NodeType, Problem

Reading = tuple[Node | None, list[Problem]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What conditions may ask: `fields` by full name, and whether about `events`."""

    fields: Mapping[str, FieldType]
    events: bool = False


MAX_NAME: Final = 100
MAX_WINDOW_DAYS: Final = 3650
MAX_WEIGHT: Final = 1_000_000


def unknown_subtype(spec: NodeSpec) -> Problem:
    return Problem(code="node_subtype_unknown", fields={"subtype": str(spec.subtype)[:50]})


def unknown_keys(config: Mapping[str, Any], known: Collection[str]) -> list[Problem]:
    """One problem for each key of a config that nothing reads."""
    return [
        Problem(code="config_key_unknown", fields={"key": str(key)[:40]})
        for key in config
        if key not in known
    ]


def mode_differs(spec: NodeSpec, key: str) -> list[Problem]:
    """The config may repeat the subtype (`mode`, `behavior`), but not contradict it."""
    if spec.config.get(key, spec.subtype) == spec.subtype:
        return []
    return [Problem(code="config_value_invalid", fields={"key": key})]


def _switch(spec: NodeSpec, _shape: Shape, asking: Asking) -> Reading:
    """`{"cases": [{"label": "...", "definition": tree}, ...]}`; exits case_1, case_2, ... and default."""
    if spec.subtype != "cases":
        return None, [unknown_subtype(spec)]
    problems = unknown_keys(spec.config, {"cases"})
    entries = spec.config.get("cases")
    if not isinstance(entries, (list, tuple)) or not 0 < len(entries) <= MAX_BRANCHES:
        return None, [*problems, Problem(code="switch_cases_count", fields={"max": MAX_BRANCHES})]
    for number, entry in enumerate(entries, start=1):
        problems += _check_case(entry, f"case_{number}", asking)
    if problems:
        return None, problems
    trees = [entry["definition"] for entry in entries]
    node = SwitchNode(
        key=spec.key,
        spec=spec,
        cases=tuple(compile_condition(tree, asking.fields, events=asking.events) for tree in trees),
        reads_execution=any(name.startswith("execution.") for tree in trees for name in fields_of(tree)),
        events=_events_of(trees),
        is_enabled=spec.is_enabled,
    )
    return node, []


def _events_of(trees: list[Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for tree in trees:
        for name, days in events_of(tree).items():
            found[name] = max(found.get(name, 0), days)
    return found


def _check_case(entry: object, port: str, asking: Asking) -> list[Problem]:
    if (
        not isinstance(entry, Mapping)
        or not set(entry) <= {"label", "definition"}
        or not _is_name(entry.get("label", ""), empty=True)
    ):
        return [Problem(code="switch_case_malformed", port=port)]
    tree = entry.get("definition")
    if is_empty(tree):
        return [Problem(code="condition_empty", port=port)]
    return [
        Problem(code=found.code, port=port, fields=found.fields)
        for found in check_condition(tree, asking.fields, events=asking.events)
    ]


def _split(spec: NodeSpec, _shape: Shape, _asking: Asking) -> Reading:
    """`{"branches": [{"weight": 1, "variant": "A"}, ...], "holdout_percent": 10, "salt": ""}`."""
    if spec.subtype != "share":
        return None, [unknown_subtype(spec)]
    problems = _split_problems(spec.config)
    if problems:
        return None, problems
    entries = spec.config["branches"]
    node = SplitNode(
        key=spec.key,
        spec=spec,
        weights=tuple(entry["weight"] for entry in entries),
        variants=tuple(entry.get("variant", "") for entry in entries),
        holdout_percent=spec.config.get("holdout_percent", 0),
        salt=spec.config.get("salt", ""),
        is_enabled=spec.is_enabled,
    )
    return node, []


def _split_problems(config: Mapping[str, Any]) -> list[Problem]:
    problems = unknown_keys(config, {"branches", "holdout_percent", "salt"})
    entries = config.get("branches")
    if not isinstance(entries, (list, tuple)) or not 0 < len(entries) <= MAX_BRANCHES:
        problems.append(Problem(code="split_branches_count", fields={"max": MAX_BRANCHES}))
        entries = []
    for number, entry in enumerate(entries, start=1):
        if not _is_branch(entry):
            problems.append(Problem(code="split_branch_invalid", port=f"branch_{number}"))
    if not _is_number(config.get("holdout_percent", 0), 0, 100):
        problems.append(Problem(code="split_holdout_invalid"))
    if not _is_name(config.get("salt", ""), empty=True):
        problems.append(Problem(code="config_value_invalid", fields={"key": "salt"}))
    if not problems and not any(entry["weight"] for entry in entries):
        problems.append(Problem(code="split_weights_zero"))
    return problems


def _is_branch(entry: object) -> bool:
    return (
        isinstance(entry, Mapping)
        and set(entry) <= {"weight", "variant"}
        and _is_number(entry.get("weight"), 0, MAX_WEIGHT)
        and _is_name(entry.get("variant", ""), empty=True)
    )


def _goal(spec: NodeSpec, _shape: Shape, _asking: Asking) -> Reading:
    """`{"event": "order_paid", "window_days": 7}`; without `window_days` any later event counts."""
    if spec.subtype != "event":
        return None, [unknown_subtype(spec)]
    problems = unknown_keys(spec.config, {"event", "window_days"})
    event, days = spec.config.get("event"), spec.config.get("window_days")
    problems += check_event_name(event)
    if days is not None and not _is_whole(days, 1, MAX_WINDOW_DAYS):
        problems.append(Problem(code="goal_window_invalid", fields={"max": MAX_WINDOW_DAYS}))
    if problems:
        return None, problems
    window = None if days is None else timedelta(days=days)
    return GoalNode(key=spec.key, spec=spec, event=str(event), window=window, is_enabled=spec.is_enabled), []


def _until_time(spec: NodeSpec, shape: Shape, _asking: Asking) -> Reading:
    """`{"hour": 9, "minute": 30}`; the minute may be left out."""
    problems = mode_differs(spec, "mode") + unknown_keys(spec.config, {"mode", "hour", "minute"})
    hour, minute = spec.config.get("hour"), spec.config.get("minute", 0)
    if not _is_whole(hour, 0, 23) or not _is_whole(minute, 0, 59):
        problems.append(Problem(code="wait_hour_invalid"))
    return _clock(spec, shape, hour, minute, problems)


def _until_best_time(spec: NodeSpec, shape: Shape, _asking: Asking) -> Reading:
    """`{"fallback_hour": 10}`, which has no default."""
    problems = mode_differs(spec, "mode") + unknown_keys(spec.config, {"mode", "fallback_hour"})
    hour = spec.config.get("fallback_hour")
    if not _is_whole(hour, 0, 23):
        problems.append(Problem(code="wait_fallback_hour_invalid"))
    return _clock(spec, shape, hour, 0, problems)


def _clock(spec: NodeSpec, shape: Shape, hour: Any, minute: Any, problems: list[Problem]) -> Reading:
    if problems:
        return None, problems
    node = ClockWaitNode(
        key=spec.key,
        spec=spec,
        hour=hour,
        minute=minute,
        by_habit=spec.subtype == "until_best_time",
        in_loop=spec.key in shape.in_loops,
        is_enabled=spec.is_enabled,
    )
    return node, []


def _for_event(spec: NodeSpec, _shape: Shape, asking: Asking) -> Reading:
    """`{"event": "order_paid", "filter": tree, "amount": 2, "unit": "days"}`; all but the event optional."""
    config = spec.config
    problems = mode_differs(spec, "mode")
    problems += unknown_keys(config, {"mode", "event", "filter", "amount", "unit"})
    problems += check_event_name(config.get("event"))
    tree = config.get("filter")
    problems += check_condition(tree, asking.fields, about="event")
    timeout = None
    if config.get("amount") is not None or config.get("unit") is not None:
        parsed = parse_duration({"amount": config.get("amount"), "unit": config.get("unit")})
        if isinstance(parsed, list):
            problems += parsed
        else:
            timeout = parsed
    if problems:
        return None, problems
    test: Test = compile_condition(tree, asking.fields, about="event")
    node = EventWaitNode(
        key=spec.key,
        spec=spec,
        event=config["event"],
        test=test,
        timeout=timeout,
        is_enabled=spec.is_enabled,
    )
    return node, []


def _is_name(value: object, *, empty: bool = False) -> bool:
    return isinstance(value, str) and len(value) <= MAX_NAME and (empty or bool(value.strip()))


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _is_number(value: object, low: float, high: float) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high


Reader = Callable[[NodeSpec, Shape, Asking], Reading]
JOURNEY_TYPES: Final[Mapping[str, Reader]] = {
    NodeType.SWITCH: _switch,
    NodeType.SPLIT: _split,
    NodeType.GOAL: _goal,
}
JOURNEY_WAITS: Final[Mapping[str, Reader]] = {
    "until_time": _until_time,
    "until_best_time": _until_best_time,
    "for_event": _for_event,
}

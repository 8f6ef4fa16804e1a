"""Small definitions for engine tests, and actions that exist only here."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from engine.compile import ActionSpec, Compiled, compile_definition
from engine.graph import Graph
from engine.types import (
    Definition,
    EdgeSpec,
    Facts,
    FieldType,
    NodeSpec,
    Park,
    Perform,
    Position,
    Problem,
    Profile,
    Walk,
)
from engine.walk import start_position

NOON = datetime(2026, 5, 2, 12, 0, tzinfo=UTC)
PORTS = frozenset({"default", "success", "failure"})
FIELDS = {
    "target.city": FieldType.TEXT,
    "target.age": FieldType.NUMBER,
    "target.is_vip": FieldType.BOOL,
    "target.born": FieldType.DATE,
    "target.seen_at": FieldType.DATETIME,
    "target.lists": FieldType.LIST,
    "execution.last_action_status": FieldType.TEXT,
    "execution.cycle": FieldType.NUMBER,
}
VARIABLES = frozenset({"target.first_name", "target.name", "target.city", "target.landline"})


def _check_ping(config: Mapping[str, Any]) -> Iterable[Problem]:
    if not str(config.get("body", "x")).strip():
        yield Problem(code="text_empty")


def _texts(config: Mapping[str, Any]) -> list[str]:
    return [config["body"]] if "body" in config else []


# `ping` uses up budget, `note` does not; `mark` changes only what is stored of the person.
ACTIONS = {
    "ping": ActionSpec(
        subtype="ping", ports=PORTS, check=_check_ping, consumes_budget=lambda _: True, texts=_texts
    ),
    "note": ActionSpec(
        subtype="note", ports=PORTS, check=lambda _: (), consumes_budget=lambda _: False, texts=_texts
    ),
    "mark": ActionSpec(
        subtype="mark",
        ports=PORTS,
        check=lambda _: (),
        consumes_budget=lambda _: False,
        texts=_texts,
        reaches_out=False,
    ),
}


def start(**config: Any) -> NodeSpec:
    return NodeSpec(key="start", type="start", subtype="manual", config=config)


def ping(key: str = "ping", *, on: bool = True, **config: Any) -> NodeSpec:
    return NodeSpec(key=key, type="action", subtype="ping", config=config, is_enabled=on)


def note(key: str = "note", *, on: bool = True, **config: Any) -> NodeSpec:
    return NodeSpec(key=key, type="action", subtype="note", config=config, is_enabled=on)


def wait(key: str, amount: int, unit: str, *, on: bool = True) -> NodeSpec:
    config = {"mode": "duration", "amount": amount, "unit": unit}
    return NodeSpec(key=key, type="wait", subtype="duration", config=config, is_enabled=on)


def until(key: str, at: str, timezone: str = "UTC") -> NodeSpec:
    config = {"mode": "until", "at": at, "timezone": timezone}
    return NodeSpec(key=key, type="wait", subtype="until", config=config)


def ask(
    key: str, field: str = "target.city", operator: str = "=", value: Any = "Tehran", *, on: bool = True
) -> NodeSpec:
    rule = {"field": field, "operator": operator, "value": value}
    config = {"logic": "all", "rules": [rule]}
    return NodeSpec(key=key, type="condition", subtype="field_rules", config=config, is_enabled=on)


def end(key: str = "end", behavior: str = "complete", **config: Any) -> NodeSpec:
    return NodeSpec(key=key, type="end", subtype=behavior, config={"behavior": behavior, **config})


def mark(key: str = "mark") -> NodeSpec:
    return NodeSpec(key=key, type="action", subtype="mark")


def city_is(city: str) -> dict[str, Any]:
    return {"root": {"field": "target.city", "operator": "=", "value": city}}


def switch(key: str, *cases: Any, on: bool = True) -> NodeSpec:
    """Cases are trees."""
    config = {"cases": [{"label": "", "definition": tree} for tree in cases]}
    return NodeSpec(key=key, type="switch", subtype="cases", config=config, is_enabled=on)


def split(key: str, *weights: float, on: bool = True, **config: Any) -> NodeSpec:
    """Branches by weight, with the variants A, B, C, ..."""
    branches = [
        {"weight": weight, "variant": letter} for weight, letter in zip(weights, "ABCDEFGH", strict=False)
    ]
    return NodeSpec(
        key=key, type="split", subtype="share", config={"branches": branches, **config}, is_enabled=on
    )


def goal(key: str, event: str = "paid", *, on: bool = True, **config: Any) -> NodeSpec:
    return NodeSpec(key=key, type="goal", subtype="event", config={"event": event, **config}, is_enabled=on)


def wait_until(key: str, hour: int, minute: int = 0, *, on: bool = True) -> NodeSpec:
    config = {"mode": "until_time", "hour": hour, "minute": minute}
    return NodeSpec(key=key, type="wait", subtype="until_time", config=config, is_enabled=on)


def best_time(key: str, fallback_hour: int) -> NodeSpec:
    config = {"mode": "until_best_time", "fallback_hour": fallback_hour}
    return NodeSpec(key=key, type="wait", subtype="until_best_time", config=config)


def wait_for(key: str, event: str = "paid", **config: Any) -> NodeSpec:
    config = {"mode": "for_event", "event": event, **config}
    return NodeSpec(key=key, type="wait", subtype="for_event", config=config)


def edge(text: str) -> EdgeSpec:
    """`edge("a -> b")` leaves by `default`, `edge("a.yes -> b")` by `yes`."""
    source, target = text.split(" -> ")
    key, _, port = source.partition(".")
    return EdgeSpec(source=key, port=port or "default", target=target)


def line(*steps: NodeSpec, edges: Iterable[str] = (), **settings: Any) -> Definition:
    """Steps in a row behind a start; the end is added unless one is given. Conditions go on by `yes` and
    to the end by `no`; `edges` add more."""
    nodes = [*steps] if steps and steps[0].type == "start" else [start(), *steps]
    if nodes[-1].type != "end":
        nodes.append(end())
    connected = []
    for here, there in itertools.pairwise(nodes):
        if here.type == "condition":
            connected += [edge(f"{here.key}.yes -> {there.key}"), edge(f"{here.key}.no -> {nodes[-1].key}")]
        else:
            connected.append(edge(f"{here.key} -> {there.key}"))
    connected += [edge(text) for text in edges]
    return Definition(nodes=tuple(nodes), edges=tuple(connected), settings=settings)


def graph_of(nodes: Iterable[NodeSpec], *edges: str, **settings: Any) -> Definition:
    """Any definition, edge by edge."""
    return Definition(nodes=tuple(nodes), edges=tuple(edge(text) for text in edges), settings=settings)


def compiled(definition: Definition) -> Compiled:
    return compile_definition(definition, actions=ACTIONS, variables=VARIABLES, fields=FIELDS)


def runnable(definition: Definition) -> Graph:
    result = compiled(definition)
    assert result.graph is not None, result.problems
    return result.graph


def journey(*nodes: NodeSpec, edges: Iterable[str]) -> Definition:
    """A start in front of `nodes`, edge by edge."""
    return graph_of([start(), *nodes], *edges)


def compiled_journey(definition: Definition, *, events: bool = False) -> Compiled:
    return compile_definition(
        definition,
        actions=ACTIONS,
        variables=VARIABLES,
        fields=FIELDS,
        profile=Profile.JOURNEY,
        events=events,
    )


def runnable_journey(definition: Definition) -> Graph:
    result = compiled_journey(definition)
    assert result.graph is not None, result.problems
    return result.graph


def codes(problems: Iterable[Problem]) -> list[str]:
    return [problem.code for problem in problems]


def at_first(graph: Graph, now: datetime = NOON) -> Position:
    return start_position(graph, now)[0]


def kinds(done: Walk) -> list[str]:
    """The trace as `type node`."""
    return [f"{entry.type} {entry.node}" for entry in done.trace]


def performing(done: Walk) -> Perform:
    assert isinstance(done.outcome, Perform), done.outcome
    return done.outcome


def parked(done: Walk) -> Park:
    assert isinstance(done.outcome, Park), done.outcome
    return done.outcome


def person(**target: Any) -> Facts:
    return Facts(target=target)

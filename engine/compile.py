"""From a definition to a graph that can run, or to every reason why it cannot.

All problems are found in one pass, each naming its node and port; warnings stand apart and stop nothing.
Whatever the input is (huge, cyclic, self-connected, full of duplicates, of the wrong types), the answer
is a list, never an exception. Nothing here recurses over the graph, and every check is linear in it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from engine.compile_nodes import ActionSpec, NodeReader, read_start
from engine.compile_rounds import returning_exits
from engine.compile_settings import Settings, SettingsReader
from engine.compile_shape import Shape, read_shape, shape_warnings
from engine.graph import ActionNode, ConditionNode, EventWaitNode, GoalNode, Graph, Node, SwitchNode
from engine.portable import MAX_EDGES, MAX_NODES, check_values, too_big
from engine.types import Definition, FieldType, NodeSpec, NodeType, Port, Problem, Profile

__all__ = ["ActionSpec", "Compiled", "FieldType", "Profile", "compile_definition"]


TriggerCheck = Callable[[Mapping[str, Any]], Iterable[Problem]]
NO_TRIGGERS: Mapping[str, TriggerCheck] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """`graph` is None exactly when there are problems."""

    graph: Graph | None
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def compile_definition(
    definition: Definition,
    *,
    actions: Mapping[str, ActionSpec],
    variables: Collection[str],
    fields: Mapping[str, FieldType],
    profile: Profile = Profile.CAMPAIGN,
    triggers: Mapping[str, TriggerCheck] = NO_TRIGGERS,
    events: bool = False,
) -> Compiled:
    """Check `definition` and make it walkable.

    actions: by subtype. variables: full names a text may use ("target.first_name"). fields: what a
    condition may ask, by full name. triggers: what a journey may begin with besides `manual`: the subtype
    of the start, and a check of its config (the key `initial_delay` is the engine's); in a journey that
    one of them begins, texts may name any property of the event. events: whether the walker will know what
    happened to a subject, so that conditions may ask about events.
    """
    if len(definition.nodes) > MAX_NODES or len(definition.edges) > MAX_EDGES:
        problem = too_big(len(definition.nodes), len(definition.edges))
        return Compiled(graph=None, problems=(problem,), warnings=())
    shape, problems = read_shape(definition, {key: spec.ports for key, spec in actions.items()}, profile)
    asks_events = events and profile is Profile.JOURNEY
    settings, found = SettingsReader(profile, fields, asks_events).read(definition.settings)
    problems += found
    by_event = profile is Profile.JOURNEY and shape.start is not None and shape.start.subtype in triggers
    reader = NodeReader(
        actions, frozenset(variables), fields, settings.retry, profile, asks_events, event_texts=by_event
    )
    nodes, found = _read_nodes(shape, reader)
    problems += found
    delay, found = read_start(shape.start, triggers if profile is Profile.JOURNEY else NO_TRIGGERS)
    problems = _once(problems + found)
    warnings = _once([*reader.warnings, *shape_warnings(shape, _spends(nodes), profile)])
    graph = None if problems else _graph(shape, nodes, settings, delay)
    return Compiled(graph=graph, problems=tuple(problems), warnings=tuple(warnings))


def _graph(
    shape: Shape, nodes: Mapping[str, Node], settings: Settings, initial_delay: timedelta | None
) -> Graph | None:
    """The graph of a definition without problems, whose start therefore leads somewhere."""
    first = shape.edges.get(shape.start.key, {}).get(Port.DEFAULT) if shape.start else None
    if first is None:
        return None
    asked = _asked(nodes, settings)
    return Graph(
        first=first,
        initial_delay=initial_delay,
        settings=settings.values,
        events=frozenset(asked),
        event_days=max(asked.values(), default=0),
        leaving=settings.leaving,
        returns=returning_exits(shape, first) if shape.in_loops else frozenset(),
        nodes=nodes,
        edges=shape.edges,
    )


def _asked(nodes: Mapping[str, Node], settings: Settings) -> dict[str, int]:
    """The events that the graph asks about, and how many days back its conditions look."""
    asked = dict(settings.events)
    for node in nodes.values():
        if isinstance(node, (EventWaitNode, GoalNode)):
            asked.setdefault(node.event, 0)
        elif isinstance(node, (ConditionNode, SwitchNode)):
            for name, days in node.events.items():
                asked[name] = max(asked.get(name, 0), days)
    return asked


def _read_nodes(shape: Shape, reader: NodeReader) -> tuple[dict[str, Node], list[Problem]]:
    nodes: dict[str, Node] = {}
    problems: list[Problem] = []
    for spec in shape.nodes.values():
        if spec.type == NodeType.START:
            continue
        unfit = check_values(spec.config)
        node, found = (None, unfit) if unfit else reader.read(spec, shape)
        problems += [_at(spec, problem) for problem in found]
        if node is not None:
            nodes[spec.key] = node
    return nodes, problems


def _at(spec: NodeSpec, problem: Problem) -> Problem:
    return replace(problem, node=spec.key)


def _spends(nodes: Mapping[str, Node]) -> frozenset[str]:
    return frozenset(
        key
        for key, node in nodes.items()
        if isinstance(node, ActionNode) and node.is_enabled and node.consumes_budget
    )


def _once(problems: list[Problem]) -> list[Problem]:
    """Drop repeats: an action may find what the engine finds too."""
    seen: dict[tuple[str, str, str, str], Problem] = {}
    for problem in problems:
        key = (problem.code, problem.node, problem.port, repr(sorted(problem.fields.items(), key=str)))
        seen.setdefault(key, problem)
    return list(seen.values())

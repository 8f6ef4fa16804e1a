"""The shape of a definition: which nodes and edges there are, and whether they make one flow."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.types import Definition, EdgeSpec, NodeSpec, NodeType, Port, Problem, Profile

_KEY: Final = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)
_PORTS: Final[Mapping[str, frozenset[str]]] = {
    NodeType.START: frozenset({Port.DEFAULT}),
    NodeType.WAIT: frozenset({Port.DEFAULT}),
    NodeType.CONDITION: frozenset({Port.YES, Port.NO}),
    NodeType.GOAL: frozenset({Port.DEFAULT}),
    NodeType.END: frozenset(),
}
_REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    NodeType.START: (Port.DEFAULT,),
    NodeType.ACTION: (Port.DEFAULT,),
    NodeType.WAIT: (Port.DEFAULT,),
    NodeType.CONDITION: (Port.YES, Port.NO),
    NodeType.SWITCH: (Port.DEFAULT,),
    NodeType.END: (),
}
_REQUIRED_IN_JOURNEYS: Final = frozenset({NodeType.START, NodeType.SWITCH})
MAX_BRANCHES: Final = 50
TIMED_WAITS: Final = frozenset({"duration", "until_time", "until_best_time", "for_event"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Nodes by key (first of each), and where each port leads (only edges between known nodes).

    in_loops: the steps that a walk may come back to along the edges, however long that takes.
    """

    nodes: Mapping[str, NodeSpec]
    edges: Mapping[str, Mapping[str, str]]
    start: NodeSpec | None
    in_loops: frozenset[str] = frozenset()

    def is_step(self, key: object) -> bool:
        """Whether `key` is a node a walk can stand on and go on from."""
        node = self.nodes.get(key) if isinstance(key, str) else None
        return node is not None and node.type not in (NodeType.START, NodeType.END)

    def leads_to(self, key: str) -> list[str]:
        """Where `key` leads, the jump of a loop or restart included."""
        targets = list(self.edges.get(key, {}).values())
        node = self.nodes[key]
        if node.type == NodeType.END and node.subtype in ("loop", "restart"):
            to_node = node.config.get("to_node")
            if self.is_step(to_node):
                targets.append(str(to_node))
            elif self.start is not None:
                targets += self.edges.get(self.start.key, {}).values()
        return targets


def read_shape(
    definition: Definition, action_ports: Mapping[str, frozenset[str]], profile: Profile = Profile.CAMPAIGN
) -> tuple[Shape, list[Problem]]:
    """The shape, and every problem with it. `action_ports` are the ports by action subtype."""
    strict = profile is Profile.CAMPAIGN
    problems: list[Problem] = []
    nodes = _read_nodes(definition.nodes, problems)
    edges = _read_edges(definition.edges, nodes, action_ports, problems)
    starts = [node for node in nodes.values() if node.type == NodeType.START]
    shape = Shape(
        nodes=nodes, edges=edges, start=starts[0] if starts else None, in_loops=_in_loops(nodes, edges)
    )
    if not starts:
        problems.append(Problem(code="start_missing"))
    problems += [Problem(code="start_twice", node=node.key) for node in starts[1:]]
    if strict and not any(node.type == NodeType.END for node in nodes.values()):
        problems.append(Problem(code="end_missing"))
    for node in nodes.values():
        if strict or node.type in _REQUIRED_IN_JOURNEYS:
            problems += _unconnected(node, edges.get(node.key, {}))
        if not node.is_enabled and node.type in (NodeType.START, NodeType.END):
            problems.append(Problem(code="node_must_be_enabled", node=node.key))
    problems += _unreachable(shape)
    problems += _endless(shape)
    return shape, problems


def _read_nodes(specs: Iterable[Any], problems: list[Problem]) -> dict[str, NodeSpec]:
    """Specs may come from anywhere: what is not of the declared types stops here."""
    nodes: dict[str, NodeSpec] = {}
    for index, spec in enumerate(specs):
        if not _is_node(spec):
            problems.append(Problem(code="node_malformed", fields={"index": index}))
            continue
        key = spec.key
        if not _KEY.fullmatch(key):
            problems.append(Problem(code="node_key_invalid", fields={"key": key[:40]}))
        elif key in nodes:
            problems.append(Problem(code="node_duplicate", node=key))
        else:
            nodes[key] = spec
    return nodes


def _is_node(spec: Any) -> bool:
    if not isinstance(spec, NodeSpec):
        return False
    texts: tuple[Any, ...] = (spec.key, spec.type, spec.subtype, spec.name)
    config: Any = spec.config
    is_enabled: Any = spec.is_enabled
    return (
        all(isinstance(text, str) for text in texts)
        and isinstance(config, Mapping)
        and isinstance(is_enabled, bool)
    )


def _is_edge(spec: Any) -> bool:
    return isinstance(spec, EdgeSpec) and all(
        isinstance(value, str) for value in (spec.source, spec.port, spec.target)
    )


def _read_edges(
    specs: Iterable[Any],
    nodes: Mapping[str, NodeSpec],
    action_ports: Mapping[str, frozenset[str]],
    problems: list[Problem],
) -> dict[str, dict[str, str]]:
    edges: dict[str, dict[str, str]] = {}
    for index, edge in enumerate(specs):
        if not _is_edge(edge):
            problems.append(Problem(code="edge_malformed", fields={"index": index}))
            continue
        fault = _edge_fault(edge, nodes, action_ports)
        if fault is None and edge.port in edges.get(edge.source, {}):
            fault = Problem(code="port_twice", node=edge.source, port=edge.port)
        if fault is not None:
            problems.append(fault)
        else:
            edges.setdefault(edge.source, {})[edge.port] = edge.target
    return edges


def _edge_fault(
    edge: EdgeSpec, nodes: Mapping[str, NodeSpec], action_ports: Mapping[str, frozenset[str]]
) -> Problem | None:
    source, port, target = edge.source[:40], edge.port[:30], edge.target[:40]
    if edge.source not in nodes:
        return Problem(code="edge_from_nowhere", port=port, fields={"source": source, "target": target})
    if edge.target not in nodes:
        return Problem(code="edge_to_nowhere", node=source, port=port, fields={"target": target})
    if edge.source == edge.target:
        return Problem(code="edge_to_itself", node=source, port=port)
    if nodes[edge.target].type == NodeType.START:
        return Problem(code="edge_to_start", node=source, port=port)
    if edge.port not in ports_of(nodes[edge.source], action_ports):
        return Problem(code="port_unknown", node=source, port=port)
    return None


def ports_of(node: NodeSpec, action_ports: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The ports a node may leave by. Unknown kinds get all, since their kind is the problem to report."""
    if node.type == NodeType.ACTION and node.subtype in action_ports:
        return action_ports[node.subtype]
    match node.type:
        case NodeType.SWITCH:
            return frozenset({Port.DEFAULT, *numbered_ports(node, "case", "cases")})
        case NodeType.SPLIT:
            return frozenset({Port.HOLDOUT, *numbered_ports(node, "branch", "branches")})
        case NodeType.WAIT if node.subtype == "for_event":
            return frozenset({Port.DEFAULT, Port.TIMEOUT})
    return _PORTS.get(node.type, frozenset(Port))


def numbered_ports(node: NodeSpec, word: str, key: str) -> list[str]:
    """`case_1`, `case_2`, ...: one for each entry of the list in the config."""
    entries = node.config.get(key)
    count = min(len(entries), MAX_BRANCHES) if isinstance(entries, (list, tuple)) else 0
    return [f"{word}_{number}" for number in range(1, count + 1)]


def _unconnected(node: NodeSpec, exits: Mapping[str, str]) -> list[Problem]:
    return [
        Problem(code="port_unconnected", node=node.key, port=port)
        for port in _REQUIRED.get(node.type, ())
        if port not in exits
    ]


def _unreachable(shape: Shape) -> list[Problem]:
    if shape.start is None or shape.start.key not in shape.edges:
        return []  # nothing is reachable: one reason is given already
    seen = _reach([shape.start.key], shape.leads_to)
    return [
        Problem(code="node_unreachable", node=key)
        for key, node in shape.nodes.items()
        if key not in seen and node.type != NodeType.START
    ]


def _reach(roots: Iterable[str], leads_to: Any) -> set[str]:
    seen = set(roots)
    pending = deque(seen)
    while pending:
        for target in leads_to(pending.popleft()):
            if target not in seen:
                seen.add(target)
                pending.append(target)
    return seen


def takes_time(node: NodeSpec) -> bool:
    """Whether passing `node` surely takes time: an enabled wait, but not one until a fixed date."""
    return node.type == NodeType.WAIT and node.subtype in TIMED_WAITS and node.is_enabled


def _in_loops(nodes: Iterable[str], edges: Mapping[str, Mapping[str, str]]) -> frozenset[str]:
    leads_to = {key: list(edges.get(key, {}).values()) for key in nodes}
    return frozenset(key for knot in _knots(leads_to) for key in knot)


def _endless(shape: Shape) -> list[Problem]:
    """One problem for each knot of steps that could go round without any time passing.

    Steps that take time are taken out first; a loop of what is left is a knot.
    """
    quick = {
        key: [target for target in shape.edges.get(key, {}).values() if not takes_time(shape.nodes[target])]
        for key, node in shape.nodes.items()
        if not takes_time(node)
    }
    return [
        Problem(code="cycle_without_wait", node=knot[0], fields={"nodes": knot[:20]})
        for knot in _knots(quick)
    ]


def _knots(leads_to: Mapping[str, list[str]]) -> list[list[str]]:
    """The strongly connected groups of two or more (two depth-first passes with explicit stacks)."""
    back: dict[str, list[str]] = {key: [] for key in leads_to}
    for key, targets in leads_to.items():
        for target in targets:
            back[target].append(key)
    taken: set[str] = set()
    knots = []
    for root in reversed(_finishing_order(leads_to)):
        if root in taken:
            continue
        taken.add(root)
        group, pending = [root], [root]
        while pending:
            fresh = [key for key in dict.fromkeys(back[pending.pop()]) if key not in taken]
            taken.update(fresh)
            group += fresh
            pending += fresh
        if len(group) > 1:
            knots.append(group)
    return knots


def _finishing_order(leads_to: Mapping[str, list[str]]) -> list[str]:
    order: list[str] = []
    seen: set[str] = set()
    for root in leads_to:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(leads_to[root]))]
        while stack:
            key, targets = stack[-1]
            target = next((target for target in targets if target not in seen), None)
            if target is None:
                order.append(key)
                stack.pop()
            else:
                seen.add(target)
                stack.append((target, iter(leads_to[target])))
    return order


def shape_warnings(shape: Shape, spends: frozenset[str], profile: Profile) -> list[Problem]:
    """What runs but is probably not meant. `spends` are the steps that use up budget."""
    return [*_never_ends(shape, profile), *_node_warnings(shape, spends)]


def _never_ends(shape: Shape, profile: Profile) -> list[Problem]:
    back: dict[str, list[str]] = {key: [] for key in shape.nodes}
    for key, exits in shape.edges.items():
        for target in exits.values():
            back[target].append(key)
    ends = [key for key, node in shape.nodes.items() if _may_end(node, shape.edges.get(key, {}))]
    good = _reach(ends, back.__getitem__)
    if not ends and profile is Profile.CAMPAIGN:
        return []  # there is no end at all: that is a problem already
    return [Problem(code="never_ends", node=key) for key in shape.nodes if key not in good]


def _may_end(node: NodeSpec, exits: Mapping[str, str]) -> bool:
    """Whether a walk can end here: an end, a goal, or an exit that leads nowhere."""
    match node.type:
        case NodeType.END | NodeType.GOAL:
            return True
        case NodeType.SWITCH:
            return not {Port.DEFAULT, *numbered_ports(node, "case", "cases")} <= set(exits)
        case NodeType.SPLIT:
            return not set(numbered_ports(node, "branch", "branches")) <= set(exits)
    return not set(_REQUIRED.get(node.type, ())) <= set(exits)


def _node_warnings(shape: Shape, spends: frozenset[str]) -> Iterable[Problem]:
    for key, node in shape.nodes.items():
        exits = shape.edges.get(key, {})
        if not node.is_enabled:
            yield Problem(code="node_disabled", node=key)
        if node.type == NodeType.CONDITION and len(exits) == 2 and len(set(exits.values())) == 1:
            yield Problem(code="branches_alike", node=key)
        if key in spends:
            for port in (Port.DEFAULT, Port.SUCCESS):
                if exits.get(port) in spends:
                    yield Problem(
                        code="no_pause_between", node=key, port=port, fields={"target": exits[port]}
                    )

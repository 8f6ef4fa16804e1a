"""A definition as a list of steps, the way people read and edit it, and back.

A list ends, or forks at a condition whose two branches hold lists of their own; in journeys also at a
switch, a split, and a wait for an event that has a way of its own for the time-out. Everything a list can
say makes the round trip without loss; a graph that says more (branches that meet, a failure path, a
way back) is refused with the reason, so that nobody rewrites it unseen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from engine.compile_shape import ports_of
from engine.graph import reading_order
from engine.types import Definition, EdgeSpec, NodeSpec, NodeType, Port, Profile

MAX_DEPTH: Final = 50


class NotASequence(ValueError):
    """A list cannot draw this definition. `code` says why, `node` where ("" for the whole).

    Codes: start_missing, start_twice, node_duplicate, node_unknown_type, edge_to_nowhere, port_twice,
    port_unknown, failure_path, success_path, branches_meet, node_unreachable, too_deep.
    """

    def __init__(self, code: str, node: str = "") -> None:
        self.code = code
        self.node = node
        super().__init__(f"{code}: {node}" if node else code)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step. Nothing follows a step with branches.

    `yes` and `no` are a condition's. `branches` are (port, list) of the other forks, in reading order and
    with empty lists for the ports that lead nowhere.
    """

    node: NodeSpec
    yes: tuple[Step, ...] = ()
    no: tuple[Step, ...] = ()
    branches: tuple[tuple[str, tuple[Step, ...]], ...] = ()

    @property
    def forks(self) -> tuple[tuple[str, tuple[Step, ...]], ...]:
        """(port, list) of every branch; empty for a step that does not fork."""
        if self.node.type == NodeType.CONDITION:
            return (("yes", self.yes), ("no", self.no))
        return self.branches


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence:
    """`start` and the list behind it. A list may stop early: a draft need not be finished."""

    start: NodeSpec
    steps: tuple[Step, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


def to_sequence(definition: Definition, *, profile: Profile = Profile.CAMPAIGN) -> Sequence:
    """Read `definition` as a list. Raises NotASequence. Edges of loop and restart ends are no edges.

    The forks that only journeys have are read with that profile and refused without it.
    """
    nodes = _nodes(definition, profile)
    starts = [node for node in nodes.values() if node.type == NodeType.START]
    if len(starts) != 1:
        raise NotASequence("start_twice" if starts else "start_missing", starts[1].key if starts else "")
    exits = _exits(definition, nodes, profile)
    lists = _Lists(nodes, exits, profile)
    steps = lists.read(exits.get(starts[0].key, {}).get(Port.DEFAULT))
    for key in nodes:
        if key not in lists.seen and key != starts[0].key:
            raise NotASequence("node_unreachable", key)
    return Sequence(start=starts[0], steps=steps, settings=definition.settings)


def to_definition(sequence: Sequence, *, profile: Profile = Profile.CAMPAIGN) -> Definition:
    """The nodes and edges of `sequence`, in reading order. Raises NotASequence for keys used twice,
    steps behind a fork or an end, branches of what does not fork, and nesting past the limit."""
    nodes: list[NodeSpec] = [sequence.start]
    edges: list[EdgeSpec] = []
    pending = [(sequence.steps, sequence.start.key, str(Port.DEFAULT), 1)]
    while pending:
        steps, source, port, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise NotASequence("too_deep", source)
        branches: list[tuple[tuple[Step, ...], str, str, int]] = []
        for index, step in enumerate(steps):
            _check_step(step, profile, is_last=index == len(steps) - 1)
            nodes.append(step.node)
            edges.append(EdgeSpec(source=source, port=port, target=step.node.key))
            source, port = step.node.key, str(Port.DEFAULT)
            branches = [(inner, source, str(way), depth + 1) for way, inner in reversed(step.forks)]
        pending += branches
    definition = Definition(nodes=tuple(nodes), edges=tuple(edges), settings=sequence.settings)
    _nodes(definition, profile)
    return definition


def _check_step(step: Step, profile: Profile, *, is_last: bool) -> None:
    kind = step.node.type
    if kind == NodeType.START or kind not in _KINDS[profile]:
        raise NotASequence("node_unknown_type", step.node.key)
    if (step.yes or step.no) and kind != NodeType.CONDITION:
        raise NotASequence("port_unknown", step.node.key)
    ways = tuple(port for port, _ in step.branches)
    if ways and ways != _ways(step.node, has_timeout=True, profile=profile):
        raise NotASequence("port_unknown", step.node.key)
    if not is_last and (step.forks or kind == NodeType.END):
        raise NotASequence("port_unknown", step.node.key)


_KINDS: Final[Mapping[Profile, frozenset[str]]] = {
    Profile.CAMPAIGN: frozenset(
        {NodeType.START, NodeType.ACTION, NodeType.WAIT, NodeType.CONDITION, NodeType.END}
    ),
    Profile.JOURNEY: frozenset(NodeType),
}


def _ways(node: NodeSpec, *, has_timeout: bool, profile: Profile) -> tuple[str, ...]:
    """The ports of a fork other than a condition, in reading order; none for a step that does not fork."""
    if profile is Profile.CAMPAIGN:
        return ()
    match node.type:
        case NodeType.SWITCH | NodeType.SPLIT:
            return tuple(sorted(ports_of(node, {}), key=reading_order))
        case NodeType.WAIT if has_timeout and node.subtype == "for_event":
            return (Port.DEFAULT, Port.TIMEOUT)
    return ()


def _nodes(definition: Definition, profile: Profile) -> dict[str, NodeSpec]:
    nodes: dict[str, NodeSpec] = {}
    for node in definition.nodes:
        if node.key in nodes:
            raise NotASequence("node_duplicate", node.key)
        if node.type not in _KINDS[profile]:
            raise NotASequence("node_unknown_type", node.key)
        nodes[node.key] = node
    return nodes


def _exits(
    definition: Definition, nodes: Mapping[str, NodeSpec], profile: Profile
) -> dict[str, dict[str, str]]:
    exits: dict[str, dict[str, str]] = {}
    for edge in definition.edges:
        if edge.source not in nodes or edge.target not in nodes:
            raise NotASequence("edge_to_nowhere", edge.source if edge.source in nodes else "")
        ports = exits.setdefault(edge.source, {})
        if edge.port in ports:
            raise NotASequence("port_twice", edge.source)
        _check_port(nodes[edge.source], edge.port, profile)
        ports[edge.port] = edge.target
    return exits


def _check_port(node: NodeSpec, port: str, profile: Profile) -> None:
    if port in (Port.FAILURE, Port.SUCCESS):
        raise NotASequence(f"{port}_path", node.key)
    match node.type:
        case NodeType.CONDITION:
            known: tuple[str, ...] = (Port.YES, Port.NO)
        case NodeType.END:
            known = ()
        case _:
            known = _ways(node, has_timeout=True, profile=profile) or (Port.DEFAULT,)
    if port not in known:
        raise NotASequence("port_unknown", node.key)


@dataclass(slots=True)
class _Run:
    """A straight run of steps, and the places of the runs behind the ports of its last one."""

    nodes: list[NodeSpec]
    ways: list[tuple[str, int]] = field(default_factory=list)


class _Lists:
    """Reads the lists of a definition from the inside out, without recursion."""

    def __init__(
        self, nodes: Mapping[str, NodeSpec], exits: Mapping[str, Mapping[str, str]], profile: Profile
    ) -> None:
        self._nodes = nodes
        self._exits = exits
        self._profile = profile
        self.seen: set[str] = set()

    def read(self, first: str | None) -> tuple[Step, ...]:
        """The list that begins at `first`, with everything in its branches."""
        runs = self._runs(first)
        built: list[tuple[Step, ...]] = [()] * len(runs)
        for index in range(len(runs) - 1, -1, -1):  # a branch always comes after the list it belongs to
            run = runs[index]
            steps = [Step(node=node) for node in run.nodes]
            if run.ways:
                inner = tuple((port, built[place]) for port, place in run.ways)
                if run.nodes[-1].type == NodeType.CONDITION:
                    steps[-1] = replace(steps[-1], yes=inner[0][1], no=inner[1][1])
                else:
                    steps[-1] = replace(steps[-1], branches=inner)
            built[index] = tuple(steps)
        return built[0]

    def _runs(self, first: str | None) -> list[_Run]:
        runs: list[_Run] = []
        heads: list[tuple[str | None, int]] = [(first, 1)]
        for head, depth in heads:  # grows while it is read
            run = _Run(self._straight(head))
            if depth > MAX_DEPTH and run.nodes:
                raise NotASequence("too_deep", run.nodes[0].key)
            runs.append(run)
            for port in self._forks(run.nodes[-1]) if run.nodes else ():
                run.ways.append((port, len(heads)))
                heads.append((self._exits.get(run.nodes[-1].key, {}).get(port), depth + 1))
        return runs

    def _forks(self, node: NodeSpec) -> tuple[str, ...]:
        if node.type == NodeType.CONDITION:
            return ("yes", "no")
        has_timeout = Port.TIMEOUT in self._exits.get(node.key, {})
        return _ways(node, has_timeout=has_timeout, profile=self._profile)

    def _straight(self, key: str | None) -> list[NodeSpec]:
        """The steps from `key` to the next fork or to where the list stops."""
        run: list[NodeSpec] = []
        while key is not None:
            node = self._nodes[key]
            if key in self.seen or node.type == NodeType.START:
                raise NotASequence("branches_meet", key)
            self.seen.add(key)
            run.append(node)
            key = None if self._forks(node) else self._exits.get(key, {}).get(Port.DEFAULT)
        return run

"""A draft that cannot run yet, made walkable for a trial: the walk goes as far as the draft is finished."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from automation.builder.trial import Trial
from automation.checking import Finding, Report, compile_registered
from engine.graph import Graph
from engine.types import Definition, EdgeSpec, NodeSpec, NodeType

LOOSE: Final = "port_unconnected"
UNFINISHED: Final = "unfinished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Where a walk can go no further: the step, and what is missing there."""

    node: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Walkable:
    """`graph` is None when there is nothing to walk; `gaps` by the node of `graph` that stands for one."""

    graph: Graph | None
    gaps: Mapping[str, Gap] = field(default_factory=dict)

    def named(self, trial: Trial) -> Trial:
        """The same trial; one that came to a gap says so instead of an end."""
        last = trial.lines[-1] if trial.lines else None
        gap = self.gaps.get(last.node) if last is not None and last.kind == "end" else None
        if last is None or gap is None:
            return trial
        line = replace(last, kind="error", node=gap.node, code=UNFINISHED, data={"findings": gap.findings})
        return replace(trial, lines=(*trial.lines[:-1], line), reached=False, outcome=UNFINISHED)


def walkable(definition: Definition, report: Report, kind: str) -> Walkable:
    """`definition` as it is when it can run, else with a stop in place of every unfinished step and exit.

    `report` is what `check` said of it, `kind` the workflow's. Asks no database.
    """
    if report.compiled.graph is not None:
        return Walkable(graph=report.compiled.graph)
    start = next((node.key for node in definition.nodes if node.type == NodeType.START), "")
    faults = [problem for problem in report.compiled.problems if problem.node and problem.node != start]
    broken = {problem.node for problem in faults if problem.code != LOOSE}
    exits = [(one.node, one.port) for one in report.compiled.problems if one.code == LOOSE]
    prefix = _unused({node.key for node in definition.nodes})
    loose = {f"{prefix}{n}": leaf for n, leaf in enumerate(exits) if leaf[0] not in broken}
    nodes = (*(_stop(one.key) if one.key in broken else one for one in definition.nodes), *map(_stop, loose))
    edges = (
        *(edge for edge in definition.edges if edge.source not in broken),
        *(EdgeSpec(source=source, port=port, target=key) for key, (source, port) in loose.items()),
    )
    patched = _within_reach(replace(definition, nodes=nodes, edges=edges), start)
    gaps = {key: Gap(node=key, findings=_of(report, key)) for key in broken}
    gaps |= {key: Gap(node=node, findings=_of(report, node, port)) for key, (node, port) in loose.items()}
    return Walkable(graph=compile_registered(patched, kind).graph, gaps=gaps)


def _stop(key: str) -> NodeSpec:
    return NodeSpec(key=key, type=NodeType.END, subtype="stop", config={"behavior": "stop"})


def _unused(keys: Iterable[str]) -> str:
    """The beginning of a key that no step has."""
    prefix, taken = "gap-", tuple(keys)
    while any(key.startswith(prefix) for key in taken):
        prefix += "-"
    return prefix


def _of(report: Report, node: str, port: str | None = None) -> tuple[Finding, ...]:
    found = [finding for finding in report.problems if finding.node == node]
    return tuple(finding for finding in found if port is None or finding.port == port)


def _within_reach(definition: Definition, start: str) -> Definition:
    """Without what stands behind a stop: no way leads there any more."""
    following: dict[str, list[str]] = {}
    for edge in definition.edges:
        following.setdefault(edge.source, []).append(edge.target)
    waiting, reached = [start], {start}
    while waiting:
        more = [key for key in following.get(waiting.pop(), ()) if key not in reached]
        reached.update(more)
        waiting += more
    return replace(
        definition,
        nodes=tuple(node for node in definition.nodes if node.key in reached),
        edges=tuple(edge for edge in definition.edges if edge.source in reached and edge.target in reached),
    )

"""Definitions as JSON values, in one stable order, and back.

{"nodes": [{"key", "type", "subtype", "name", "config", "is_enabled"}],
 "edges": [{"source", "port", "target"}], "settings": {}}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from engine.types import Definition, EdgeSpec, NodeSpec, Problem

MAX_NODES: Final = 2_000
MAX_EDGES: Final = 10_000
MAX_DEPTH: Final = 64
MAX_VALUES: Final = 500_000
MAX_INT: Final = 2**53 - 1

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_TEXT: Final = {"key": 40, "type": 20, "subtype": 50, "name": 200}
_NODE_KEYS: Final = {*_TEXT, "config", "is_enabled"}
_EDGE_TEXT: Final = {"source": 40, "port": 30, "target": 40}


class DefinitionError(ValueError):
    """The JSON is not a definition; `problems` says why, all of it."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(", ".join(sorted({problem.code for problem in problems})))


def definition_to_json(definition: Definition) -> dict[str, Any]:
    """JSON values of `definition`: nodes by key, edges by source and port, so equal ones read equal."""
    nodes = sorted(definition.nodes, key=lambda node: node.key)
    edges = sorted(definition.edges, key=lambda edge: (edge.source, edge.port, edge.target))
    return {
        "nodes": [
            {
                "key": node.key,
                "type": node.type,
                "subtype": node.subtype,
                "name": node.name,
                "config": dict(node.config),
                "is_enabled": node.is_enabled,
            }
            for node in nodes
        ],
        "edges": [{"source": edge.source, "port": edge.port, "target": edge.target} for edge in edges],
        "settings": dict(definition.settings),
    }


def definition_from_json(raw: object) -> Definition:
    """Read a definition out of JSON values of any origin.

    Only the form is judged: what is in it may still be unfit to run (`compile_definition` says). Raises
    DefinitionError with every problem: wrong types, unknown keys, texts too long, too many nodes or
    edges, nesting too deep, numbers that are not finite or too large, characters no database stores.
    """
    if not isinstance(raw, Mapping) or set(raw) - {"nodes", "edges", "settings"}:
        raise DefinitionError([Problem(code="definition_malformed")])
    nodes, edges, settings = raw.get("nodes", []), raw.get("edges", []), raw.get("settings", {})
    if not (isinstance(nodes, list) and isinstance(edges, list) and isinstance(settings, Mapping)):
        raise DefinitionError([Problem(code="definition_malformed")])
    if len(nodes) > MAX_NODES or len(edges) > MAX_EDGES:
        raise DefinitionError([too_big(len(nodes), len(edges))])
    problems = check_values(raw)
    for index, node in enumerate(nodes):
        problems += _check_node(node, index)
    for index, edge in enumerate(edges):
        if not _has_texts(edge, _EDGE_TEXT) or set(edge) != set(_EDGE_TEXT):
            problems.append(Problem(code="edge_malformed", fields={"index": index}))
    if problems:
        raise DefinitionError(problems)
    return Definition(
        nodes=tuple(NodeSpec(**node) for node in nodes),
        edges=tuple(EdgeSpec(**edge) for edge in edges),
        settings=settings,
    )


def too_big(nodes: int, edges: int) -> Problem:
    """The problem of a definition past the limits."""
    return Problem(code="definition_too_big", fields={"nodes": nodes, "edges": edges})


def check_values(raw: object) -> list[Problem]:
    """What no store or browser takes: NaN, huge numbers, NUL, lone surrogates, nesting past 64."""
    codes: dict[str, None] = {}
    pending: list[tuple[object, int]] = [(raw, 1)]
    seen = 0
    while pending:
        value, depth = pending.pop()
        seen += 1
        if depth > MAX_DEPTH or seen > MAX_VALUES:
            codes["json_too_big"] = None
            break
        if isinstance(value, Mapping):
            pending.extend((item, depth + 1) for pair in value.items() for item in pair)
        elif isinstance(value, (list, tuple)):
            pending.extend((item, depth + 1) for item in value)
        elif not _is_storable(value):
            codes["json_value_invalid"] = None
    return [Problem(code=code) for code in codes]


def _is_storable(value: object) -> bool:
    if isinstance(value, str):
        return _UNSTORABLE.search(value) is None
    if isinstance(value, float):
        return value - value == 0  # not for infinities and NaN
    if isinstance(value, int):
        return abs(value) <= MAX_INT
    return value is None


def _has_texts(raw: object, limits: Mapping[str, int]) -> bool:
    return isinstance(raw, Mapping) and all(
        isinstance(raw[key], str) and len(raw[key]) <= limit for key, limit in limits.items() if key in raw
    )


def _check_node(raw: object, index: int) -> list[Problem]:
    key = raw.get("key") if isinstance(raw, Mapping) else None
    about = {"index": index}
    if (
        not isinstance(raw, Mapping)
        or not _has_texts(raw, _TEXT)
        or not {"key", "type", "subtype"} <= set(raw) <= _NODE_KEYS
        or not isinstance(raw.get("config", {}), Mapping)
        or not isinstance(raw.get("is_enabled", True), bool)
    ):
        return [Problem(code="node_malformed", node=key[:40] if isinstance(key, str) else "", fields=about)]
    return []

"""Definitions as JSON."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.portable import DefinitionError, check_values, definition_from_json, definition_to_json
from tests.engine.building import ask, graph_of, line, note, ping, start

NODE = {"key": "a", "type": "action", "subtype": "ping"}


def why(raw: object) -> list[str]:
    with pytest.raises(DefinitionError) as refused:
        definition_from_json(raw)
    return [problem.code for problem in refused.value.problems]


def test_json_survives_the_round_trip() -> None:
    stored = definition_to_json(line(ask("q"), ping("p", body="x"), daily_limit=3))
    assert definition_to_json(definition_from_json(json.loads(json.dumps(stored)))) == stored


def test_the_order_does_not_depend_on_the_order_given() -> None:
    one = graph_of([start(), note("a"), note("b")], "start -> a", "a -> b")
    other = graph_of([note("b"), start(), note("a")], "a -> b", "start -> a")
    assert json.dumps(definition_to_json(one)) == json.dumps(definition_to_json(other))


def test_optional_keys_have_defaults() -> None:
    (node,) = definition_from_json({"nodes": [NODE]}).nodes
    assert (node.name, node.config, node.is_enabled) == ("", {}, True)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (None, ["definition_malformed"]),
        ([], ["definition_malformed"]),
        ({"nodes": {}}, ["definition_malformed"]),
        ({"nodes": [], "x": 1}, ["definition_malformed"]),
        ({"nodes": [], "settings": []}, ["definition_malformed"]),
        ({"nodes": ["a"]}, ["node_malformed"]),
        ({"nodes": [{"key": "a"}]}, ["node_malformed"]),
        ({"nodes": [{**NODE, "x": 1}]}, ["node_malformed"]),
        ({"nodes": [{**NODE, "key": 7}]}, ["node_malformed"]),
        ({"nodes": [{**NODE, "name": "x" * 201}]}, ["node_malformed"]),
        ({"nodes": [{**NODE, "config": []}]}, ["node_malformed"]),
        ({"nodes": [{**NODE, "is_enabled": 1}]}, ["node_malformed"]),
        ({"edges": [{"source": "a", "port": "default"}]}, ["edge_malformed"]),
        ({"edges": [{"source": "a", "port": "default", "target": None}]}, ["edge_malformed"]),
        ({"edges": [{"source": "a", "port": "p" * 31, "target": "b"}]}, ["edge_malformed"]),
        ({"nodes": [{**NODE, "config": {"x": float("nan")}}]}, ["json_value_invalid"]),
        ({"nodes": [{**NODE, "config": {"x": float("inf")}}]}, ["json_value_invalid"]),
        ({"nodes": [{**NODE, "config": {"x": 2**53}}]}, ["json_value_invalid"]),
        ({"nodes": [{**NODE, "config": {"x\x00": 1}}]}, ["json_value_invalid"]),
        ({"nodes": [{**NODE, "name": "\ud800"}]}, ["json_value_invalid"]),
        ({"nodes": [NODE] * 100_000}, ["definition_too_big"]),
        ({"edges": [{}] * 50_000}, ["definition_too_big"]),
    ],
)
def test_what_is_no_definition_is_refused(raw: object, expected: list[str]) -> None:
    assert why(raw) == expected


def test_a_bad_node_is_named_by_key_and_place() -> None:
    with pytest.raises(DefinitionError) as refused:
        definition_from_json({"nodes": [NODE, {"key": "b"}]})
    (problem,) = refused.value.problems
    assert (problem.node, problem.fields) == ("b", {"index": 1})


def test_nesting_has_a_limit_and_is_read_without_recursion() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert [problem.code for problem in check_values(deep)] == ["json_too_big"]
    while deep:
        deep = deep.pop()


json_values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["nodes", "edges", "settings", "key", "type", "config", "source"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(json_values)
def test_garbage_is_refused_and_nothing_else_is_raised(raw: Any) -> None:
    with suppress(DefinitionError):
        definition_from_json(raw)

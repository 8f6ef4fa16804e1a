"""Compiling: what is refused, what is warned about, what comes out."""

from __future__ import annotations

import pickle
import time
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.compile import ActionSpec, compile_definition
from engine.durations import Duration
from engine.graph import ActionNode, EndNode, Graph, WaitNode
from engine.types import Definition, EdgeSpec, Facts, NodeSpec, Problem
from engine.walk import start_position, walk
from tests.engine.building import (
    ACTIONS,
    FIELDS,
    NOON,
    VARIABLES,
    ask,
    codes,
    compiled,
    edge,
    end,
    graph_of,
    line,
    note,
    ping,
    runnable,
    start,
    until,
    wait,
)


def problems_of(definition: Definition) -> list[tuple[str, str, str]]:
    result = compiled(definition)
    assert (result.graph is None) == bool(result.problems)
    return [(problem.code, problem.node, problem.port) for problem in result.problems]


def warnings_of(definition: Definition) -> list[tuple[str, str]]:
    result = compiled(definition)
    assert result.graph is not None, result.problems
    return [(problem.code, problem.node) for problem in result.warnings]


def end_problems(behavior: str, **config: Any) -> list[str]:
    return [code for code, _, _ in problems_of(line(note("a"), end("end", behavior, **config)))]


# -- what comes out --------------------------------------------------------------------------------


def test_a_good_definition_becomes_a_graph() -> None:
    graph = runnable(line(ask("q"), wait("w", 2, "days"), ping("p", body="Hi {first_name}"), daily_limit=5))
    assert graph.keys() == ["q", "w", "p", "end"]
    assert (graph.first, graph.initial_delay, graph.settings) == ("q", None, {"daily_limit": 5})
    assert (graph.successor("q", "yes"), graph.successor("q", "no")) == ("w", "end")
    assert (graph.successor("q", "default"), graph.successor("gone", "default")) == (None, None)


def test_nodes_carry_their_parsed_config_and_their_spec() -> None:
    graph = runnable(line(wait("w", 2, "days"), ping("p")))
    waiting, action = graph.node("w"), graph.node("p")
    assert isinstance(waiting, WaitNode)
    assert isinstance(action, ActionNode)
    assert (waiting.duration, waiting.spec.type) == (Duration(2, "day"), "wait")
    assert (action.action, action.consumes_budget, action.retry.max_attempts) == ("ping", True, 3)
    with pytest.raises(KeyError):
        graph.node("start")


def test_the_action_says_whether_it_uses_up_budget() -> None:
    graph = runnable(line(ping("a"), note("b"), ping("c", on=False), wait("w", 1, "day")))
    assert [graph.consumes_budget(key) for key in ("a", "b", "c", "w", "end", "gone")] == [
        True, False, False, False, False, False,
    ]  # fmt: skip


def test_steps_are_ordered_as_they_are_read() -> None:
    nodes = [start(), end(), note("x"), note("b"), ask("q"), note("a"), note("c")]
    graph = runnable(
        graph_of(nodes, "start -> x", "x -> q", "q.yes -> a", "q.no -> b", "a -> c", "b -> c", "c -> end")
    )
    assert graph.step_order() == ["x", "q", "a", "c", "end", "b"]


def test_a_start_delay_is_read() -> None:
    graph = runnable(line(start(initial_delay={"amount": 2, "unit": "days"}), note()))
    assert graph.initial_delay == timedelta(days=2)


def test_a_graph_can_be_stored() -> None:
    graph: Graph = pickle.loads(pickle.dumps(runnable(line(ask("q"), ping()))))  # noqa: S301
    assert walk(graph, start_position(graph, NOON)[0], Facts(), NOON).trace


def test_an_end_that_loops_is_read() -> None:
    delay = {"amount": 90, "unit": "minutes"}
    graph = runnable(line(note("a"), end("end", "loop", to_node="a", delay=delay, max_cycles=4)))
    node = graph.node("end")
    assert isinstance(node, EndNode)
    assert (node.to_node, node.delay, node.max_cycles) == ("a", Duration(90, "minute"), 4)


# -- shape -----------------------------------------------------------------------------------------


def test_exactly_one_start() -> None:
    assert ("start_missing", "", "") in problems_of(graph_of([note(), end()], "note -> end"))
    second = replace(start(), key="s2")
    assert ("start_twice", "s2", "") in problems_of(
        graph_of([start(), second, end()], "start -> end", "s2 -> end")
    )


def test_an_empty_definition_is_refused() -> None:
    assert codes(compiled(Definition(nodes=(), edges=())).problems) == ["start_missing", "end_missing"]


def test_without_an_end_there_is_one_problem_for_it() -> None:
    found = problems_of(graph_of([start(), note("a")], "start -> a"))
    assert found == [("end_missing", "", ""), ("port_unconnected", "a", "default")]


def test_an_island_is_named() -> None:
    definition = line(note("a"))
    nodes, edges = (*definition.nodes, note("b")), (*definition.edges, edge("b -> end"))
    island = replace(definition, nodes=nodes, edges=edges)
    assert problems_of(island) == [("node_unreachable", "b", "")]


def test_a_step_that_only_a_loop_leads_to_is_reachable() -> None:
    nodes = [start(), note("a"), note("b"), end("l", "loop", to_node="b", max_cycles=2, delay=HOURLY), end()]
    assert problems_of(graph_of(nodes, "start -> a", "a -> l", "b -> end")) == []


HOURLY = {"amount": 1, "unit": "hour"}


@pytest.mark.parametrize("port", ["yes", "no"])
def test_both_branches_of_a_condition_are_needed(port: str) -> None:
    definition = graph_of([start(), ask("q"), end()], "start -> q", f"q.{port} -> end")
    missing = {"yes": "no", "no": "yes"}[port]
    assert problems_of(definition) == [("port_unconnected", "q", missing)]


@pytest.mark.parametrize(
    ("extra", "problem"),
    [
        ("a.maybe -> end", ("port_unknown", "a", "maybe")),
        ("q.default -> end", ("port_unknown", "q", "default")),
        ("end -> a", ("port_unknown", "end", "default")),
        ("w.failure -> end", ("port_unknown", "w", "failure")),
        ("a -> end", ("port_twice", "a", "default")),
        ("a.failure -> a", ("edge_to_itself", "a", "failure")),
        ("a.failure -> gone", ("edge_to_nowhere", "a", "failure")),
        ("gone -> a", ("edge_from_nowhere", "", "default")),
        ("a.failure -> start", ("edge_to_start", "a", "failure")),
    ],
)
def test_bad_connections_are_named_with_node_and_port(extra: str, problem: tuple[str, str, str]) -> None:
    definition = line(note("a"), wait("w", 1, "day"), ask("q"), edges=[extra])
    assert problems_of(definition) == [problem]


@pytest.mark.parametrize("port", ["success", "failure"])
def test_an_action_may_have_further_exits(port: str) -> None:
    assert problems_of(line(note("a"), note("b"), edges=[f"a.{port} -> end"])) == []


def test_duplicate_and_impossible_keys_are_refused() -> None:
    definition = line(note("a"))
    assert ("node_duplicate", "a", "") in problems_of(
        replace(definition, nodes=(*definition.nodes, note("a")))
    )
    for key in ("", "a b", "a\n", "x" * 41, "گام"):
        nodes = (*definition.nodes, note(key))
        assert ("node_key_invalid", "", "") in problems_of(replace(definition, nodes=nodes))


def test_the_start_and_the_end_cannot_be_switched_off() -> None:
    definition = line(note("a"))
    off = replace(definition, nodes=tuple(replace(node, is_enabled=False) for node in definition.nodes))
    assert problems_of(off) == [("node_must_be_enabled", "start", ""), ("node_must_be_enabled", "end", "")]


# -- loops -----------------------------------------------------------------------------------------


def ring(*between: NodeSpec) -> Definition:
    """q -> between... -> q by `yes`, out by `no`."""
    nodes = [start(), ask("q"), *between, end()]
    keys = ["q.yes", *(node.key for node in between)]
    edges = [f"{here} -> {there.key}" for here, there in zip(keys, between, strict=False)]
    return graph_of(nodes, "start -> q", "q.no -> end", *edges, f"{keys[-1]} -> q")


def test_a_ring_without_time_is_refused_once() -> None:
    assert problems_of(ring(note("a"), note("b"))) == [("cycle_without_wait", "q", "")]


@pytest.mark.parametrize("step", [until("u", "2027-01-01T00:00"), wait("u", 1, "hour", on=False)])
def test_a_wait_that_may_take_no_time_does_not_break_a_ring(step: NodeSpec) -> None:
    assert [code for code, _, _ in problems_of(ring(step))] == ["cycle_without_wait"]


def test_a_real_wait_breaks_a_ring() -> None:
    assert problems_of(ring(wait("w", 1, "hour"))) == []


def test_each_ring_is_named() -> None:
    nodes = [start(), ask("p"), note("a"), ask("q"), note("b"), end()]
    definition = graph_of(
        nodes, "start -> p", "p.yes -> a", "a -> p", "p.no -> q", "q.yes -> b", "b -> q", "q.no -> end"
    )
    assert [(code, node) for code, node, _ in problems_of(definition)] == [
        ("cycle_without_wait", "p"),
        ("cycle_without_wait", "q"),
    ]


def test_branches_that_meet_are_no_ring() -> None:
    nodes = [start(), ask("q"), note("a"), note("b"), note("c"), end()]
    meeting = graph_of(nodes, "start -> q", "q.yes -> a", "q.no -> b", "a -> c", "b -> c", "c -> end")
    assert problems_of(meeting) == []


# -- configs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "code"),
    [
        (NodeSpec(key="x", type="teleport", subtype=""), "node_type_unknown"),
        (NodeSpec(key="x", type="switch", subtype="cases"), "kind_only_in_journeys"),
        (NodeSpec(key="x", type="goal", subtype="event"), "kind_only_in_journeys"),
        (NodeSpec(key="x", type="action", subtype="fax"), "node_subtype_unknown"),
        (NodeSpec(key="x", type="wait", subtype="for_event"), "kind_only_in_journeys"),
        (NodeSpec(key="x", type="wait", subtype="until_time"), "kind_only_in_journeys"),
        (NodeSpec(key="x", type="wait", subtype="goal"), "node_subtype_unknown"),
        (NodeSpec(key="x", type="until_time", subtype=""), "node_type_unknown"),
        (wait("x", 0, "days"), "duration_amount_invalid"),
        (wait("x", 1, "moons"), "duration_unit_unknown"),
        (
            replace(wait("x", 1, "day"), config={"mode": "until", "amount": 1, "unit": "day"}),
            "config_value_invalid",
        ),
        (NodeSpec(key="x", type="wait", subtype="until", config={"at": "soon"}), "wait_until_invalid"),
        (until("x", "2026-02-31T10:00"), "wait_until_invalid"),
        (until("x", "2026-05-02T10:00+03:30"), "wait_until_invalid"),
        (until("x", "9999-12-31T23:59"), "wait_until_invalid"),
        (until("x", "2026-05-02T10:00", "Mars/Base"), "timezone_invalid"),
        (ping("x", body="{shoe_size}"), "variable_unknown"),
        (ping("x", body=" "), "text_empty"),
        (ping("x", retry={"interval_seconds": -1}), "retry_value_invalid"),
        (ping("x", retry=[]), "retry_malformed"),
        (ping("x", body=7), "config_malformed"),
        (ping("x", size=float("nan")), "json_value_invalid"),
        (ping("x", title="a\x00b"), "json_value_invalid"),
        (ping("x", title="\ud800"), "json_value_invalid"),
        (ping("x", size=10**5000), "json_value_invalid"),
    ],
)
def test_a_bad_step_is_one_problem_on_that_step(node: NodeSpec, code: str) -> None:
    assert [(c, n) for c, n, _ in problems_of(line(node))] == [(code, "x")]


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({}, "condition_empty"),
        ({"root": {}}, "condition_empty"),
        ({"logic": "all", "rules": []}, "condition_empty"),
        ({"logic": "most", "rules": [{}]}, "condition_malformed"),
        ({"root": {"field": "target.shoe", "operator": "=", "value": 1}}, "condition_field_unknown"),
        ({"root": {"event": "bought"}}, "condition_event_unsupported"),
    ],
)
def test_a_bad_condition_is_one_problem_on_its_step(config: dict[str, Any], code: str) -> None:
    node = NodeSpec(key="q", type="condition", subtype="field_rules", config=config)
    assert problems_of(line(node)) == [(code, "q", "")]


def test_ends_are_checked() -> None:
    assert end_problems("goto_workflow", workflow_id=1) == ["end_goto_refused"]
    assert end_problems("explode") == ["node_subtype_unknown"]
    assert end_problems("complete", delay=HOURLY) == ["config_key_unknown"]
    assert end_problems("loop", delay=HOURLY) == ["end_max_cycles_invalid"]
    assert end_problems("loop", max_cycles=2) == ["duration_missing"]
    for minutes, found in ((59, ["end_delay_too_short"]), (60, [])):
        delay = {"amount": minutes, "unit": "minutes"}
        assert end_problems("restart", delay=delay, max_cycles=2) == found
    assert end_problems("restart", delay=HOURLY, max_cycles=2, to_node="a") == ["config_key_unknown"]
    for target in ("gone", "start", "end"):
        assert end_problems("loop", delay=HOURLY, max_cycles=2, to_node=target) == ["end_target_invalid"]


def test_the_start_is_checked() -> None:
    bad = replace(start(initial_delay={"amount": 0, "unit": "days"}, color="red"), subtype="segment")
    assert {code for code, node, _ in problems_of(line(bad, note())) if node == "start"} == {
        "node_subtype_unknown", "config_key_unknown", "duration_amount_invalid",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"speed": 1}, "settings_key_unknown"),
        ({"defer_mode": "hold_message"}, "settings_key_unknown"),
        ({"daily_limit": -1}, "settings_value_invalid"),
        ({"daily_limit": True}, "settings_value_invalid"),
        ({"on_unknown_outcome": "resend"}, "settings_value_invalid"),
        ({"retry": {"strategy": "x"}}, "retry_value_invalid"),
        (
            {"send_window": {"timezone": "Mars", "days": {"sat": [["09:00", "18:00"]]}}},
            "window_timezone_invalid",
        ),
        ({"send_window": {"timezone": "UTC", "days": {"sat": None}}}, "window_never_open"),
        ({"daily_limit": float("inf")}, "json_value_invalid"),
    ],
)
def test_bad_settings_are_problems_of_the_whole(settings: dict[str, Any], code: str) -> None:
    assert problems_of(line(note(), **settings)) == [(code, "", "")]


def test_good_settings_pass() -> None:
    window = {"timezone": "UTC", "days": {"sat": [["09:00", "18:00"]]}}
    definition = line(
        note(), send_window=window, daily_limit=0, retry={"max_attempts": 1}, on_unknown_outcome="reconcile"
    )
    assert problems_of(definition) == []
    assert problems_of(line(note(), send_window=None, daily_limit=None, retry=None)) == []


def test_all_problems_are_named_in_one_pass() -> None:
    steps = [ping("a", body=" "), ping("b", body="{x} {y}"), wait("c", 0, "days")]
    definition = line(*steps, edges=["a.maybe -> b"])
    assert sorted(problems_of(definition)) == [
        ("duration_amount_invalid", "c", ""),
        ("port_unknown", "a", "maybe"),
        ("text_empty", "a", ""),
        ("variable_unknown", "b", ""),
        ("variable_unknown", "b", ""),
    ]


def test_a_mistake_found_twice_is_named_once() -> None:
    def check(_: object) -> list[Problem]:
        return [Problem(code="retry_value_invalid", fields={"key": "strategy"})]

    twice = {"ping": replace(ACTIONS["ping"], check=check)}
    result = compile_definition(
        line(ping(retry={"strategy": "x"})), actions=twice, variables=VARIABLES, fields=FIELDS
    )
    assert codes(result.problems) == ["retry_value_invalid"]


@pytest.mark.parametrize("fault", [TypeError, ValueError, KeyError, AttributeError])
def test_an_action_that_cannot_read_its_config_makes_a_problem(fault: type[Exception]) -> None:
    def check(_: object) -> list[Problem]:
        raise fault("no")

    broken: dict[str, ActionSpec] = {"ping": replace(ACTIONS["ping"], check=check)}
    result = compile_definition(line(ping()), actions=broken, variables=VARIABLES, fields=FIELDS)
    assert codes(result.problems) == ["config_malformed"]


# -- warnings --------------------------------------------------------------------------------------


def test_a_sound_definition_has_no_warnings() -> None:
    nodes = [start(), ask("q"), ping("a"), wait("w", 1, "day"), ping("b"), end(), end("end2", "stop")]
    sound = graph_of(nodes, "start -> q", "q.yes -> a", "q.no -> end2", "a -> w", "w -> b", "b -> end")
    assert warnings_of(sound) == []


def test_warnings_stop_nothing_and_stand_apart() -> None:
    assert warnings_of(line(ask("q"))) == [("branches_alike", "q")]
    assert warnings_of(line(note("a", on=False))) == [("node_disabled", "a")]
    assert warnings_of(line(ping("a"), ping("b"))) == [("no_pause_between", "a")]
    assert warnings_of(line(ping("a", body="50% {off"))) == [("stray_brace", "a")]


def test_a_ring_without_a_way_out_is_a_warning() -> None:
    nodes = [start(), ask("q"), note("a"), wait("w", 1, "day"), end()]
    trap = graph_of(nodes, "start -> q", "q.yes -> a", "q.no -> end", "a -> w", "w -> a")
    assert warnings_of(trap) == [("never_ends", "a"), ("never_ends", "w")]


# -- hostile input ---------------------------------------------------------------------------------


def quick(definition: Definition) -> list[str]:
    begin = time.process_time()
    found = [code for code, _, _ in problems_of(definition)]
    assert time.process_time() - begin < 3  # a bound against quadratic work, in this process's own seconds
    return found


def test_a_huge_definition_is_refused_at_once() -> None:
    nodes = tuple(note(f"n{index}") for index in range(100_000))
    assert quick(Definition(nodes=nodes, edges=())) == ["definition_too_big"]
    edges = (EdgeSpec(source="a", port="default", target="a"),) * 50_000
    assert quick(Definition(nodes=(note("a"),), edges=edges)) == ["definition_too_big"]


def test_a_long_chain_and_a_long_ring_are_checked_without_recursion() -> None:
    steps = [note(f"n{index}") for index in range(1_900)]
    assert quick(line(*steps)) == []
    assert quick(ring(*steps)) == ["cycle_without_wait"]


def test_many_bad_edges_are_all_named() -> None:
    edges = tuple(EdgeSpec(source="a", port=f"p{index}", target="b") for index in range(9_000))
    definition = line(note("a"), note("b"))
    found = quick(replace(definition, edges=definition.edges + edges))
    assert found == ["port_unknown"] * 9_000


def test_a_deeply_nested_config_is_refused() -> None:
    deep: Any = {}
    for _ in range(5_000):
        deep = {"x": deep}
    assert quick(line(ping(deep=deep))) == ["json_too_big"]
    while deep:
        deep = deep.pop("x")


scalars: Any = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
anything: Any = st.recursive(
    scalars | st.just(datetime(2026, 1, 1)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from(["start", "a", "b", "c", "end", "", "x" * 50])
words = st.sampled_from([*"abc", "mode", "amount", "unit", "at", "delay", "to_node", "max_cycles", "retry"])
configs = st.dictionaries(words | st.text(max_size=3), anything, max_size=4)
wild_nodes = st.builds(
    NodeSpec,
    key=keys | anything,
    type=st.sampled_from(["start", "action", "wait", "condition", "end", "switch"]) | anything,
    subtype=st.sampled_from(["manual", "ping", "duration", "until", "field_rules", "complete", "loop"])
    | anything,
    config=configs | anything,
    name=st.text(max_size=3) | anything,
    is_enabled=st.booleans() | anything,
)
ports = st.sampled_from(["default", "yes", "no", "success", "failure"])
wild_edges = st.builds(EdgeSpec, source=keys | anything, port=ports | anything, target=keys | anything)
tame_edges = st.builds(EdgeSpec, source=keys, port=ports, target=keys)
tame_nodes = st.sampled_from(
    [start(), note("a"), ping("b"), ask("c"), ask("a"), wait("b", 1, "day"), end(), note("b", on=False)]
)


@given(
    st.lists(wild_nodes | tame_nodes | anything, max_size=8),
    st.lists(wild_edges | tame_edges | anything, max_size=10),
    configs | anything,
)
def test_garbage_gives_problems_and_never_an_exception(nodes: Any, edges: Any, settings: Any) -> None:
    problems_of(Definition(nodes=tuple(nodes), edges=tuple(edges), settings=settings))


@given(st.lists(tame_nodes, max_size=8), st.lists(tame_edges, max_size=14))
def test_whatever_compiles_can_be_walked(nodes: list[NodeSpec], edges: list[EdgeSpec]) -> None:
    result = compiled(Definition(nodes=tuple(nodes), edges=tuple(edges)))
    if result.graph is not None:
        walk(result.graph, start_position(result.graph, NOON)[0], Facts(), NOON)
        assert sorted(result.graph.step_order()) == sorted(result.graph.keys())

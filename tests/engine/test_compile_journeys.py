"""What a journey may be made of, and what is wrong with one that may not be published."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.compile import compile_definition
from engine.graph import ClockWaitNode
from engine.types import Definition, NodeSpec, Problem, Profile
from tests.engine.building import (
    ACTIONS,
    FIELDS,
    VARIABLES,
    ask,
    best_time,
    city_is,
    codes,
    compiled_journey,
    end,
    goal,
    graph_of,
    journey,
    note,
    ping,
    runnable_journey,
    split,
    start,
    switch,
    until,
    wait,
    wait_for,
    wait_until,
)


def problems_of(definition: Definition) -> list[tuple[str, str, str]]:
    return [(problem.code, problem.node, problem.port) for problem in compiled_journey(definition).problems]


def alone(node: NodeSpec) -> Definition:
    """`node`, whose key is x, and where a switch has to lead."""
    if node.type != "switch":
        return journey(node, edges=["start -> x"])
    return journey(node, note("rest"), edges=["start -> x", "x -> rest"])


def test_a_missing_edge_and_a_missing_end_are_no_problem() -> None:
    unfinished = journey(ask("q"), note("a"), edges=["start -> q", "q.yes -> a"])
    assert problems_of(unfinished) == []
    assert compiled_journey(unfinished).warnings == ()


def test_the_start_has_to_lead_somewhere() -> None:
    assert problems_of(journey(edges=[])) == [("port_unconnected", "start", "default")]


def test_the_default_of_a_switch_has_to_lead_somewhere() -> None:
    definition = journey(switch("s", city_is("Tehran")), edges=["start -> s"])
    assert problems_of(definition) == [("port_unconnected", "s", "default")]


def test_all_kinds_together_are_fine() -> None:
    definition = journey(
        switch("s", city_is("Tehran"), city_is("Yazd")),
        split("p", 1, 1, holdout_percent=10),
        wait_until("t", 9, 30),
        best_time("b", 10),
        wait_for("e", filter=[{"field": "amount", "operator": ">", "value": 5}], amount=2, unit="days"),
        goal("g", window_days=7),
        wait("w", 1, "hour"),
        until("u", "2026-06-01T10:00"),
        end(),
        edges=[
            "start -> s",
            "s.case_1 -> p",
            "s.case_2 -> t",
            "s -> b",
            "p.branch_1 -> e",
            "p.branch_2 -> g",
            "p.holdout -> w",
            "e -> u",
            "e.timeout -> end",
            "g -> end",
        ],
    )
    assert problems_of(definition) == []
    assert runnable_journey(definition).events == {"paid"}


@pytest.mark.parametrize(
    ("node", "code", "port"),
    [
        (NodeSpec(key="x", type="switch", subtype="cases"), "switch_cases_count", ""),
        (NodeSpec(key="x", type="switch", subtype=""), "node_subtype_unknown", ""),
        (switch("x"), "switch_cases_count", ""),
        (switch("x", {"root": {}}), "condition_empty", "case_1"),
        (
            switch("x", city_is("Yazd"), city_is("")["root"] | {"operator": "~"}),
            "condition_malformed",
            "case_2",
        ),
        (
            switch("x", city_is("Yazd"), {"root": {"field": "city", "operator": "~"}}),
            "condition_operator_unknown",
            "case_2",
        ),
        (
            NodeSpec(key="x", type="switch", subtype="cases", config={"cases": [7]}),
            "switch_case_malformed",
            "case_1",
        ),
        (split("x"), "split_branches_count", ""),
        (split("x", 1, -1), "split_branch_invalid", "branch_2"),
        (split("x", 1, float("inf")), "json_value_invalid", ""),
        (split("x", 0, 0), "split_weights_zero", ""),
        (split("x", 1, holdout_percent=-1), "split_holdout_invalid", ""),
        (split("x", 1, holdout_percent=101), "split_holdout_invalid", ""),
        (split("x", 1, holdout_percent=True), "split_holdout_invalid", ""),
        (split("x", 1, seed=3), "config_key_unknown", ""),
        (goal("x", ""), "event_missing", ""),
        (goal("x", window_days=0), "goal_window_invalid", ""),
        (goal("x", window_days=True), "goal_window_invalid", ""),
        (wait_until("x", 24), "wait_hour_invalid", ""),
        (wait_until("x", -1), "wait_hour_invalid", ""),
        (wait_until("x", 9, 60), "wait_hour_invalid", ""),
        (best_time("x", 24), "wait_fallback_hour_invalid", ""),
        (NodeSpec(key="x", type="wait", subtype="until_best_time"), "wait_fallback_hour_invalid", ""),
        (wait_for("x", ""), "event_missing", ""),
        (wait_for("x", amount=0, unit="day"), "duration_amount_invalid", ""),
        (wait_for("x", amount=2), "duration_unit_unknown", ""),
        (wait_for("x", filter=[{"field": "a", "operator": "~"}]), "condition_operator_unknown", ""),
        (
            wait_for("x", filter=[{"field": "target.shoe", "operator": "=", "value": 1}]),
            "condition_field_unknown",
            "",
        ),
        (wait_for("x", filter="all"), "condition_malformed", ""),
        (replace(wait_for("x"), subtype="for_luck"), "node_subtype_unknown", ""),
    ],
)
def test_a_bad_step_is_one_problem_on_that_step(node: NodeSpec, code: str, port: str) -> None:
    assert problems_of(alone(node)) == [(code, "x", port)]


@pytest.mark.parametrize("hour", [0, 23])
def test_the_first_and_the_last_hour_are_hours(hour: int) -> None:
    assert problems_of(alone(wait_until("x", hour))) == []


@pytest.mark.parametrize("percent", [0, 100])
def test_nobody_or_everybody_may_be_held_out(percent: int) -> None:
    definition = journey(split("x", 1, holdout_percent=percent), edges=["start -> x"])
    assert problems_of(definition) == []


@pytest.mark.parametrize("behavior", ["loop", "restart"])
def test_an_end_that_repeats_is_refused(behavior: str) -> None:
    config: dict[str, Any] = {"delay": {"amount": 2, "unit": "hours"}, "max_cycles": 2}
    definition = journey(note(), end("end", behavior, **config), edges=["start -> note", "note -> end"])
    assert problems_of(definition) == [("end_repeats_in_journey", "end", "")]


@pytest.mark.parametrize(
    ("node", "edge", "port"),
    [
        (switch("x", city_is("Yazd")), "x.case_2 -> end", "case_2"),
        (split("x", 1), "x.branch_2 -> end", "branch_2"),
        (split("x", 1), "x -> end", "default"),
        (wait("x", 1, "day"), "x.timeout -> end", "timeout"),
        (goal("x"), "x.yes -> end", "yes"),
    ],
)
def test_only_the_exits_a_step_has_can_be_connected(node: NodeSpec, edge: str, port: str) -> None:
    edges = ["start -> x", edge, *(["x -> end"] if node.type == "switch" else [])]
    assert ("port_unknown", "x", port) in problems_of(journey(node, end(), edges=edges))


@pytest.mark.parametrize(
    "edge", ["s -> gone", "s.case_1 -> gone", "p.branch_1 -> gone", "p.holdout -> gone", "e.timeout -> gone"]
)
def test_a_dangling_edge_is_refused_at_every_exit(edge: str) -> None:
    nodes = (switch("s", city_is("Yazd")), split("p", 1), wait_for("e"))
    assert "edge_to_nowhere" in codes(compiled_journey(journey(*nodes, edges=["start -> s", edge])).problems)


@pytest.mark.parametrize("node", [wait_until("x", 9), best_time("x", 9), wait_for("x"), wait("x", 1, "day")])
def test_a_wait_makes_a_loop_acceptable(node: NodeSpec) -> None:
    loop = journey(note("a"), node, edges=["start -> a", "a -> x", "x -> a"])
    assert problems_of(loop) == []


@pytest.mark.parametrize(
    "node", [goal("x"), split("x", 1), switch("x", city_is("Yazd")), until("x", "2026-06-01T10:00")]
)
def test_a_loop_without_a_real_wait_is_refused(node: NodeSpec) -> None:
    back = {"split": "x.branch_1 -> a"}.get(node.type, "x -> a")
    loop = journey(note("a"), node, edges=["start -> a", "a -> x", back])
    assert codes(compiled_journey(loop).problems) == ["cycle_without_wait"]


def test_a_clock_in_a_loop_is_marked() -> None:
    graph = runnable_journey(
        journey(
            wait_until("before", 8),
            note("a"),
            wait_until("x", 9),
            edges=["start -> before", "before -> a", "a -> x", "x -> a"],
        )
    )
    clocks = {key: node.in_loop for key, node in graph.nodes.items() if isinstance(node, ClockWaitNode)}
    assert clocks == {"before": False, "x": True}


def test_a_loop_nobody_leaves_is_a_warning() -> None:
    loop = journey(note("a"), wait("w", 1, "day"), edges=["start -> a", "a -> w", "w -> a"])
    assert codes(compiled_journey(loop).warnings).count("never_ends") == 3


def test_triggers_are_checked_by_who_knows_them() -> None:
    def check(config: Any) -> list[Problem]:
        return [] if config.get("event") else [Problem(code="event_missing")]

    def codes_with(config: dict[str, Any], profile: Profile) -> list[str]:
        trigger = replace(start(**config), subtype="event")
        definition = replace(
            journey(note(), end(), edges=["start -> note", "note -> end"]), nodes=(trigger, note(), end())
        )
        return codes(
            compile_definition(
                definition,
                actions=ACTIONS,
                variables=VARIABLES,
                fields=FIELDS,
                profile=profile,
                triggers={"event": check},
            ).problems
        )

    assert codes_with({"event": "paid", "initial_delay": {"amount": 1, "unit": "day"}}, Profile.JOURNEY) == []
    assert codes_with({}, Profile.JOURNEY) == ["event_missing"]
    assert codes_with({"event": "paid"}, Profile.CAMPAIGN) == ["node_subtype_unknown", "config_key_unknown"]


@pytest.mark.parametrize(
    ("subtype", "profile", "expected"),
    [
        ("event", Profile.JOURNEY, []),
        ("manual", Profile.JOURNEY, ["variable_unknown"]),
        ("manual", Profile.CAMPAIGN, ["variable_unknown"]),
    ],
)
def test_texts_name_properties_of_the_event_that_begins_the_journey(
    subtype: str, profile: Profile, expected: list[str]
) -> None:
    definition = graph_of(
        [replace(start(), subtype=subtype), ping("m", body="{{event.rank}}"), end()],
        "start -> m", "m -> end",
    )  # fmt: skip
    compiled = compile_definition(
        definition, actions=ACTIONS, variables=VARIABLES, fields=FIELDS, profile=profile,
        triggers={"event": lambda _config: []},
    )  # fmt: skip
    assert codes(compiled.problems) == expected


def test_steps_are_read_branch_by_branch() -> None:
    cases = [city_is(str(number)) for number in range(11)]
    targets = [note(f"n{number}") for number in range(1, 12)]
    definition = journey(
        switch("s", *cases),
        *reversed(targets),
        note("rest"),
        edges=["start -> s", "s -> rest", *(f"s.case_{n} -> n{n}" for n in range(1, 12))],
    )
    assert runnable_journey(definition).step_order() == ["s", *(f"n{n}" for n in range(1, 12)), "rest"]

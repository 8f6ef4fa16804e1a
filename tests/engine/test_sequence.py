"""Definitions as step lists and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.portable import definition_from_json, definition_to_json
from engine.sequence import NotASequence, Sequence, Step, to_definition, to_sequence
from engine.types import Definition, NodeSpec, Profile
from tests.engine.building import (
    ask,
    city_is,
    end,
    goal,
    graph_of,
    journey,
    line,
    note,
    ping,
    split,
    start,
    switch,
    wait,
    wait_for,
)


def reason(definition: Definition) -> tuple[str, str]:
    with pytest.raises(NotASequence) as refused:
        to_sequence(definition)
    return refused.value.code, refused.value.node


def shape(steps: tuple[Step, ...]) -> list[object]:
    return [
        (step.node.key, shape(step.yes), shape(step.no)) if step.node.type == "condition" else step.node.key
        for step in steps
    ]


def test_a_line_is_a_list() -> None:
    sequence = to_sequence(line(ping("a"), wait("w", 1, "day"), ping("b"), daily_limit=3))
    assert shape(sequence.steps) == ["a", "w", "b", "end"]
    assert (sequence.start, sequence.settings) == (start(), {"daily_limit": 3})


def test_branches_are_lists_of_their_own() -> None:
    nodes = [start(), ask("q"), note("a"), ask("r"), end("e1"), end("e2"), end("e3")]
    nested = graph_of(nodes, "start -> q", "q.yes -> a", "a -> e1", "q.no -> r", "r.yes -> e2", "r.no -> e3")
    assert shape(to_sequence(nested).steps) == [("q", ["a", "e1"], [("r", ["e2"], ["e3"])])]


def test_an_unfinished_draft_is_a_list_too() -> None:
    assert shape(to_sequence(graph_of([start()])).steps) == []
    assert shape(to_sequence(graph_of([start(), ask("q")], "start -> q")).steps) == [("q", [], [])]


def test_the_jump_of_a_loop_is_no_branch() -> None:
    looping = line(note("a"), end("end", "loop", to_node="a"))
    assert shape(to_sequence(looping).steps) == ["a", "end"]


@pytest.mark.parametrize(
    ("definition", "why"),
    [
        (graph_of([note("a")]), ("start_missing", "")),
        (graph_of([start(), replace(start(), key="s2")]), ("start_twice", "s2")),
        (graph_of([start(), note("a"), note("a")], "start -> a"), ("node_duplicate", "a")),
        (graph_of([start(), NodeSpec(key="x", type="split", subtype="")]), ("node_unknown_type", "x")),
        (line(note("a"), note("b"), edges=["a.failure -> b"]), ("failure_path", "a")),
        (line(note("a"), note("b"), edges=["a.success -> b"]), ("success_path", "a")),
        (line(ask("q"), note("a")), ("branches_meet", "end")),
        (graph_of([start(), note("a"), note("b")], "start -> a", "a -> b", "b -> a"), ("branches_meet", "a")),
        (graph_of([start(), note("a")], "start -> a", "a -> start"), ("branches_meet", "start")),
        (graph_of([start(), note("a"), note("b")], "start -> a"), ("node_unreachable", "b")),
        (graph_of([start(), note("a"), note("b")], "b -> a"), ("node_unreachable", "a")),
        (graph_of([start()], "start -> gone"), ("edge_to_nowhere", "start")),
        (graph_of([start()], "gone -> start"), ("edge_to_nowhere", "")),
        (line(note("a"), edges=["a -> end"]), ("port_twice", "a")),
        (line(note("a"), note("b"), edges=["a.yes -> b"]), ("port_unknown", "a")),
        (line(note("a"), note("b"), edges=["a.maybe -> b"]), ("port_unknown", "a")),
        (graph_of([start(), ask("q"), end()], "start -> q", "q -> end"), ("port_unknown", "q")),
        (line(note("a"), edges=["end -> a"]), ("port_unknown", "end")),
    ],
)
def test_what_a_list_cannot_draw_is_refused_with_the_reason(
    definition: Definition, why: tuple[str, str]
) -> None:
    assert reason(definition) == why


def test_nesting_has_a_limit() -> None:
    nodes, edges = [start()], ["start -> q0"]
    for index in range(60):
        nodes.append(ask(f"q{index}"))
        edges.append(f"q{index}.yes -> q{index + 1}")
    nodes.append(end("q60"))
    assert reason(graph_of(nodes, *edges))[0] == "too_deep"


def test_a_very_long_list_is_read() -> None:
    assert len(to_sequence(line(*(note(f"n{index}") for index in range(2_000)))).steps) == 2_001


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ((Step(node=note("a")), Step(node=note("a"))), "node_duplicate"),
        ((Step(node=ask("q")), Step(node=note("a"))), "port_unknown"),
        ((Step(node=end()), Step(node=note("a"))), "port_unknown"),
        ((Step(node=note("a"), yes=(Step(node=end()),)),), "port_unknown"),
        ((Step(node=replace(start(), key="s2")),), "node_unknown_type"),
    ],
)
def test_a_list_that_makes_no_sense_is_refused(steps: tuple[Step, ...], code: str) -> None:
    with pytest.raises(NotASequence) as refused:
        to_definition(Sequence(start=start(), steps=steps))
    assert refused.value.code == code


def test_nodes_come_out_in_reading_order() -> None:
    tree = (
        Step(node=note("a")),
        Step(node=ask("q"), yes=(Step(node=note("b")), Step(node=end("e1"))), no=(Step(node=end("e2")),)),
    )
    definition = to_definition(Sequence(start=start(), steps=tree))
    assert [node.key for node in definition.nodes] == ["start", "a", "q", "b", "e1", "e2"]


# -- forks of journeys -----------------------------------------------------------------------------


def test_a_switch_and_a_split_are_lists_within_the_list() -> None:
    definition = journey(
        switch("s", city_is("Yazd"), city_is("Qom")),
        split("p", 1, 1),
        note("a"),
        note("b"),
        edges=["start -> s", "s.case_1 -> p", "s -> a", "p.holdout -> b"],
    )
    (fork,) = to_sequence(definition, profile=Profile.JOURNEY).steps
    assert [(port, [step.node.key for step in steps]) for port, steps in fork.branches] == [
        ("case_1", ["p"]),
        ("case_2", []),
        ("default", ["a"]),
    ]
    assert [port for port, _ in fork.branches[0][1][0].branches] == ["branch_1", "branch_2", "holdout"]


def test_a_wait_for_an_event_forks_only_where_the_time_out_has_a_way_of_its_own() -> None:
    straight = journey(wait_for("e"), note("a"), edges=["start -> e", "e -> a"])
    forked = journey(wait_for("e"), note("a"), edges=["start -> e", "e.timeout -> a"])
    assert shape(to_sequence(straight, profile=Profile.JOURNEY).steps) == ["e", "a"]
    (fork,) = to_sequence(forked, profile=Profile.JOURNEY).steps
    assert [(port, len(steps)) for port, steps in fork.branches] == [("default", 0), ("timeout", 1)]


@pytest.mark.parametrize("node", [switch("x", city_is("Yazd")), split("x", 1), goal("x")])
def test_a_campaigns_list_does_not_know_the_steps_of_journeys(node: NodeSpec) -> None:
    assert reason(journey(node, edges=["start -> x"])) == ("node_unknown_type", "x")


def test_the_branches_have_to_be_the_ports_of_the_step() -> None:
    step = Step(node=split("p", 1, 1), branches=(("branch_1", ()), ("holdout", ())))
    with pytest.raises(NotASequence) as refused:
        to_definition(Sequence(start=start(), steps=(step,)), profile=Profile.JOURNEY)
    assert refused.value.code == "port_unknown"


# -- any list at all -------------------------------------------------------------------------------


FORKS: dict[str, Callable[[str], tuple[NodeSpec, list[str]]]] = {
    "switch": lambda key: (switch(key, city_is("Yazd"), city_is("Qom")), ["case_1", "case_2", "default"]),
    "split": lambda key: (split(key, 1, 2), ["branch_1", "branch_2", "holdout"]),
    "event": lambda key: (wait_for(key, amount=1, unit="day"), ["default", "timeout"]),
}


@st.composite
def sequences(draw: st.DrawFn, profile: Profile = Profile.CAMPAIGN) -> Sequence:
    counter = iter(range(10_000))
    forks = ["fork", *(FORKS if profile is Profile.JOURNEY else [])]

    def steps(depth: int) -> tuple[Step, ...]:
        kinds: list[Callable[[str], NodeSpec]] = [note, ping, lambda key: wait(key, 1, "day")]
        makers = st.sampled_from(kinds)
        row = [Step(node=draw(makers)(f"n{next(counter)}")) for _ in range(draw(st.integers(0, 3)))]
        last = draw(st.sampled_from(["none", "end", *forks] if depth < 3 else ["none", "end"]))
        if last in FORKS:
            node, ports = FORKS[last](f"n{next(counter)}")
            inner = [(port, steps(depth + 1)) for port in ports]
            if last == "event" and not inner[1][1]:
                inner[1] = ("timeout", (Step(node=end(f"n{next(counter)}")),))  # else it would be no fork
            row.append(Step(node=node, branches=tuple(inner)))
        elif last == "end":
            row.append(Step(node=end(f"n{next(counter)}")))
        elif last == "fork":
            row.append(Step(node=ask(f"n{next(counter)}"), yes=steps(depth + 1), no=steps(depth + 1)))
        return tuple(row)

    return Sequence(start=start(), steps=steps(0), settings={"daily_limit": draw(st.integers(1, 9))})


@given(sequences())
def test_a_list_survives_the_round_trip(sequence: Sequence) -> None:
    assert to_sequence(to_definition(sequence)) == sequence


@given(sequences(profile=Profile.JOURNEY))
def test_a_journeys_list_survives_the_round_trip(sequence: Sequence) -> None:
    definition = to_definition(sequence, profile=Profile.JOURNEY)
    assert to_sequence(definition, profile=Profile.JOURNEY) == sequence


@given(sequences(profile=Profile.JOURNEY))
def test_a_definition_survives_the_way_through_a_file(sequence: Sequence) -> None:
    definition = to_definition(sequence, profile=Profile.JOURNEY)
    stored = definition_to_json(definition)
    read = definition_from_json(json.loads(json.dumps(stored, ensure_ascii=False)))
    assert definition_to_json(read) == stored
    assert {node.key: node for node in read.nodes} == {node.key: node for node in definition.nodes}
    assert set(read.edges) == set(definition.edges)
    assert read.settings == definition.settings


@given(sequences(), st.randoms(use_true_random=False))
def test_a_definition_survives_the_round_trip_in_any_order(sequence: Sequence, random: Random) -> None:
    definition = to_definition(sequence)
    nodes, edges = list(definition.nodes), list(definition.edges)
    random.shuffle(nodes)
    random.shuffle(edges)
    mixed = replace(definition, nodes=tuple(nodes), edges=tuple(edges))
    assert to_definition(to_sequence(mixed)) == definition
    assert definition_to_json(mixed) == definition_to_json(definition)

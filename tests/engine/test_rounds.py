"""Going back along a connection begins a new round, whatever the graph looks like."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from engine.types import ActionResult, ActionStatus, Facts, NodeSpec, Park, Perform
from engine.walk import walk
from tests.engine.building import (
    NOON,
    ask,
    at_first,
    end,
    graph_of,
    journey,
    line,
    note,
    runnable,
    runnable_journey,
    start,
    wait,
)

DONE = ActionResult(status=ActionStatus.SUCCESS)


def test_a_graph_without_a_way_back_has_one_round() -> None:
    assert runnable(line(note("a"), wait("w", 1, "day"), note("b"))).returns == frozenset()


def test_the_exit_that_leads_back_ends_the_round() -> None:
    made = runnable(
        graph_of(
            [start(), note("a"), wait("w", 1, "day"), ask("c"), end("e")],
            "start -> a", "a -> w", "w -> c", "c.yes -> a", "c.no -> e",
        )
    )  # fmt: skip
    assert made.returns == {("c", "yes")}


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20, unique=True))
def test_nobody_comes_to_a_step_twice_in_one_round(pairs: list[tuple[int, int]]) -> None:
    """Random switches without conditions that hold: waits everywhere, so that every loop takes time."""
    names = [f"n{number}" for number in range(8)]
    nodes: list[NodeSpec] = [wait(name, 1, "hour") for name in names]
    exits = {names[here]: names[there] for here, there in pairs if here != there}
    edges = ["start -> n0", *(f"{here} -> {there}" for here, there in exits.items())]
    reached = _reached(exits)
    kept = [node for node in nodes if node.key in reached]
    made = runnable_journey(journey(*kept, edges=[edge for edge in edges if _inside(edge, reached)]))
    position, now, seen = at_first(made), NOON, set()
    for _ in range(30):
        done = walk(made, position, Facts(), now)
        for entry in done.trace:
            if entry.type == "node_entered":
                visit = (entry.node, entry.data["cycle"])
                assert visit not in seen
                seen.add(visit)
        if not isinstance(done.outcome, Park):
            return
        position, now = done.outcome.position, done.outcome.until


def _reached(exits: dict[str, str]) -> set[str]:
    key, found = "n0", set[str]()
    while key not in found:
        found.add(key)
        key = exits.get(key, key)
    return found


def _inside(edge: str, reached: set[str]) -> bool:
    source, target = edge.split(" -> ")
    return target in reached and (source == "start" or source in reached)


def test_an_action_asked_for_again_is_asked_for_in_another_round() -> None:
    made = runnable_journey(journey(note("a"), wait("w", 1, "day"), edges=["start -> a", "a -> w", "w -> a"]))
    position, now, rounds = at_first(made), NOON, []
    for _ in range(3):
        asked = walk(made, position, Facts(), now).outcome
        assert isinstance(asked, Perform)
        rounds.append(asked.position.cycle)
        waiting = walk(made, asked.position, Facts(), now, DONE).outcome
        assert isinstance(waiting, Park)
        position, now = waiting.position, waiting.until + timedelta(seconds=1)
    assert rounds == [1, 2, 3]

"""Editing a step list: every change keeps a list, loses no step, and can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from automation.builder import outline as edits
from automation.builder.outline import CannotEdit, Outline, Place
from engine.compile import compile_definition
from engine.types import Definition, EdgeSpec, NodeSpec, Profile

JOURNEY = Profile.JOURNEY


def node(key: str, kind: str = "wait", subtype: str = "", **config: object) -> NodeSpec:
    return NodeSpec(key=key, type=kind, subtype=subtype or DEFAULTS.get(kind, ""), config=config)


DEFAULTS = {"wait": "duration", "condition": "field_rules", "end": "complete", "start": "manual"}
START = node("start", "start")
PORTS = {"condition": ("yes", "no"), "switch": ("case_1", "default"), "split": ("branch_1", "holdout")}
CONFIGS: dict[str, dict[str, object]] = {
    "switch": {"cases": [{"definition": {}}]},
    "split": {"branches": [{"weight": 1}]},
    "wait": {"amount": 1, "unit": "day"},
}


def chain(*keys: str) -> Outline:
    nodes = (START, *(node(key) for key in keys))
    edges = tuple(EdgeSpec(source=a.key, port="default", target=b.key) for a, b in pairwise(nodes))
    return edits.read(Definition(nodes=nodes, edges=edges))


def fork(lists: Outline, place: str, key: str = "ask") -> Outline:
    return edits.insert(lists, Place.parse(place), node(key, "condition"), ("yes", "no"))


def keys(lists: Outline, source: str = "start", port: str = "default") -> list[str]:
    return [one.key for one in lists.lists[source, port]]


def everyone(lists: Outline) -> list[str]:
    return sorted(one.key for nodes in lists.lists.values() for one in nodes)


# One change


def test_a_step_is_put_between_two_others():
    assert keys(edits.insert(chain("a", "b"), Place.parse("start.default.1"), node("x"))) == ["a", "x", "b"]


def test_what_follows_a_new_condition_stands_in_its_first_branch():
    lists = fork(chain("a", "b"), "start.default.1")

    assert keys(lists) == ["a", "ask"]
    assert (keys(lists, "ask", "yes"), keys(lists, "ask", "no")) == (["b"], [])


def test_an_end_stands_only_where_nothing_follows():
    with pytest.raises(CannotEdit, match="end_in_between"):
        edits.insert(chain("a"), Place.parse("start.default.0"), node("x", "end"))


@pytest.mark.parametrize("place", ["start.default.9", "nobody.default.0", "ask.maybe.0", "start.default.2"])
def test_there_is_no_place_behind_a_fork_or_nowhere(place):
    with pytest.raises(CannotEdit, match="place_unknown"):
        edits.insert(fork(chain("a"), "start.default.1"), Place.parse(place), node("x"))


@pytest.mark.parametrize("text", ["", "a", "a.b", "a.b.-1", "a.b.c", "a.b.۱", "a.b.999999"])
def test_a_damaged_place_is_refused(text):
    with pytest.raises(CannotEdit, match="place_unknown"):
        Place.parse(text)


def test_down_walks_into_and_out_of_branches():
    lists = fork(chain("a"), "start.default.1")
    seen = [keys(lists)]
    for _step in range(2):
        lists = edits.shift(lists, "a", 1)
        seen += [keys(lists, "ask", "yes"), keys(lists, "ask", "no")]

    assert seen == [["a", "ask"], ["a"], [], [], ["a"]]


def test_a_condition_going_up_takes_the_step_before_it_in_and_lets_it_out_going_down():
    lists = fork(chain("a"), "start.default.1")
    up = edits.shift(lists, "ask", -1)

    assert (keys(up), keys(up, "ask", "yes")) == (["ask"], ["a"])
    assert edits.shift(up, "ask", 1) == lists


def test_at_the_edge_a_step_stays_where_it_is():
    lists = chain("a", "b")

    assert edits.shift(lists, "a", -1) is lists
    assert edits.shift(lists, "b", 1) is lists


def test_the_start_is_not_moved_or_removed():
    for change in (lambda: edits.remove(chain("a"), "start"), lambda: edits.shift(chain("a"), "start", 1)):
        with pytest.raises(CannotEdit, match="start_stays"):
            change()


def test_a_step_cannot_be_moved_into_itself():
    with pytest.raises(CannotEdit, match="place_unknown"):
        edits.move(fork(chain(), "start.default.0"), "ask", Place.parse("ask.yes.0"))


def test_removing_a_condition_can_keep_one_branch():
    lists = fork(chain("a", "b"), "start.default.1")
    lists = edits.insert(lists, Place.parse("ask.no.0"), node("c"))

    assert everyone(edits.remove(lists, "ask")) == ["a"]
    assert keys(edits.remove(lists, "ask", keep="yes")) == ["a", "b"]
    assert keys(edits.remove(lists, "ask", keep="no")) == ["a", "c"]


def test_kept_branches_keep_their_own_branches():
    lists = fork(fork(chain(), "start.default.0", "inner"), "start.default.0", "outer")
    lists = edits.insert(lists, Place.parse("inner.no.0"), node("x"))
    kept = edits.remove(lists, "outer", keep="yes")

    assert (keys(kept), keys(kept, "inner", "no")) == (["inner"], ["x"])


def test_a_copy_goes_back_to_its_own_steps():
    lists = fork(chain("a"), "start.default.0")
    lists = edits.insert(lists, Place.parse("ask.yes.1"), node("again", "end", "loop", to_node="a"))
    fresh = (f"n{number}" for number in count())
    copied, key = edits.copy(lists, "ask", Place.parse("ask.no.0"), lambda: next(fresh))

    copy_of_a, end = copied.lists[key, "yes"]
    assert end.config["to_node"] == copy_of_a.key != "a"


def test_cases_that_are_put_in_another_order_take_their_steps_along():
    lists = edits.insert(chain(), Place.parse("start.default.0"), node("sw", "switch"), ("case_1", "default"))
    lists = edits.insert(lists, Place.parse("sw.case_1.0"), node("a"))
    lists = edits.insert(lists, Place.parse("sw.default.0"), node("b"))
    ways = {"case_1": "", "case_2": "case_1", "default": "default"}
    revised = edits.revise(lists, node("sw", "switch", "cases"), ways)

    assert [keys(revised, "sw", port) for port in ways] == [[], ["a"], ["b"]]


def test_a_case_that_goes_takes_its_steps_with_it():
    lists = edits.insert(chain(), Place.parse("start.default.0"), node("sw", "switch"), ("case_1", "default"))
    lists = fork(edits.insert(lists, Place.parse("sw.case_1.0"), node("a")), "sw.case_1.1")
    revised = edits.revise(lists, node("sw", "switch", "cases"), {"default": "default"})

    assert everyone(revised) == ["sw"]
    assert set(revised.lists) == {("start", "default"), ("sw", "default")}


def test_a_step_at_the_time_out_makes_a_wait_for_an_event_a_fork_and_back():
    wait = node("w", "wait", "for_event", event="paid")
    lists = edits.insert(chain("a"), Place.parse("start.default.0"), wait)
    forked = edits.insert(lists, Place.parse("w.timeout.0"), node("late"))

    assert (keys(forked, "w", "default"), keys(forked, "w", "timeout")) == (["a"], ["late"])
    back = edits.read(edits.write(edits.remove(forked, "late")))
    assert keys(back) == ["w", "a"]


def test_a_forked_wait_that_becomes_a_plain_one_keeps_what_follows():
    lists = edits.insert(
        chain("a"), Place.parse("start.default.0"), node("w", "wait", "for_event", event="e")
    )
    lists = edits.insert(lists, Place.parse("w.timeout.0"), node("late"))
    plain = edits.revise(lists, node("w", "wait", "duration", amount=1, unit="day"), {})

    assert (keys(plain), everyone(plain)) == (["w", "a"], ["a", "w"])


# Any sequence of changes

Change = tuple[str, int, int, str]
KINDS = ("wait", "condition", "switch", "split", "end", "goal", "for_event")
changes = st.lists(
    st.tuples(
        st.sampled_from(("insert", "move", "up", "down", "remove", "keep", "copy")),
        st.integers(0, 200),
        st.integers(0, 200),
        st.sampled_from(KINDS),
    ),
    max_size=25,
)


def apply(lists: Outline, change: Change, make_key: Callable[[], str]) -> Outline:
    """One arbitrary change; what cannot be done changes nothing."""
    what, one, other, kind = change
    steps = [found for nodes in lists.lists.values() for found in nodes]
    places = list(edits.all_places(lists))
    place = places[other % len(places)]
    step = steps[one % len(steps)] if steps else START
    try:
        if what == "insert":
            return edits.insert(lists, place, fresh_node(make_key(), kind), PORTS.get(kind, ()))
        if what == "move":
            return edits.move(lists, step.key, place)
        if what in ("up", "down"):
            return edits.shift(lists, step.key, -1 if what == "up" else 1)
        if what == "copy":
            return edits.copy(lists, step.key, place if other % 2 else None, make_key)[0]
        ports = lists.ports(step.key)
        return edits.remove(
            lists, step.key, keep=ports[other % len(ports)] if ports and what == "keep" else ""
        )
    except CannotEdit:
        return lists


def fresh_node(key: str, kind: str) -> NodeSpec:
    if kind == "for_event":
        return node(key, "wait", "for_event", event="paid")
    return node(key, kind, {"switch": "cases", "split": "share"}.get(kind, ""), **CONFIGS.get(kind, {}))


@settings(max_examples=150, deadline=None)
@given(changes)
def test_any_changes_keep_a_list_and_can_be_taken_back(sequence):
    names = count()
    lists = chain("a", "b")
    past = [edits.write(lists)]
    for change in sequence:
        before = everyone(lists)
        after = apply(lists, change, lambda: f"n{next(names)}")
        if change[0] in ("move", "up", "down"):
            assert everyone(after) == before
        definition = edits.write(after)
        past.append(definition)
        lists = edits.read(definition)
        assert everyone(lists) == everyone(after)
        assert edits.write(lists) == definition
        assert len(set(everyone(lists))) == len(everyone(lists))
        compiled = compile_definition(definition, actions={}, variables=(), fields={}, profile=JOURNEY)
        assert (compiled.graph is None) == bool(compiled.problems)
    for definition in reversed(past):
        assert edits.write(edits.read(definition)) == definition


@settings(max_examples=100, deadline=None)
@given(changes, st.integers(0, 200))
def test_two_keys_reach_every_place(sequence, which):
    names = count()
    lists = chain("a")
    for change in sequence:
        lists = apply(lists, change, lambda: f"n{next(names)}")
    lists = edits.insert(lists, next(edits.all_places(lists)), node("walker"))
    _rest, places = edits.places_for(lists, "walker")
    for _step in range(len(places)):
        lists = edits.shift(lists, "walker", 1)
    reached = [edits.places_for(lists, "walker")[1]]
    assert reached[0] == places
    assert lists.find("walker")[1] == places[-1]

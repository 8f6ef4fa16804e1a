"""Conditions about how often something happened."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from engine.conditions import check_condition, compile_condition, events_of
from engine.types import Facts
from tests.engine.building import NOON, city_is, codes, compiled, compiled_journey, journey, note, switch

TIMES = {"bought": [NOON - timedelta(days=days) for days in (1, 5, 40)]}


def leaf(**values: Any) -> dict[str, Any]:
    return {"root": {"event": "bought", **values}}


def holds(tree: Any, now: datetime = NOON) -> bool:
    return compile_condition(tree, events=True)(Facts(events=TIMES), now)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, True),
        ({"count_operator": ">=", "count": 3}, True),
        ({"count_operator": ">", "count": 3}, False),
        ({"count_operator": "=", "count": 2, "within_days": 30}, True),
        ({"count_operator": "!=", "count": 2, "within_days": 30}, False),
        ({"count_operator": "<", "count": 2, "within_days": 5}, True),
        ({"count_operator": "<=", "count": 0, "within_days": 1}, True),
        ({"within_days": None}, True),
        ({"event": "seen"}, False),
        ({"event": "seen", "count_operator": "=", "count": 0}, True),
    ],
)
def test_what_happened_is_counted(values: dict[str, Any], expected: bool) -> None:
    assert holds(leaf(**values)) is expected


def test_what_is_still_to_come_does_not_count() -> None:
    assert not holds(leaf(), now=NOON - timedelta(days=60))


def test_an_event_leaf_combines_with_the_others() -> None:
    tree = {"root": {"op": "and", "children": [leaf()["root"], city_is("Tehran")["root"]]}}
    ask = compile_condition(tree, events=True)
    assert ask(Facts(target={"city": "Tehran"}, events=TIMES), NOON)
    assert not ask(Facts(target={"city": "Yazd"}, events=TIMES), NOON)


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"event": ""}, "event_missing"),
        ({"event": 5}, "event_missing"),
        ({"event": "x" * 101}, "event_missing"),
        ({"event": "journey_enter_requested"}, "event_reserved"),
        ({"colour": "red"}, "condition_malformed"),
        ({"count": 1}, "condition_malformed"),
        ({"count_operator": "~", "count": 1}, "condition_operator_unknown"),
        ({"count_operator": ">=", "count": -1}, "condition_count_invalid"),
        ({"count_operator": ">=", "count": 1.5}, "condition_count_invalid"),
        ({"count_operator": ">=", "count": True}, "condition_count_invalid"),
        ({"within_days": 0}, "condition_days_invalid"),
        ({"within_days": 4000}, "condition_days_invalid"),
    ],
)
def test_mistakes_of_the_author_are_found(values: dict[str, Any], code: str) -> None:
    assert codes(check_condition(leaf(**values), {}, events=True)) == [code]


def test_where_nobody_knows_what_happened_the_leaf_is_refused() -> None:
    assert codes(check_condition(leaf(), {})) == ["condition_event_unsupported"]


def test_the_events_of_a_tree_are_known_with_the_days_they_look_back() -> None:
    children = [leaf(within_days=3)["root"], leaf(within_days=9)["root"], {"event": "seen"}]
    assert events_of({"root": {"op": "or", "children": children}}) == {"bought": 9, "seen": 3650}


@pytest.mark.parametrize(("with_events", "expected"), [(True, []), (False, ["condition_event_unsupported"])])
def test_a_journey_may_ask_where_events_are_known(with_events: bool, expected: list[str]) -> None:
    definition = journey(switch("s", leaf(within_days=7)), note("n"), edges=["start -> s", "s -> n"])
    result = compiled_journey(definition, events=with_events)
    assert codes(result.problems) == expected
    if result.graph is not None:
        assert (result.graph.events, result.graph.event_days) == (frozenset({"bought"}), 7)


def test_a_campaign_may_never_ask() -> None:
    ask = {"root": {"event": "bought"}}
    definition = journey(switch("s", ask), note("n"), edges=["start -> s", "s -> n"])
    assert "kind_only_in_journeys" in codes(compiled(definition).problems)

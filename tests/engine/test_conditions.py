"""Conditions: spellings, mistakes, answers."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.conditions import (
    OPERATORS,
    ConditionError,
    Presence,
    check_condition,
    compile_condition,
    evaluate,
    fields_of,
    is_empty,
    normalize_condition,
    presence,
)
from engine.types import Facts
from engine.walk import walk
from tests.engine.building import FIELDS, NOON, ask, at_first, codes, line, note, person, runnable


def leaf(field: str, operator: str, value: Any = None) -> dict[str, Any]:
    return {"field": field, "operator": operator, "value": value}


def root(node: object) -> dict[str, Any]:
    return {"root": node}


def holds(actual: Any, operator: str, value: Any, field: str = "target.x") -> bool:
    return evaluate(root(leaf(field, operator, value)), person(x=actual), NOON)


CITY = leaf("target.city", "=", "Tehran")
AGE = leaf("target.age", ">", 30)


@pytest.mark.parametrize(
    ("raw", "tree"),
    [
        (None, {"root": {}}),
        ({}, {"root": {}}),
        ([], {"root": {}}),
        ({"root": None}, {"root": {}}),
        ({"logic": "all", "rules": []}, {"root": {}}),
        ([CITY, AGE], {"root": {"op": "and", "children": [CITY, AGE]}}),
        ({"logic": "all", "rules": [CITY]}, {"root": {"op": "and", "children": [CITY]}}),
        ({"logic": "any", "rules": [CITY, AGE]}, {"root": {"op": "or", "children": [CITY, AGE]}}),
        ({"root": CITY}, {"root": CITY}),
    ],
)
def test_every_spelling_becomes_the_stored_form(raw: object, tree: dict[str, Any]) -> None:
    assert normalize_condition(raw) == tree


@given(st.sampled_from([[CITY, AGE], {"logic": "any", "rules": [AGE]}, None, {"root": CITY}]))
def test_normalising_twice_changes_nothing(raw: object) -> None:
    assert normalize_condition(normalize_condition(raw)) == normalize_condition(raw)


@pytest.mark.parametrize(
    "raw",
    [
        "x",
        7,
        {"logic": "xor", "rules": [CITY]},
        {"logic": ["all"], "rules": [CITY]},
        {"rules": {}},
        {"root": CITY, "x": 1},
        {"x": 1},
    ],
)
def test_other_forms_are_refused(raw: object) -> None:
    with pytest.raises(ConditionError) as refused:
        normalize_condition(raw)
    assert refused.value.code == "condition_malformed"
    assert codes(check_condition(raw, FIELDS)) == ["condition_malformed"]


@pytest.mark.parametrize(
    "tree",
    [None, {}, [], {"root": {}}, {"root": {"op": "or", "children": []}}, {"logic": "any", "rules": []}],
)
def test_an_empty_condition_holds_for_everybody(tree: object) -> None:
    assert is_empty(tree)
    assert evaluate(tree, Facts(), NOON)
    assert check_condition(tree, FIELDS) == []


def test_groups_combine() -> None:
    facts = person(city="Tehran", age=20)
    assert evaluate([CITY], facts, NOON)
    assert not evaluate([CITY, AGE], facts, NOON)
    assert evaluate({"logic": "any", "rules": [CITY, AGE]}, facts, NOON)
    assert evaluate(root({"op": "not", "children": [AGE]}), facts, NOON)


def test_a_bare_name_is_the_targets() -> None:
    assert evaluate([leaf("city", "=", "Tehran")], person(city="Tehran"), NOON)


def test_other_namespaces_are_read() -> None:
    facts = Facts(execution={"last_action_status": "failed"}, campaign={"name": "A"}, workspace={"name": "W"})
    tree = [
        leaf("execution.last_action_status", "=", "failed"),
        leaf("campaign.name", "=", "A"),
        leaf("workspace.name", "=", "W"),
    ]
    assert evaluate(tree, facts, NOON)


@pytest.mark.parametrize(
    ("actual", "operator", "value", "expected"),
    [
        ("5", "=", 5, True),
        (5, "=", "5", True),
        (5, "=", "5.0", True),
        ("۵", "=", 5, True),
        ("Tehran", "=", "tehran", False),
        (True, "=", 1, True),
        (True, "=", "true", True),
        (False, "=", "0", True),
        (True, "=", "yes", False),
        (None, "=", None, True),
        (None, "=", "", False),
        ("", "=", "", True),
        ("", "=", None, False),
        (0, "=", "", False),
        ("a", "!=", "b", True),
        (None, "!=", "b", True),
        (5, ">", 4, True),
        ("5", ">", "4", True),
        (5, ">=", 5, True),
        (5, "<", 5, False),
        (5, "<=", 5, True),
        (None, "<", 5, False),
        (None, ">=", 5, False),
        ("", "<", 5, False),
        (5, ">", None, False),
        ("a", "in", ["a", "b"], True),
        ("a", "in", "a", True),
        ("a", "in", [], False),
        (5, "in", ["5"], True),
        (None, "in", ["a"], False),
        (None, "not_in", ["a"], True),
        ("a", "not_in", ["a"], False),
        (["a", "b"], "in", ["b", "c"], True),
        (["a", "b"], "not_in", ["c"], True),
        ("Tehran", "contains", "ehr", True),
        (12345, "contains", 34, True),
        (None, "contains", "a", False),
        ("", "contains", "a", False),
        (["vip", "new"], "contains", "vip", True),
        (["vip"], "contains", "vi", False),
        (None, "is_null", None, True),
        ("", "is_null", None, False),
        (0, "is_null", None, False),
        (None, "is_not_null", "ignored", False),
        ("", "is_not_null", None, True),
    ],
)
def test_comparisons(actual: Any, operator: str, value: Any, expected: bool) -> None:
    assert holds(actual, operator, value) is expected


@pytest.mark.parametrize(
    ("operator", "expected"), [("is_null", True), ("!=", True), ("not_in", True), ("=", False)]
)
def test_a_missing_field_reads_as_null(operator: str, expected: bool) -> None:
    assert evaluate([leaf("target.gone", operator, "x")], person(), NOON) is expected


def test_a_walk_says_which_of_the_three_it_met() -> None:
    made = runnable(line(ask("c", "target.city", "=", "Tehran"), ask("d", "target.age", ">", 30), note("n")))
    cases: list[tuple[dict[str, Any], list[dict[str, str]]]] = [
        ({"city": "Tehran", "age": 0}, [{}, {}]),
        ({"city": "", "age": 40}, [{"target.city": "empty"}]),
        ({"city": None}, [{"target.city": "null"}]),
        ({"city": "Tehran"}, [{}, {"target.age": "missing"}]),
        ({}, [{"target.city": "missing"}]),
    ]
    for target, absent in cases:
        done = walk(made, at_first(made), Facts(target=target), NOON)
        asked = [line.data for line in done.trace if line.type == "condition_evaluated"]
        assert [data.get("absent", {}) for data in asked] == absent


def test_the_three_cases_of_no_value_can_be_told_apart() -> None:
    facts = person(none=None, empty="", nothing=[], zero=0)
    seen = [presence(facts, f"target.{name}") for name in ("gone", "none", "empty", "nothing", "zero")]
    assert seen == [Presence.MISSING, Presence.NULL, Presence.EMPTY, Presence.EMPTY, Presence.PRESENT]
    assert presence(facts, "planet.x") is Presence.MISSING


@pytest.mark.parametrize(
    ("actual", "operator", "value", "expected"),
    [
        (NOON - timedelta(days=8), "<", "now-7d", True),
        (NOON - timedelta(days=6), "<", "now-7d", False),
        (NOON + timedelta(minutes=59), "<", "now+1h", True),
        (NOON - timedelta(minutes=31), "<", "now-30m", True),
        (NOON, "=", "now", True),
        (NOON, "=", "2026-05-02T15:30:00+03:30", True),
        (NOON, "=", "2026-05-02T12:00", True),
        (NOON, ">", "2026-05-02", True),
        (date(2026, 5, 2), "=", "now", True),
        (date(2026, 4, 29), "=", "now-3d", True),
        (date(2026, 5, 2), ">", "2026-05-01", True),
        ("2026-04-01T00:00:00Z", "<", "now-7d", True),
        ("now", "=", "now", True),
        ("nowhere", "=", "nowhere", True),
        ("now-7w", "=", "now-7w", True),
        (None, "<", "now-7d", False),
    ],
)
def test_relative_and_fixed_times(actual: Any, operator: str, value: str, expected: bool) -> None:
    assert holds(actual, operator, value) is expected


def test_a_person_named_now_stays_a_name() -> None:
    tree = [leaf("target.city", "=", "now")]
    assert evaluate(tree, person(city="now"), NOON, FIELDS)
    assert not evaluate(tree, person(city="2026-05-02T12:00"), NOON, FIELDS)


def test_a_stored_relative_time_counts_only_for_a_date_time_field() -> None:
    tree = [leaf("target.seen_at", "<", "now")]
    assert evaluate(tree, person(seen_at="now-7d"), NOON, FIELDS)
    with pytest.raises(ConditionError):
        evaluate(tree, person(seen_at="now-7d"), NOON)


def test_times_without_a_zone_are_in_the_workspaces() -> None:
    facts = Facts(target={"x": datetime(2026, 5, 2, 8, 30, tzinfo=UTC)}, workspace_timezone="Asia/Tehran")
    assert evaluate([leaf("x", "=", "2026-05-02T12:00")], facts, NOON)


def test_a_date_is_the_workspaces_date() -> None:
    late = datetime(2026, 5, 2, 22, 0, tzinfo=UTC)  # the 3rd in Tehran
    facts = Facts(target={"x": date(2026, 5, 3)}, workspace_timezone="Asia/Tehran")
    assert evaluate([leaf("x", "=", "now")], facts, late)


@pytest.mark.parametrize("actual", ["abc", [1], "2026-99-99"])
def test_what_has_no_order_is_an_error_that_names_the_field(actual: Any) -> None:
    with pytest.raises(ConditionError) as refused:
        holds(actual, ">", 5)
    assert (refused.value.code, refused.value.field) == ("type_mismatch", "target.x")


def test_an_unusable_workspace_zone_is_a_condition_error() -> None:
    facts = Facts(target={"x": date(2026, 5, 3)}, workspace_timezone="Mars/Base")
    with pytest.raises(ConditionError):
        evaluate([leaf("x", "=", "now")], facts, NOON)


def test_an_unknown_operator_is_an_error_that_names_it() -> None:
    (problem,) = check_condition([leaf("target.city", "like", "x")], FIELDS)
    assert (problem.code, problem.fields["operator"]) == ("condition_operator_unknown", "like")
    with pytest.raises(ConditionError):
        compile_condition([leaf("target.city", "like", "x")])


@pytest.mark.parametrize(
    ("node", "code"),
    [
        (leaf("target.shoe", "=", 1), "condition_field_unknown"),
        (leaf("planet.city", "=", 1), "condition_field_unknown"),
        (leaf("target.__class__", "=", 1), "condition_field_unknown"),
        ({"field": 7, "operator": "=", "value": 1}, "condition_field_unknown"),
        ({"field": "target.city", "operator": ["="], "value": 1}, "condition_operator_unknown"),
        ({"field": "target.city", "value": 1}, "condition_malformed"),
        ({**CITY, "x": 1}, "condition_malformed"),
        ("city", "condition_malformed"),
        ({"event": "bought", "count_operator": ">=", "count": 1}, "condition_event_unsupported"),
        ({"op": "xor", "children": [CITY]}, "condition_malformed"),
        ({"op": ["and"], "children": [CITY]}, "condition_malformed"),
        ({"op": "and", "children": "x"}, "condition_malformed"),
        ({"op": "and", "children": [CITY], "x": 1}, "condition_malformed"),
        ({"op": "not", "children": [CITY, AGE]}, "condition_group_size"),
        ({"op": "and", "children": [{"op": "or", "children": []}]}, "condition_group_size"),
        (leaf("target.city", ">", "a"), "condition_operator_unfit"),
        (leaf("target.is_vip", "contains", "a"), "condition_operator_unfit"),
        (leaf("target.lists", "=", "a"), "condition_operator_unfit"),
        (leaf("target.age", "=", "old"), "condition_value_invalid"),
        (leaf("target.age", ">", None), "condition_value_invalid"),
        (leaf("target.age", "=", float("nan")), "condition_value_invalid"),
        (leaf("target.age", "in", []), "condition_value_invalid"),
        (leaf("target.age", "in", [1, "x"]), "condition_value_invalid"),
        (leaf("target.is_vip", "=", "maybe"), "condition_value_invalid"),
        (leaf("target.seen_at", "<", "yesterday"), "condition_value_invalid"),
        (leaf("target.seen_at", "<", "2026-02-31"), "condition_value_invalid"),
        (leaf("target.city", "contains", ""), "condition_value_invalid"),
        (leaf("target.city", "=", {"a": 1}), "condition_value_invalid"),
        (leaf("target.city", "=", "x" * 1001), "condition_value_invalid"),
    ],
)
def test_mistakes_of_the_author_are_found(node: Any, code: str) -> None:
    assert codes(check_condition(root(node), FIELDS)) == [code]


@pytest.mark.parametrize(
    "node",
    [
        CITY,
        AGE,
        leaf("city", "contains", "ehr"),
        {"field": "target.city", "operator": "is_null"},
        leaf("target.city", "=", None),
        leaf("target.seen_at", "<", "now-3d"),
        leaf("target.born", ">=", "2000-01-01"),
        leaf("target.lists", "contains", "vip"),
        leaf("target.is_vip", "=", "true"),
        leaf("target.age", "in", [1, "2", "۳"]),
        {"op": "not", "children": [{"op": "or", "children": [CITY, AGE]}]},
    ],
)
def test_good_conditions_have_no_problems(node: Any) -> None:
    assert check_condition(root(node), FIELDS) == []
    evaluate(root(node), person(), NOON, FIELDS)


def test_all_mistakes_are_named_at_once() -> None:
    tree = [leaf("target.a", "=", 1), leaf("target.city", "like", 1), leaf("target.age", ">", "x")]
    assert len(check_condition(tree, FIELDS)) == 3


def test_a_deep_or_huge_tree_is_refused_without_recursion() -> None:
    deep: Any = CITY
    for _ in range(100_000):
        deep = {"op": "not", "children": [deep]}
    assert codes(check_condition({"root": deep}, FIELDS)) == ["condition_too_big"]
    assert codes(check_condition([CITY] * 10_000, FIELDS)) == ["condition_too_big"]
    with pytest.raises(ConditionError):
        compile_condition({"root": deep})
    while isinstance(deep, dict) and "children" in deep:  # taken apart by hand: freeing it would recurse
        deep = deep["children"].pop()


def test_the_fields_of_a_condition_are_known() -> None:
    assert fields_of([leaf("city", "=", 1), {"op": "not", "children": [AGE]}]) == {
        "target.city",
        "target.age",
    }


def test_a_compiled_condition_can_be_stored() -> None:
    test = pickle.loads(pickle.dumps(compile_condition([CITY, AGE], FIELDS)))  # noqa: S301
    assert test(person(city="Tehran", age=31), NOON)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("now-3d")
values = scalars | st.lists(scalars, max_size=3) | st.dates() | st.datetimes(timezones=st.just(UTC))


@given(values, st.sampled_from(OPERATORS), values, st.sampled_from([None, *FIELDS]))
def test_comparing_anything_answers_or_is_a_condition_error(
    actual: Any, operator: str, value: Any, field: str | None
) -> None:
    name = (field or "target.x").partition(".")[2]
    try:
        answer = evaluate([leaf(f"target.{name}", operator, value)], person(**{name: actual}), NOON, FIELDS)
    except ConditionError:
        return
    assert isinstance(answer, bool)


garbage = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["root", "op", "children", "field", "operator", "value", "logic", "rules", "event"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(garbage)
def test_checking_garbage_never_raises(raw: Any) -> None:
    if not check_condition(raw, FIELDS):
        compile_condition(raw, FIELDS)

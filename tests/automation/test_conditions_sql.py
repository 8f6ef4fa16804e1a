"""Conditions over people: one SQL query and the engine, person by person, give the same answer."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automation.conditions_sql import matching
from automation.runtime.subjects import Subject
from automation.runtime.target_subject import load_targets
from core.tenancy import workspace_scope
from engine.conditions import ConditionError, check_condition, evaluate
from engine.types import Facts, FieldType
from targets.models import Target, TargetList, TargetListMember
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 5, 2, 12, 0, tzinfo=UTC)
ZONES = ["Asia/Tehran", "UTC", "Europe/Berlin", "America/New_York"]
COLUMNS = {
    "target.city": FieldType.TEXT,
    "target.name": FieldType.TEXT,
    "target.first_name": FieldType.TEXT,
    "target.lists": FieldType.LIST,
    "target.created_at": FieldType.DATETIME,
    "execution.cycle": FieldType.NUMBER,
    "execution.note": FieldType.NUMBER,
}
TRAITS = ["a", "b", "رنگ", 'x "y" z', "a.b"]
WORDS = ["", "تهران", "Tehran", "tehran", "5", "۵", " 5.50 ", "-3", "0", "1", "true", "TRUE ", "e", "vip"]
MOMENTS = [
    "now", "now-3d", "now+2h", "now-7w", "2026-05-02", "2026-05-01", "2026-02-30", "2024-02-29",
    "2026-05-02T12:00",
    "2026-05-02 15:30", "2026-05-02T12:00:00Z", "2026-05-02T12:00:00.000001Z", "2026-05-02T15:30+03:30",
    "2026-04-29T12:00Z", "2021-03-22T00:30", "2021-03-22", "2026-03-29T02:30", "2026-10-25T02:30",
    "2026-10-25T00:30Z", "2026-10-25T01:30Z", "2026-03-29T01:00Z", "2026-05-02T24:00",
    "1999-12-31T23:59:59.5", "9999-12-31",
]  # fmt: skip
NUMBERS = [0, 1, 5, -3, 5.5, 120]
JSON: list[Any] = [
    *WORDS, *MOMENTS, *NUMBERS, None, True, False, [], ["vip", "5", None], [5, True, "x"], [["vip"]],
    {"k": 1},
]  # fmt: skip
OPERATORS = ["=", "!=", "<", "<=", ">", ">=", "in", "not_in", "contains", "is_null", "is_not_null"]
VALUES: Mapping[FieldType, Sequence[Any]] = {
    FieldType.TEXT: [*WORDS, *NUMBERS, True, False, None],
    FieldType.LIST: [*WORDS, *NUMBERS, True],
    FieldType.NUMBER: ["5", "۵", " 5.50 ", "-3", *NUMBERS, None],
    FieldType.BOOL: [True, False, 0, 1, "true", "0", None],
    FieldType.DATE: [*MOMENTS, None],
    FieldType.DATETIME: [*MOMENTS, None],
}
AGES = [timedelta(0), timedelta(days=-3), timedelta(microseconds=1)]
number = itertools.count(1)


@st.composite
def leaves(draw: st.DrawFn, fields: Mapping[str, FieldType]) -> dict[str, Any]:
    def any_leaf() -> dict[str, Any]:
        field, operator = draw(st.sampled_from(sorted(fields))), draw(st.sampled_from(OPERATORS))
        one = st.sampled_from(VALUES[fields[field]])
        value = draw(st.lists(one, min_size=1, max_size=3) if operator in ("in", "not_in") else one)
        return {"field": field, "operator": operator, "value": value}

    leaf = any_leaf()
    while check_condition({"root": leaf}, fields):
        leaf = any_leaf()
    return leaf


def groups(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(children, min_size=1, max_size=3)
    one = st.lists(children, min_size=1, max_size=1)
    return st.one_of(
        st.builds(lambda op, inner: {"op": op, "children": inner}, st.sampled_from(["and", "or"]), several),
        st.builds(lambda inner: {"op": "not", "children": inner}, one),
    )


@st.composite
def questions(draw: st.DrawFn) -> tuple[dict[str, FieldType], list[dict[str, Any]]]:
    """A catalogue in which the traits have any type, and trees over it."""
    fields = COLUMNS | {f"target.{key}": draw(st.sampled_from(FieldType)) for key in TRAITS}
    trees = st.recursive(leaves(fields), groups, max_leaves=6)
    return fields, [{"root": draw(trees)} for _ in range(8)]


@st.composite
def people(draw: st.DrawFn) -> dict[str, Any]:
    word = st.sampled_from(WORDS)
    return {
        "city": draw(word),
        "name": draw(word),
        "first_name": draw(word),
        "last_name": draw(word),
        "traits": draw(st.dictionaries(st.sampled_from(TRAITS), st.sampled_from(JSON), max_size=4)),
        "created_at": NOW
        + draw(st.sampled_from([timedelta(0), timedelta(days=-3), timedelta(microseconds=1)])),
        "lists": draw(st.lists(st.sampled_from(["vip", "5", "true"]), max_size=2, unique=True)),
    }


def store(workspace: Workspace, made: Sequence[dict[str, Any]]) -> None:
    TargetListMember.objects.all().delete()
    Target.objects.all().delete()
    for values in made:
        columns = {key: value for key, value in values.items() if key not in ("lists", "created_at")}
        target = Target.objects.create(workspace=workspace, mobile=f"0912{next(number):07d}", **columns)
        Target.objects.filter(pk=target.pk).update(created_at=values.get("created_at", NOW))
        for name in values.get("lists", ()):
            listed, _ = TargetList.objects.get_or_create(workspace=workspace, name=name)
            TargetListMember.objects.create(workspace=workspace, list=listed, target=target)


def stored(workspace: Workspace) -> Mapping[int, Subject]:
    return load_targets(workspace.pk, Target.objects.values_list("pk", flat=True))


def by_engine(
    subjects: Mapping[int, Subject], tree: object, fields: Mapping[str, FieldType], facts: Facts
) -> set[int]:
    found = set()
    for pk, subject in subjects.items():
        with suppress(ConditionError):
            if evaluate(tree, facts._replace(target=subject.facts), NOW, fields):
                found.add(pk)
    return found


def by_sql(tree: object, fields: Mapping[str, FieldType], facts: Facts) -> set[int]:
    condition = matching(tree, now=NOW, fields=fields, facts=facts)
    return set(Target.objects.filter(condition).values_list("pk", flat=True))


def facts_in(zone: str) -> Facts:
    return Facts(execution={"cycle": 2, "note": "unreadable"}, workspace_timezone=zone)


@given(st.lists(people(), min_size=1, max_size=8), questions(), st.sampled_from(ZONES))
def test_sql_and_engine_select_the_same_people(
    workspace: Workspace,
    made: list[dict[str, Any]],
    asked: tuple[dict[str, FieldType], list[dict[str, Any]]],
    zone: str,
) -> None:
    store(workspace, made)
    fields, trees = asked
    facts = facts_in(zone)
    subjects = stored(workspace)
    for tree in trees:
        assert by_sql(tree, fields, facts) == by_engine(subjects, tree, fields, facts), tree


@pytest.mark.parametrize("kind", FieldType)
def test_every_value_meets_every_operator(workspace: Workspace, kind: FieldType) -> None:
    store(workspace, [{"traits": {"a": value}} for value in JSON] + [{"traits": {}}])
    fields, subjects = {"target.a": kind}, stored(workspace)
    is_temporal = kind in (FieldType.DATE, FieldType.DATETIME)
    zones = ["Asia/Tehran", "Europe/Berlin"] if is_temporal else ["UTC"]
    operators = ["=", "<", ">"] if is_temporal else OPERATORS
    for zone, operator, value in itertools.product(zones, operators, VALUES[kind]):
        tree = {"root": {"field": "target.a", "operator": operator, "value": value}}
        if not check_condition(tree, fields):
            same = by_engine(subjects, tree, fields, facts_in(zone))
            assert by_sql(tree, fields, facts_in(zone)) == same, (zone, tree)


def names(tree: object, kind: FieldType = FieldType.NUMBER) -> list[str]:
    condition = matching(tree, now=NOW, fields={**COLUMNS, "target.a": kind})
    return list(Target.objects.filter(condition).order_by("pk").values_list("first_name", flat=True))


OLD = {"field": "target.a", "operator": ">", "value": 30}
IN_TEHRAN = {"field": "target.city", "operator": "=", "value": "تهران"}


@pytest.fixture
def three(workspace: Workspace) -> None:
    store(
        workspace,
        [
            {"first_name": "old", "traits": {"a": 40}},
            {"first_name": "unreadable", "city": "تهران", "traits": {"a": "many"}},
            {"first_name": "empty", "traits": {"a": ""}},
            {"first_name": "none", "traits": {}},
        ],
    )


@pytest.mark.usefixtures("three")
def test_who_cannot_be_answered_is_neither_in_nor_out() -> None:
    assert names({"root": OLD}) == ["old"]
    assert names({"root": {"op": "not", "children": [OLD]}}) == ["empty", "none"]


@pytest.mark.usefixtures("three")
def test_a_group_is_answered_where_the_unanswered_part_does_not_matter() -> None:
    assert names({"root": {"op": "or", "children": [OLD, IN_TEHRAN]}}) == ["old", "unreadable"]


@pytest.mark.usefixtures("three")
def test_missing_reads_as_null_and_empty_does_not() -> None:
    assert names({"root": {"field": "target.a", "operator": "is_null"}}) == ["none"]


@pytest.mark.usefixtures("three")
def test_an_empty_tree_selects_everybody() -> None:
    assert len(names({"root": {}})) == 4


@pytest.mark.usefixtures("three")
def test_it_is_one_query(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        names({"root": {"op": "or", "children": [OLD, IN_TEHRAN]}})


@pytest.mark.parametrize(
    "leaf",
    [
        {"field": "target.shoe", "operator": "=", "value": 1},
        {"field": "target.city", "operator": "<", "value": 1},
        {"field": "target.city", "operator": "~", "value": 1},
    ],
)
def test_a_tree_with_a_mistake_is_refused(workspace: Workspace, leaf: dict[str, Any]) -> None:
    with pytest.raises(ConditionError):
        matching({"root": leaf}, now=NOW, fields=COLUMNS)


def test_an_unknown_time_zone_is_refused(workspace: Workspace) -> None:
    with pytest.raises(ConditionError):
        matching({"root": IN_TEHRAN}, now=NOW, fields=COLUMNS, facts=facts_in("Mars/Base"))


def test_a_tree_as_deep_and_as_wide_as_trees_may_be_is_one_query(workspace: Workspace) -> None:
    store(workspace, [{"first_name": "old", "traits": {"a": "۴۰"}}])
    deep: dict[str, Any] = OLD
    for depth in range(19):
        deep = {"op": ("and", "or", "not")[depth % 3], "children": [deep]}
    fields = {**COLUMNS, "target.a": FieldType.NUMBER}
    wide = {"op": "or", "children": [OLD] * 400}
    for tree in ({"root": deep}, {"root": wide}):
        assert by_sql(tree, fields, Facts()) == by_engine(stored(workspace), tree, fields, Facts())


def test_nobody_of_another_workspace_is_on_the_list(workspace: Workspace, other_workspace: Workspace) -> None:
    store(workspace, [{"first_name": "ours", "lists": ["vip"]}])
    condition = matching(
        {"root": {"field": "target.lists", "operator": "contains", "value": "vip"}}, now=NOW, fields=COLUMNS
    )
    with workspace_scope(other_workspace.pk):
        assert not Target.objects.filter(condition).exists()

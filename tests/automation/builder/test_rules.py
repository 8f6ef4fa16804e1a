"""The rule editor: every stored condition comes back with its meaning, and what is typed gets its type."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.http import QueryDict
from hypothesis import given, settings
from hypothesis import strategies as st

from automation import registry
from automation.builder import rules
from automation.builder.offers import Offers
from automation.builder.rule_rows import GroupRow, RuleRow, rows
from automation.builder.rules import EVENT, OPERATORS, Group, Rule
from engine.conditions import check_condition, evaluate
from engine.types import Facts, FieldType

ZONE = "Asia/Tehran"
NOTHING = Offers(lists=tuple, places=lambda _field: ())  # no workspace is at hand
AT = datetime(2026, 5, 1, 9, tzinfo=UTC)


def leaf(field: str, operator: str, value: Any) -> dict[str, Any]:
    return {"field": field, "operator": operator, "value": value}


def posted(**fields: str | list[str]) -> QueryDict:
    data = QueryDict(mutable=True)
    for name, value in fields.items():
        data.setlist(name.replace("__", "."), value if isinstance(value, list) else [value])
    return data


def rule(**fields: str | list[str]) -> dict[str, Any]:
    """The stored leaf of one posted rule."""
    data = posted(c__n="1")
    for name, value in fields.items():
        data.setlist(f"c.0.{name}", value if isinstance(value, list) else [value])
    made = rules.to_config(rules.from_post(data, "c"), ZONE)
    children: list[dict[str, Any]] = made["root"]["children"]
    return children[0]


LEAVES = st.builds(
    leaf,
    st.sampled_from(["target.city", "target.status", "campaign.name"]),
    st.sampled_from(["=", "!="]),
    st.sampled_from(["a", "b"]),
)
TREES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(
            lambda op, parts: {"op": op, "children": parts},
            st.sampled_from(["and", "or"]),
            st.lists(inner, min_size=1, max_size=3),
        ),
        st.builds(lambda part: {"op": "not", "children": [part]}, inner),
    ),
    max_leaves=8,
)


def as_posted(row: GroupRow | RuleRow, data: QueryDict) -> QueryDict:
    """What a browser posts of the editor as it was drawn."""
    if isinstance(row, GroupRow):
        data[f"{row.name}.n"] = str(len(row.parts))
        data[f"{row.name}.op"] = row.op
        if row.is_negated:
            data[f"{row.name}.not"] = "on"
        for part in row.parts:
            as_posted(part, data)
    elif row.widget == "raw":
        data[f"{row.name}.raw"] = row.value
    elif row.widget == "event":
        data[f"{row.name}.field"] = EVENT
        data[f"{row.name}.operator"] = next(o.value for o in row.operators if o.is_chosen)
        data.setlist(f"{row.name}.value", [row.value, row.count, row.days])
    else:
        data[f"{row.name}.field"] = next(o.value for _, group in row.fields for o in group if o.is_chosen)
        data[f"{row.name}.operator"] = next(o.value for o in row.operators if o.is_chosen)
        chosen = [option.value for option in row.choices if option.is_chosen]
        data.setlist(f"{row.name}.value", chosen if row.choices else [row.value])
    return data


@settings(max_examples=100, deadline=None)
@given(TREES, st.sampled_from(["a", "b", "c"]), st.sampled_from(["a", "c"]))
def test_a_stored_tree_means_the_same_after_a_round_through_the_page(tree, city, name):
    drawn = rows(rules.from_config({"root": tree}), "c", NOTHING)
    back = rules.to_config(rules.from_post(as_posted(drawn, QueryDict(mutable=True)), "c"), ZONE)
    facts = Facts(target={"city": city, "status": "b"}, campaign={"name": name})

    fields = dict.fromkeys(("target.city", "target.status", "campaign.name"), FieldType.TEXT)
    assert evaluate(back, facts, AT, fields) == evaluate({"root": tree}, facts, AT, fields)


def test_an_event_question_is_carried_along():
    event = {"event": "order_paid", "count_operator": ">=", "count": 2}
    group = rules.from_config({"root": {"op": "and", "children": [event]}})
    back = rules.from_post(as_posted(rows(group, "c", NOTHING), QueryDict(mutable=True)), "c")

    assert rules.to_config(back, ZONE) == {"root": {"op": "and", "children": [event]}}


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        (
            {"field": "target.city", "operator": "=", "value": " تهران "},
            leaf("target.city", "=", "تهران"),
        ),
        (
            {"field": "target.city", "operator": "in", "value": "تهران، شیراز"},
            leaf("target.city", "in", ["تهران", "شیراز"]),
        ),
        (
            {"field": "target.status", "operator": "in", "value": ["interested", "converted"]},
            leaf("target.status", "in", ["interested", "converted"]),
        ),
        ({"field": "execution.cycle", "operator": ">", "value": "۲"}, leaf("execution.cycle", ">", 2)),
        (
            {"field": "target.created_at", "operator": ">=", "value": "۱۴۰۵/۰۱/۰۱"},
            leaf("target.created_at", ">=", "2026-03-21"),
        ),
        (
            {"field": "target.created_at", "operator": "<", "value": "now-3d"},
            leaf("target.created_at", "<", "now-3d"),
        ),
        (
            {"field": "target.city", "operator": "is_null", "value": "x"},
            {"field": "target.city", "operator": "is_null"},
        ),
        (
            {"field": "target.lists", "operator": "contains", "value": "vip"},
            leaf("target.lists", "contains", "vip"),
        ),
        ({"field": "target.city", "operator": "<", "value": "x"}, leaf("target.city", "=", "x")),
    ],
)
def test_values_get_the_type_of_their_field(typed, stored):
    assert rule(**typed) == stored


def test_a_mistake_stays_as_it_was_typed_so_that_it_can_be_shown():
    assert rule(field="execution.cycle", operator=">", value="many")["value"] == "many"
    assert rule(field="target.created_at", operator="<", value="1405/13/40")["value"] == "1405/13/40"


def test_rules_without_a_field_ask_nothing():
    assert rules.to_config(rules.from_post(posted(c__n="2"), "c"), ZONE) == {"root": {}}


@pytest.mark.parametrize("count", ["-1", "9999999", "x", "", "۲"])
def test_a_damaged_count_makes_no_rules(count):
    assert rules.from_post(posted(c__n=count), "c") == Group()


def test_parts_are_added_and_removed_by_their_path():
    group = rules.edit(Group(), "group", "")
    group = rules.edit(group, "rule", "0")
    assert rules.size(group) == 4
    group = rules.edit(group, "remove", "0-1")
    assert rules.size(group) == 3
    assert rules.edit(group, "remove", "0") == Group()


@pytest.mark.parametrize("path", ["7", "0-0-0", "x", ""])
def test_a_path_to_nowhere_changes_nothing(path):
    group = Group(parts=(Rule(field="target.city"),))

    assert rules.edit(group, "remove", path) == group


def test_another_word_changes_nothing():
    assert rules.edit(Group(parts=(Rule(),)), "refresh", "") == Group(parts=(Rule(),))


def test_a_full_condition_takes_no_more():
    group = Group(parts=(Rule(),) * rules.MAX_PARTS)

    assert rules.edit(group, "rule", "") == group


def test_every_operator_that_is_offered_suits_its_field():
    values = {
        FieldType.NUMBER: 1, FieldType.BOOL: True, FieldType.DATE: "2026-01-01",
        FieldType.DATETIME: "2026-01-01",
    }  # fmt: skip
    for kind, operators in OPERATORS.items():
        for operator in operators:
            value = values.get(kind, "x")
            question = leaf("target.x", operator, [value] if operator in rules.LISTS else value)
            assert check_condition({"root": question}, {"target.x": kind}) == [], (kind, operator)


def test_every_field_of_the_catalogue_can_be_chosen():
    row = rows(Group(parts=(Rule(field="target.city", operator="="),)), "c", NOTHING).parts[0]
    assert isinstance(row, RuleRow)
    offered = {option.value for _space, group in row.fields for option in group}

    assert offered - {EVENT} == set(registry.field_types())


def test_a_field_that_is_gone_is_still_shown():
    row = rows(Group(parts=(Rule(field="target.shoe", operator="="),)), "c", NOTHING).parts[0]
    assert isinstance(row, RuleRow)

    assert [o.value for _s, group in row.fields for o in group if o.is_chosen] == ["target.shoe"]

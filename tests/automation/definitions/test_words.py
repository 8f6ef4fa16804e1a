"""Steps, texts, hours and differences as people read them."""

from __future__ import annotations

import pytest
from django.utils import timezone, translation

from automation.builder.describing import condition, describe, duration
from automation.builder.differences import differences, pieces
from automation.builder.message_text import direction, text_pieces
from automation.builder.relative import read_relative
from automation.builder.steps import draw
from automation.builder.window_form import read_spans, write_spans
from automation.catalogue import BUILT_IN
from engine.types import Definition, EdgeSpec, NodeSpec


@pytest.fixture
def _english():
    with translation.override("en"):
        yield


def node(kind: str, subtype: str, **config: object) -> NodeSpec:
    return NodeSpec(key="n", type=kind, subtype=subtype, config=config)


@pytest.mark.parametrize(
    ("amount", "unit", "words"),
    [
        (1, "day", "1 day"),
        (30, "days", "30 days"),
        (2, "week", "2 weeks"),
        (1, "month", "1 month"),
        (5, "hour", "5 hours"),
    ],
)
def test_lengths_of_time(_english, amount, unit, words):
    assert duration({"amount": amount, "unit": unit}) == words


@pytest.mark.parametrize(
    "raw", [None, {}, {"amount": True, "unit": "day"}, {"amount": 1, "unit": "eon"}, "1 day"]
)
def test_what_is_no_length_of_time_is_a_dash(raw):
    assert duration(raw) == "—"


def test_a_fixed_wait_names_its_moment_in_the_workspaces_zone(_english):
    wait = node("wait", "until", at="2026-12-01T09:00", timezone="UTC")

    assert describe(wait, {}, "Asia/Tehran") == "Until 1 Dec 2026, 12:30"


@pytest.mark.parametrize("config", [{}, {"at": "soon"}, {"at": "2026-12-01T09:00", "timezone": "Mars/Base"}])
def test_a_fixed_wait_that_cannot_be_read_is_a_dash(config):
    assert describe(node("wait", "until", **config), {}, "UTC") == "—"


def test_a_loop_names_the_step_it_goes_back_to(_english):
    end = node("end", "loop", to_node="a", delay={"amount": 2, "unit": "day"}, max_cycles=3)

    assert describe(end, {"a": "Hello"}, "UTC") == "After 2 days back to “Hello”, 3 rounds at most."


def test_conditions_read_as_sentences(_english):
    leaf = {"field": "city", "operator": "=", "value": "تبریز"}
    other = {"field": "target.status", "operator": "is_null"}
    tree = {"root": {"op": "or", "children": [leaf, {"op": "not", "children": [other]}]}}

    assert condition(tree) == "City is “\u2068تبریز\u2069” or not (Status is empty)"


@pytest.mark.parametrize(
    ("language", "value", "words"),
    [
        ("en", "now-3d", "Added on is before 3 days ago"),
        ("fa", "now+2h", "«تاریخ افزوده شدن» پیش از ۲ ساعت دیگر است"),
        ("fa", "now", "«تاریخ افزوده شدن» پیش از اکنون است"),
        ("fa", "2026-11-30", "«تاریخ افزوده شدن» پیش از ۹ آذر ۱۴۰۵ است"),
        ("en", "2026-11-30T06:00:00+00:00", "Added on is before 30 Nov 2026, 09:30"),
        ("en", "soon", "Added on is before soon"),
    ],
)
def test_moments_of_conditions_read_as_people_say_them(language, value, words):
    with translation.override(language), timezone.override("Asia/Tehran"):
        assert condition({"root": {"field": "created_at", "operator": "<", "value": value}}) == words


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("۳ روز پیش", "now-3d"),
        ("2 weeks ago", "now-14d"),
        ("۵ ساعت دیگر", "now+5h"),
        ("30 minutes from now", "now+30m"),
        ("اکنون", "now"),
        ("NOW-3d", "now-3d"),
        ("1405/09/09", ""),
        ("فردا", ""),
    ],
)
def test_times_counted_from_now_are_typed_in_words(typed, stored):
    assert read_relative(typed) == stored


@pytest.mark.parametrize("raw", ["x", {"root": {"op": "and", "children": "x"}}, {"root": 5}, {"root": {}}])
def test_damaged_conditions_do_not_break_the_page(raw):
    assert condition(raw) in ("—", "…")


def test_very_deep_conditions_end_in_dots():
    tree: dict[str, object] = {"field": "city", "operator": "is_null"}
    for _level in range(200):
        tree = {"op": "not", "children": [tree]}

    assert "…" in condition({"root": tree})


def test_texts_show_variables_by_their_label(_english):
    shown = [
        (piece.label or piece.text, piece.fallback) for piece in text_pieces("سلام {first_name|دوست} {x}")
    ]

    assert shown == [("سلام ", ""), ("First name", "دوست"), (" ", ""), ("target.x", "")]


@pytest.mark.parametrize(
    ("body", "way"),
    [("{target.first_name} گرامی", "rtl"), ("{name|سارا} hello", "ltr"), ("123 سلام", "rtl"), ("", "auto")],
)
def test_the_direction_is_that_of_the_words(_english, body, way):
    assert direction(body) == way


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("", None),
        ("09:00-18:00", [["09:00", "18:00"]]),
        ("۹ تا ۱۸", [["09:00", "18:00"]]),
        ("9–12، 14:30–24:00", [["09:00", "12:00"], ["14:30", "24:00"]]),
        ("8 to 10 and 12 to 13", [["08:00", "10:00"], ["12:00", "13:00"]]),
    ],
)
def test_hours_as_people_write_them(text, spans):
    assert read_spans(text) == spans


@pytest.mark.parametrize("text", ["nine", "09:00", "9-10-11", "09:0-10:00", "-"])
def test_what_is_no_range_of_hours_is_refused(text):
    with pytest.raises(ValueError):
        read_spans(text)


def test_hours_make_the_round_trip():
    spans = [["09:00", "12:00"], ["14:00", "24:00"]]

    assert read_spans(write_spans(spans)) == spans


def test_changed_words_are_marked():
    assert [(p.kind, p.text) for p in pieces("سلام دوست من", "سلام یار من")] == [
        ("same", "سلام "),
        ("gone", "دوست"),
        ("new", "یار"),
        ("same", " من"),
    ]


def test_a_very_long_text_is_shown_whole():
    assert [p.kind for p in pieces("a " * 3000, "b " * 3000)] == ["gone", "new"]


def test_steps_that_came_and_went_are_listed():
    old = Definition(nodes=(node("wait", "duration", amount=1, unit="day"),), edges=())
    new = Definition(nodes=(NodeSpec(key="m", type="end", subtype="complete"),), edges=())

    assert [(d.key, d.change) for d in differences(old, new, timezone="UTC")] == [
        ("m", "added"),
        ("n", "removed"),
    ]


def test_the_same_version_differs_in_nothing():
    definition = BUILT_IN[1].definition()

    assert differences(definition, definition, timezone="UTC") == []


def test_a_very_deep_definition_is_drawn_without_recursion():
    depth = 49
    nodes = [NodeSpec(key="s", type="start", subtype="manual")]
    edges = [EdgeSpec(source="s", port="default", target="c0")]
    for level in range(depth):
        nodes.append(NodeSpec(key=f"c{level}", type="condition", subtype="field_rules"))
        if level:
            edges.append(EdgeSpec(source=f"c{level - 1}", port="yes", target=f"c{level}"))
    rows = draw(Definition(nodes=tuple(nodes), edges=tuple(edges)), timezone="UTC").rows

    opened = [row.kind for row in rows]
    assert opened.count("step") == opened.count("close") == depth + 1
    assert opened.count("branch") == opened.count("branch_end") == 2 * depth

"""Variables in message texts."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text import check_names, clean_value, full_name, parse_text, render
from engine.types import Facts
from tests.engine.building import VARIABLES, person

SARA = Facts(
    target={"first_name": "Sara", "name": "Sara Ahmadi", "city": "Tehran", "landline": "02100000000"},
    campaign={"name": "Autumn"},
    workspace={"name": "Shop"},
    execution={"cycle": 2},
)


def said(body: str, facts: Facts = SARA) -> str:
    return render(parse_text(body), facts, on_missing="blank").text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("Hi {target.first_name}!", "Hi Sara!"),
        ("Hi {{target.first_name}}!", "Hi Sara!"),
        ("Hi {{ first_name }}!", "Hi Sara!"),
        ("{city}", "Tehran"),
        ("{name}", "Sara Ahmadi"),
        ("{phone}", "02100000000"),
        ("{target.phone}", "02100000000"),
        ("{campaign.name} of {workspace.name}, round {execution.cycle}", "Autumn of Shop, round 2"),
        ("{city|your city}", "Tehran"),
        ("{street|your street}", "your street"),
        ("{street|}.", "."),
        ("{{street|a|b}}", "a|b"),
        ("no variables", "no variables"),
        ("", ""),
    ],
)
def test_variables_are_replaced(body: str, text: str) -> None:
    assert said(body) == text


@pytest.mark.parametrize(
    "body",
    [
        "{0}",
        "{name!r}",
        "{name:>1000000}",
        "{{7*7}}",
        "{% load x %}",
        "%(x)s",
        "{",
        "}{",
        "{city",
        "{city|",
        "{{city|x{y}",
        "{ }",
        "{}",
        "{{}}",
        "{first name}",
    ],
)
def test_what_is_no_variable_stays_as_written(body: str) -> None:
    facts = Facts(target={"y": "{y}"})
    assert said(body, facts) == body


def test_a_dollar_before_a_variable_is_just_a_dollar() -> None:
    assert said("${city}") == "$Tehran"


def test_attributes_of_values_are_out_of_reach() -> None:
    rendered = render(parse_text("{name.__class__.__init__.__globals__}"), SARA, on_missing="skip")
    assert rendered.text == ""
    assert rendered.unknown == ("target.name.__class__.__init__.__globals__",)


def test_values_are_never_read_again_for_variables() -> None:
    assert said("{first_name} {city}", person(first_name="{city} {{city}}", city="X")) == "{city} {{city}} X"


def test_double_braces_are_read_first_and_extra_ones_stay() -> None:
    assert said("{{{city}}} {{city} {city}}") == "{Tehran} {Tehran Tehran}"


def test_an_empty_first_name_falls_back_to_the_whole_name() -> None:
    assert said("{first_name}", person(first_name="", name="Ali Reza Karimi")) == "Ali Reza Karimi"
    assert said("{first_name}", person(name="Ali Reza Karimi")) == "Ali Reza Karimi"


def test_the_whole_name_wins_over_the_written_fallback() -> None:
    assert said("{first_name|friend}", person(first_name=None, name="Ali")) == "Ali"


def test_persian_names_and_zero_width_joiners_survive() -> None:
    assert said("سلام {شهر}", person(**{"شهر": "نیم\u200cروز"})) == "سلام نیم\u200cروز"


@pytest.mark.parametrize("value", [None, "", "   ", "\n", "\u202e"])
def test_a_variable_without_value_is_missing(value: str | None) -> None:
    rendered = render(parse_text("{city}!"), person(city=value), on_missing="skip")
    assert (rendered.missing, rendered.unknown, rendered.skip) == (("target.city",), (), True)


def test_blank_sends_with_an_empty_place() -> None:
    rendered = render(parse_text("To {city}!"), person(city=None), on_missing="blank")
    assert (rendered.text, rendered.skip) == ("To !", False)


def test_missing_names_are_listed_once_in_order() -> None:
    rendered = render(parse_text("{b} {a} {b} {campaign.x}"), person(a=None), on_missing="skip")
    assert rendered.missing == ("target.b", "target.a", "campaign.x")
    assert rendered.unknown == ("target.b", "campaign.x")


def test_missing_and_unknown_names_can_be_pointed_at() -> None:
    text = parse_text("{b} {city} {{ b }}")
    rendered = render(text, SARA, on_missing="skip")
    assert rendered.missing == rendered.unknown == ("target.b",)
    places = text.places(rendered.missing)
    assert [text.body[place.start : place.end] for place in places] == ["{b}", "{{ b }}"]


def test_a_fallback_is_nothing_missing() -> None:
    rendered = render(parse_text("{city|somewhere}"), person(city=None), on_missing="skip")
    assert (rendered.skip, rendered.used[0].is_fallback) == (False, True)


def test_positions_point_at_the_inserted_values() -> None:
    rendered = render(parse_text("Hi {first_name}, {city|x}"), SARA, on_missing="skip")
    assert [rendered.text[used.start : used.end] for used in rendered.used] == ["Sara", "Tehran"]


def test_positions_of_variables_point_into_the_body() -> None:
    text = parse_text("Hi {first_name}, {{city|x}}")
    assert [text.body[ref.start : ref.end] for ref in text.refs] == ["{first_name}", "{{city|x}}"]


def test_unknown_names_are_problems_with_their_place() -> None:
    (problem,) = check_names(parse_text("{city} {target.shoe_size} {phone}"), VARIABLES)
    assert problem.code == "variable_unknown"
    assert problem.fields == {"name": "target.shoe_size", "start": 7, "end": 25}


def test_properties_of_the_event_are_known_only_where_an_event_begins_the_walk() -> None:
    text = parse_text("{{event.rank}} {event.rank|1} {shoe_size}")
    assert full_name("event.rank") == "event.rank"
    assert [problem.fields["name"] for problem in check_names(text, VARIABLES)] == [
        "event.rank", "event.rank", "target.shoe_size",
    ]  # fmt: skip
    assert len(check_names(text, VARIABLES, any_event=True)) == 1


@pytest.mark.parametrize("on_missing", ["skip", "blank"])
def test_a_property_of_the_event_is_never_left_blank(on_missing: Any) -> None:
    text = parse_text("{event.rank} {city}")
    assert render(text, Facts(event={"rank": 3}), on_missing="blank").text == "3 "
    assert render(text, Facts(target={"city": "Rey"}), on_missing=on_missing).skip


def test_stray_braces_are_reported_where_they_stand() -> None:
    assert parse_text("{city} { x }} {{y").stray == (12, 14, 15)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "5"),
        (5.0, "5"),
        (1.5, "1.5"),
        (True, "true"),
        (date(2026, 5, 2), "2026-05-02"),
        (datetime(2026, 5, 2, 9, 0, tzinfo=UTC), "2026-05-02 09:00+00:00"),
        (["a", "b"], "a, b"),
        ("a\nb\r\nc", "a b c"),
        ("a\x00\x07b\u202ec\u200ed", "abcd"),
        ("x" * 10_000, "x" * 500),
    ],
)
def test_values_read_as_one_clean_line(value: object, text: str) -> None:
    assert clean_value(value) == text


@given(st.text(alphabet=st.sampled_from("{}|. ab0_\n\x00ش\u200c")), st.sampled_from(["skip", "blank"]))
def test_no_text_ever_raises_and_literals_are_kept(body: str, on_missing: str) -> None:
    text = parse_text(body)
    rebuilt = "".join(part if isinstance(part, str) else body[part.start : part.end] for part in text.parts)
    assert rebuilt == body
    render(text, SARA, on_missing="skip" if on_missing == "skip" else "blank")


@given(st.text())
def test_any_value_is_inserted_as_plain_text(value: str) -> None:
    rendered = render(parse_text("<{city}>"), person(city=value), on_missing="blank")
    assert rendered.text == f"<{clean_value(value)}>"


@pytest.mark.parametrize(
    "body", ["{" * 100_000, "{a" * 50_000, "{ " * 50_000, "{a|" * 33_000, "{a." * 33_000]
)
def test_hostile_texts_are_split_in_linear_time(body: str) -> None:
    assert "".join(part for part in parse_text(body).parts if isinstance(part, str)) == body

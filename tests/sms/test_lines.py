from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text import normalize_text
from sms.lines import Line, LineKind, choose, lines_of, pattern_of
from sms.types import Pattern

AD, SERVICE = Line("50001"), Line("9000", LineKind.SERVICE)
APPROVED = Line("4321", LineKind.PATTERN, "سلام {0}، کد شما {1} است.")
REFUSED = "promotional_on_service_line"


def test_a_line_nobody_has_said_anything_of_is_promotional() -> None:
    assert lines_of(["50001"], {}) == (AD,)


def test_an_unknown_kind_is_promotional() -> None:
    assert lines_of(["50001"], {"50001": {"kind": "pigeon"}}) == (AD,)


@pytest.mark.parametrize(
    ("lines", "wanted", "kind", "expected"),
    [
        ((AD, SERVICE), "", "promotional", (AD, "")),
        ((SERVICE, AD), "", "promotional", (AD, "")),
        ((AD, SERVICE), "", "service", (SERVICE, "")),
        ((AD,), "", "service", (AD, "")),
        ((SERVICE,), "", "promotional", (None, REFUSED)),
        ((APPROVED,), "", "service", (None, REFUSED)),
        ((AD, SERVICE), "9000", "promotional", (None, REFUSED)),
        ((AD, SERVICE), "9000", "service", (SERVICE, "")),
        ((AD, SERVICE), "50001", "service", (AD, "")),
        ((AD, APPROVED), "4321", "promotional", (None, REFUSED)),
        ((AD, APPROVED), "4321", "service", (APPROVED, "")),
        ((), "", "promotional", (None, "")),
        ((AD,), "3000", "promotional", (Line("3000"), "")),
    ],
)
def test_a_message_leaves_by_a_line_that_may_carry_it(
    lines: tuple[Line, ...], wanted: str, kind: str, expected: tuple[Line | None, str]
) -> None:
    assert choose(lines, wanted, kind) == expected


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("سلام علی، کد شما 12 است.", ("علی", "12")),
        ("سلام علی رضا، کد شما 12 است.", ("علی رضا", "12")),
        ("سلام علي، كد شما 12 است.", ("علی", "12")),  # Arabic letters are the same letters
    ],
)
def test_the_values_are_what_stands_in_the_places(text: str, variables: tuple[str, ...]) -> None:
    found = pattern_of(APPROVED, text)

    assert found is not None
    assert (found.body_id, [value.strip() for value in found.variables]) == (4321, list(variables))


@pytest.mark.parametrize("text", ["", "سلام", "کد شما 12 است.", "سلام علی، کد شما 12 است. لغو11", "کد 12"])
def test_another_text_has_no_values(text: str) -> None:
    assert pattern_of(APPROVED, text) is None


def test_a_place_named_twice_has_one_value() -> None:
    line = Line("1", LineKind.PATTERN, "{0}-{0}")

    assert pattern_of(line, "a-a") == Pattern(body_id=1, variables=("a",))
    assert pattern_of(line, "a-b") is None


def test_places_may_stand_in_any_order() -> None:
    assert pattern_of(Line("1", LineKind.PATTERN, "{1} {0}"), "b a") == Pattern(
        body_id=1, variables=("a", "b")
    )


def test_a_text_without_places_is_sent_as_it_is() -> None:
    assert pattern_of(Line("1", LineKind.PATTERN, "hello"), "hello") == Pattern(body_id=1, variables=())


def test_places_that_leave_a_number_out_fit_nothing() -> None:
    assert pattern_of(Line("1", LineKind.PATTERN, "a {1}"), "a b") is None


@given(
    pieces=st.lists(st.sampled_from(["سلام ", "کد ", " است", "-", ""]), min_size=1, max_size=6),
    values=st.lists(st.text("ابپ123 -", max_size=5), min_size=6, max_size=6),
)
def test_what_the_person_reads_is_the_text(pieces: list[str], values: list[str]) -> None:
    places = len(pieces) - 1
    approved = "".join(f"{piece}{{{n}}}" for n, piece in enumerate(pieces[:-1])) + pieces[-1]
    text = approved
    for n in range(places):
        text = text.replace(f"{{{n}}}", values[n])
    line = Line("1", LineKind.PATTERN, approved)

    found = pattern_of(line, text)

    if found is not None:
        filled = normalize_text(approved)
        for n, value in enumerate(found.variables):
            filled = filled.replace(f"{{{n}}}", value)
        assert normalize_text(filled) == normalize_text(text)

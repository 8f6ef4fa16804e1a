from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sms.parts import GSM_BASIC, GSM_EXTENSION, count_parts, parts_of

EMOJI = "😀"


@pytest.mark.parametrize(
    ("text", "encoding", "parts"),
    [
        ("", "gsm7", 1),
        ("a" * 160, "gsm7", 1),
        ("a" * 161, "gsm7", 2),
        ("a" * 306, "gsm7", 2),
        ("a" * 307, "gsm7", 3),
        ("a" * 159 + "€", "gsm7", 2),
        ("a" * 158 + "€", "gsm7", 1),
        ("س" * 70, "ucs2", 1),
        ("س" * 71, "ucs2", 2),
        ("س" * 134, "ucs2", 2),
        ("س" * 135, "ucs2", 3),
        ("س" * 201, "ucs2", 3),
        ("س" * 202, "ucs2", 4),
        (EMOJI * 35, "ucs2", 1),
        (EMOJI * 36, "ucs2", 2),
        ("a" * 200, "gsm7", 2),
        ("س" * 200, "ucs2", 3),
    ],
)
def test_a_text_is_billed_in_parts_of_its_encoding(text: str, encoding: str, parts: int) -> None:
    count = count_parts(text)

    assert (count.encoding, count.parts) == (encoding, parts)


def test_one_persian_character_makes_the_whole_text_unicode_and_is_pointed_at() -> None:
    count = count_parts("Hello سلام")

    assert count.encoding == "ucs2"
    assert count.unicode_at == (6, 7, 8, 9)


def test_a_zero_width_non_joiner_is_what_makes_a_latin_text_expensive() -> None:
    assert count_parts("half\u200cspace").unicode_at == (4,)


def test_an_extension_character_is_never_split_over_two_parts() -> None:
    # 152 septets and a 2-septet character: the character moves to the second part as a whole,
    # so the third part begins one character earlier than plain division says.
    text = "a" * 152 + "€" + "a" * 152

    count = count_parts(text)

    assert count.units == 306
    assert count.parts == 3
    assert count.room_left == 152


def test_a_surrogate_pair_is_never_split_over_two_parts() -> None:
    count = count_parts("س" * 66 + EMOJI + "س" * 66)

    assert (count.units, count.parts) == (134, 3)


def test_a_line_break_is_one_character_of_the_cheap_alphabet() -> None:
    count = count_parts("a\nb")

    assert (count.encoding, count.units) == ("gsm7", 3)


@pytest.mark.parametrize(
    ("text", "room"),
    [("", 160), ("a" * 10, 150), ("a" * 160, 0), ("a" * 161, 145), ("س", 69), ("س" * 71, 63)],
)
def test_room_left_is_what_fits_before_another_part_is_billed(text: str, room: int) -> None:
    assert count_parts(text).room_left == room


def test_the_alphabet_is_the_whole_default_table() -> None:
    assert len(GSM_BASIC) == 127  # 128 places less the escape
    assert len(GSM_EXTENSION) == 10
    assert not GSM_BASIC & GSM_EXTENSION


@given(st.text(max_size=700))
def test_the_room_left_is_exact(text: str) -> None:
    count = count_parts(text)
    filler = "a" if count.encoding == "gsm7" else "س"

    assert count_parts(text + filler * count.room_left).parts == count.parts
    assert count_parts(text + filler * (count.room_left + 1)).parts == count.parts + 1


@given(st.text(max_size=700), st.characters())
def test_a_longer_text_is_never_cheaper(text: str, more: str) -> None:
    assert count_parts(text + more).parts >= count_parts(text).parts


@given(st.text(alphabet="".join(sorted(GSM_BASIC)) + "€[~س`😀" * 8, max_size=400))
def test_the_quick_count_says_the_same(text: str):
    assert parts_of(text) == count_parts(text).parts

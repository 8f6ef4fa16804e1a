"""One reading of phone numbers, whatever way they are typed."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.phones import MESSAGES, Phone, PhoneError, mobile_or_none, parse_phone

MOBILE = Phone("mobile", "09123456789")
LANDLINE = Phone("landline", "02188776655")
ALPHABETS = ("0123456789", "۰۱۲۳۴۵۶۷۸۹", "٠١٢٣٤٥٦٧٨٩", "０１２３４５６７８９", "०१२३४५६७८९")
MARKS = "\u200e\u200f\u200b\u200c\u200d\u202a\u202b\u202c\u2066\u2067\u2069\ufeff\u00ad"


@pytest.mark.parametrize(
    "raw",
    [
        "09123456789",
        "9123456789",
        "+989123456789",
        "00989123456789",
        "989123456789",
        "+9809123456789",
        "9809123456789",
        "+98 (0) 912 345 6789",
        "0912 345 67 89",
        "0912-345-6789",
        "(0912) 345-6789",
        "0912.345.6789",
        "0912/3456789",
        "۰۹۱۲۳۴۵۶۷۸۹",
        "٠٩١٢٣٤٥٦٧٨٩",
        "０９１２３４５６７８９",
        "०९१२३४५६७८९",
        "۰۹۱۲345٦٧٨٩",
        "＋989123456789",
        "0912\u00a0345\u00a06789",
        "0912\u2212345\u20136789",
        "'09123456789",
        "'+989123456789",
        "  09123456789\n",
        9123456789,
        989123456789,
    ],
)
def test_every_spelling_of_a_mobile_number_is_the_same_number(raw: object) -> None:
    assert parse_phone(raw) == MOBILE


@pytest.mark.parametrize(
    "raw",
    [
        "02188776655",
        "2188776655",
        "+982188776655",
        "00982188776655",
        "021-88776655",
        "۰۲۱ ۸۸۷۷۶۶۵۵",
        "(021) 8877 6655",
    ],
)
def test_every_spelling_of_a_landline_is_the_same_number(raw: str) -> None:
    assert parse_phone(raw) == LANDLINE


@pytest.mark.parametrize("mark", MARKS)
def test_invisible_marks_around_and_inside_are_ignored(mark: str) -> None:
    assert parse_phone(f"{mark}0912{mark}345{mark}6789{mark}") == MOBILE


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (None, "phone_empty"),
        ("", "phone_empty"),
        (" \u200f '", "phone_empty"),
        ("-", "phone_characters"),
        ("ندارد", "phone_characters"),
        ("0912CALLNOW", "phone_characters"),
        ("0912345678²", "phone_characters"),
        ("0912345678⑨", "phone_characters"),
        ("09123456789 ext 5", "phone_characters"),
        ("tel:09123456789;phone-context=+98", "phone_characters"),
        ("<b>09123456789</b>", "phone_characters"),
        ("0912\x003456789", "phone_characters"),
        ("0912\ufffd3456789", "phone_characters"),
        ("0912+3456789", "phone_characters"),
        ("09123456789,09351234567", "phone_characters"),
        ("test@example.com", "phone_characters"),
        ("9.123456789E+09", "phone_decimal"),
        ("9,12E+09", "phone_decimal"),
        ("9E9", "phone_decimal"),
        ("9123456789.0", "phone_decimal"),
        ("۹۱۲۳۴۵۶۷۸۹٫۰", "phone_decimal"),
        ("09123456789 09351234567", "phone_length"),
        ("09123456789/5", "phone_length"),
        ("0912000", "phone_length"),
        ("110", "phone_length"),
        ("88776655", "phone_length"),
        ("+98", "phone_length"),
        ("9" * 20, "phone_length"),
        ("9" * 40, "phone_length"),
        ("9" * 65, "phone_too_long"),
        ("+12025550123", "phone_foreign"),
        ("0044 20 7946 0000", "phone_foreign"),
        ("09092301234", "phone_premium"),
        ("01234567890", "phone_invalid"),
        ("08001234567", "phone_invalid"),
        (True, "phone_characters"),
    ],
)
def test_what_is_no_number_is_refused_with_its_reason(raw: object, code: str) -> None:
    with pytest.raises(PhoneError) as refusal:
        parse_phone(raw)
    assert refusal.value.code == code


def test_a_refusal_counts_the_digits_it_found() -> None:
    with pytest.raises(PhoneError) as refusal:
        parse_phone("9" * 40)
    assert refusal.value.fields == {"count": 40}


@pytest.mark.parametrize("code", sorted(MESSAGES))
def test_every_refusal_has_a_sentence(code: str) -> None:
    assert str(PhoneError(code, count=7)).endswith(".")


def test_only_mobile_numbers_can_receive_messages() -> None:
    assert (mobile_or_none("+98 912 345 6789"), mobile_or_none("02188776655"), mobile_or_none("?")) == (
        "09123456789",
        None,
        None,
    )


@given(
    subscriber=st.integers(min_value=100_000_000, max_value=899_999_999),
    prefix=st.sampled_from(["0", "", "+98", "0098", "98", "+98 0"]),
    alphabet=st.sampled_from(ALPHABETS),
    marks=st.lists(st.tuples(st.integers(0, 16), st.sampled_from(MARKS + " -()\u00a0")), max_size=5),
)
def test_spelling_never_changes_who_is_meant(
    subscriber: int, prefix: str, alphabet: str, marks: list[tuple[int, str]]
) -> None:
    spelled = list((prefix + "9" + str(subscriber)).translate(str.maketrans("0123456789", alphabet)))
    for place, mark in marks:
        spelled.insert(min(place, len(spelled)), mark)
    assert parse_phone("".join(spelled)) == Phone("mobile", f"09{subscriber}")


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(PhoneError):
        phone = parse_phone(text)
        assert len(phone.value) == 11
        assert parse_phone(phone.value) == phone


@given(st.text(alphabet="0123456789+ .E²⑨CALLx,;/", max_size=24))
def test_no_digit_of_the_input_is_dropped(text: str) -> None:
    """A canonical number holds every digit that was typed, after the prefix."""
    try:
        value = parse_phone(text).value
    except PhoneError:
        return
    typed = "".join(c for c in text if c.isascii() and c.isdigit())
    assert typed.endswith(value[1:])

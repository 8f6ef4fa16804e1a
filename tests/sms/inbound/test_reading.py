"""Whatever way a provider encodes what people write, it is read as they wrote it."""

from __future__ import annotations

import contextlib
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sms.inbound.reading import Incoming, Malformed, Names, read_fields, read_message

NAMES = Names(sender="from", line="to", text="body", reference="retid")
PERSIAN = "لغو ۱۱، می‌خواهم"
FORM = "application/x-www-form-urlencoded"


def read(query: str | bytes, body: bytes = b"", kind: str = "") -> Incoming:
    raw = query.encode() if isinstance(query, str) else query
    return read_message(read_fields(raw, body, kind), NAMES)


def text_of(encoded: str | bytes) -> str:
    raw = encoded.encode() if isinstance(encoded, str) else encoded
    return read(b"from=9123456789&body=" + raw).text


@pytest.mark.parametrize(
    "encoded",
    [
        quote(PERSIAN),
        quote_plus(PERSIAN),
        quote(PERSIAN).lower(),
        quote(quote(PERSIAN)),
        quote_plus(quote_plus(PERSIAN)),
        quote(quote(quote(PERSIAN))),
        PERSIAN.replace(" ", "+").encode(),
        quote(PERSIAN.encode().decode("latin-1")),
        "".join(char if char == " " else f"%25u{ord(char):04X}" for char in PERSIAN).replace(" ", "+"),
    ],
    ids=["utf-8", "plus", "lower case", "twice", "twice with plus", "three times", "raw", "latin", "%u"],
)
def test_persian_arrives_as_it_was_written(encoded: str | bytes) -> None:
    assert text_of(encoded) == PERSIAN


@pytest.mark.parametrize("text", ["لغو", "پيام چاپ گرم ژاله", "سلام"])
def test_windows_1256_is_read_too(text: str) -> None:
    assert text_of(quote(text.encode("cp1256"))) == text


def test_utf_8_taken_for_windows_latin_is_mended() -> None:
    assert text_of(quote("لغو".encode().decode("cp1252"))) == "لغو"


@pytest.mark.parametrize("text", ["50%25 off", "100%", "a%20b", "café", "1+1=2", "%", "%zz", "x%41", "😀 ok"])
def test_what_people_write_with_percent_signs_stays(text: str) -> None:
    assert text_of(quote(text)) == text


def test_a_smile_of_two_halves_is_one() -> None:
    assert text_of("%25uD83D%25uDE00") == "😀"


def test_a_nul_and_half_a_character_become_storable() -> None:
    assert text_of("a%00b") == "a\ufffdb"
    assert "\ud83d" not in text_of("%25uD83D")


@pytest.mark.parametrize(
    ("sender", "number"),
    [
        ("9123456789", "09123456789"),
        ("09123456789", "09123456789"),
        ("+989123456789", "09123456789"),
        ("%2B989123456789", "09123456789"),
        ("00989123456789", "09123456789"),
        ("۹۱۲۳۴۵۶۷۸۹", "09123456789"),
        ("2122334455", "02122334455"),
        ("50004001", ""),
        ("MCI", ""),
        ("$FROM$", ""),
        ("9123456789,9120000000", ""),
        ("", ""),
    ],
)
def test_the_number_is_known_by_its_last_ten_digits(sender: str, number: str) -> None:
    assert read(f"from={sender}&body=hi").number == number


def test_the_line_and_the_providers_id_are_kept() -> None:
    message = read("from=9123456789&to=%2B98 5000-4001&body=hi&retid=4786346122764072700")

    assert (message.line, message.reference) == ("9850004001", "4786346122764072700")


@pytest.mark.parametrize("reference", ["", "0", "123", "$ID$", "a b c d", "x" * 65])
def test_what_is_no_id_is_none(reference: str) -> None:
    assert read(f"from=9123456789&body=hi&retid={quote(reference)}").reference == ""


def test_names_are_found_in_any_letter_case() -> None:
    assert read("FROM=9123456789&Body=hi").text == "hi"


def test_of_a_name_that_comes_twice_the_first_counts() -> None:
    assert read("from=9123456789&body=one&body=two", b"body=three", FORM).text == "one"


def test_a_form_may_be_posted() -> None:
    assert read("", f"from=9123456789&body={quote(PERSIAN)}".encode(), FORM).text == PERSIAN


def test_a_json_object_may_be_posted_with_numbers_as_numbers() -> None:
    document = {"from": 9123456789, "body": PERSIAN, "retid": 4786346122764072700, "flags": [1], "ok": True}
    message = read("", json.dumps(document).encode(), "application/json; charset=utf-8")

    assert (message.number, message.text, message.reference) == (
        "09123456789",
        PERSIAN,
        "4786346122764072700",
    )


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"[1]", "application/json"),
        (b"{", "application/json"),
        (b"\xff\xfe", "application/json"),
        (b"[" * 100_000, "application/json"),
        (b"--x\r\n", "multipart/form-data; boundary=x"),
        (b"<x/>", "text/xml"),
        (b"a=1&" * 41, FORM),
    ],
)
def test_what_is_no_list_of_fields_is_refused(body: bytes, kind: str) -> None:
    with pytest.raises(Malformed):
        read_fields(b"", body, kind)


def test_forty_fields_in_the_address_and_forty_posted_are_too_many() -> None:
    query = "&".join(f"a{i}=1" for i in range(30)).encode()
    body = "&".join(f"b{i}=1" for i in range(30)).encode()
    with pytest.raises(Malformed):
        read_fields(query, body, FORM)


def test_fields_under_other_names_are_kept_to_be_shown() -> None:
    message = read("sender=9123456789&msg=hi")

    assert (message.number, message.unread) == ("", {"sender": "9123456789", "msg": "hi"})


def test_an_empty_text_is_a_message() -> None:
    assert read("from=9123456789&body=").unread == {}


def test_a_text_without_end_is_cut() -> None:
    assert len(text_of("x" * 60_000)) == 20_000


@given(st.binary(max_size=300))
def test_no_query_breaks_the_reading(query: bytes) -> None:
    with contextlib.suppress(Malformed):
        read(b"from=9123456789&body=" + query)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00"), max_size=60))
def test_every_text_outside_latin_comes_through(text: str) -> None:
    text = "لغو" + text

    assert text_of(quote(text)) == text

"""The Persian text normaliser."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import text as core_text
from core.text import normalize_text, search_key, strip_format_chars, to_latin_digits, to_persian_digits

ZWNJ = "\u200c"
persian = st.text(
    alphabet="ابپتیيىكکهةۀأآإؤئء ـًٌٰٓٔ\u200c\u200d\u200e\u200f\u202b\ufeff-_\t\n\r Aaİß۱٢3３", max_size=30
)


@pytest.mark.parametrize("digits", ["۰۱۲۳۴۵۶۷۸۹", "٠١٢٣٤٥٦٧٨٩", "０１２３４５６７８９", "0123456789"])
def test_digits_of_every_keyboard_become_latin(digits: str) -> None:
    assert to_latin_digits(digits) == "0123456789"


def test_latin_digits_become_persian() -> None:
    assert to_persian_digits("تلفن 0912") == "تلفن ۰۹۱۲"


@given(st.text())
def test_digit_swaps_keep_the_length(text: str) -> None:
    assert len(to_latin_digits(text)) == len(to_persian_digits(text)) == len(text)


@given(st.text())
def test_no_mark_or_control_character_survives_stripping(text: str) -> None:
    stripped = strip_format_chars(text)
    assert not set(stripped) & set("\x00\u200b\u200e\u200f\u202a\u202e\u2066\u2069\ufeff\u00ad")


def test_stripping_keeps_the_half_space_and_line_breaks() -> None:
    assert strip_format_chars(f"می{ZWNJ}روم\n\tخانه") == f"می{ZWNJ}روم\n\tخانه"


@pytest.mark.parametrize(
    ("raw", "stored"),
    [
        ("علي كاظمي", "علی کاظمی"),
        ("  سارا   محمدی\u200f ", "سارا محمدی"),
        (f"ابراهیمی{ZWNJ}نژاد", f"ابراهیمی{ZWNJ}نژاد"),
        (f"می{ZWNJ}{ZWNJ}روم", f"می{ZWNJ}روم"),
        (f"سارا {ZWNJ} محمدی{ZWNJ}", "سارا محمدی"),
        ("فاطمة", "فاطمة"),
        ("یک\r\nدو\rسه", "یک\nدو\nسه"),
        ("سـارا", "سارا"),
        ("a\x00b\ufeffc", "abc"),
        ("۱۲۳", "۱۲۳"),
        ("\n\u200c\n", ""),
    ],
)
def test_stored_text_has_one_form(raw: str, stored: str) -> None:
    assert normalize_text(raw) == stored


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("علي", "علی"),
        ("كريمي", "کریمی"),
        (f"ابراهیمی{ZWNJ}نژاد", "ابراهیمی نژاد"),
        ("ابراهیمی-نژاد", "ابراهیمی نژاد"),
        ("آرش", "ارش"),
        ("فاطمة", "فاطمه"),
        ("مُحَمَّد", "محمد"),
        ("خانۀ", "خانه"),
        ("خانهٔ", "خانه"),
        ("رئیس", "رییس"),
        ("مؤمن", "مومن"),
        ("۰۹۱۲", "0912"),
        ("SARA@Example.com", "sara@example.com"),
        ("ﻋﻠﯽ", "علی"),
        ("  سارا\u200f   محمدی ", "سارا محمدی"),
    ],
)
def test_two_spellings_of_a_word_share_a_key(one: str, other: str) -> None:
    assert search_key(one) == search_key(other)


def test_different_words_keep_different_keys() -> None:
    assert search_key("کریم") != search_key("کرم")


@given(persian | st.text(max_size=30))
def test_normalizing_twice_changes_nothing_more(text: str) -> None:
    once = normalize_text(text)
    assert normalize_text(once) == once


@given(persian | st.text(max_size=30))
def test_a_key_is_its_own_key(text: str) -> None:
    once = search_key(text)
    assert search_key(once) == once


@given(persian)
def test_the_stored_form_is_found_by_what_was_typed(text: str) -> None:
    assert search_key(normalize_text(text)) == search_key(text)


@given(st.text(alphabet="سلامیکيكهۀآ ‌\n\t\u200c\u200d\u202b\u00a0\u0654aB1۱٠،؟«».-!", max_size=12))
def test_the_shortcut_for_clean_text_never_changes_the_answer(text):
    shortcut = core_text._CLEAN.fullmatch(text)
    if shortcut:
        with_marks = core_text.normalize_text(text + "\u202b")  # the mark takes the long way and is dropped
        assert with_marks == text

from __future__ import annotations

import time

import pytest

from sms.wording import Wording, clean_words


def found(text: str, *words: str, links: bool = False, is_template: bool = False) -> list[str]:
    wording = Wording(words, links)
    return [text[one.start : one.end] for one in wording.find(text, is_template=is_template)]


def test_a_word_is_found_where_it_stands() -> None:
    [one] = Wording(("قمار",)).find("سلام قمار")

    assert (one.kind, one.text, one.start, one.end) == ("word", "قمار", 5, 9)


@pytest.mark.parametrize("text", ["كازينو", "کا‌زینو", "کــازینو", "کازینو"])
def test_letter_forms_and_hidden_joiners_do_not_hide_a_word(text: str) -> None:
    assert found(f"به {text} بیا", "کازینو") == [text]


def test_digits_of_any_script_are_the_same() -> None:
    assert found("کد ١٠٠ و ۱۰۰ و 100", "100") == ["١٠٠", "۱۰۰", "100"]


def test_a_word_inside_another_word_is_not_meant() -> None:
    assert found("classic glass", "ass") == []


def test_words_of_several_parts_may_be_spaced_anyhow() -> None:
    assert found("شرط\n بندی", "شرط بندی") == ["شرط\n بندی"]


def test_case_does_not_matter() -> None:
    assert found("CaSiNo night", "casino") == ["CaSiNo"]


@pytest.mark.parametrize(
    "link",
    ["https://a.ir/x?y=1", "http://1.2.3.4/", "www.site.com", "peyk.ir", "shop.example.com/a", "t.me/x"],
)
def test_links_are_found(link: str) -> None:
    assert found(f"ببین {link} را", links=True) == [link]


@pytest.mark.parametrize("text", ["سلام. خوبی؟", "12.5 درصد", "نسخه 1.2.3", "mail@example.com", "پایان.ir2"])
def test_what_only_looks_like_a_link_is_none(text: str) -> None:
    assert found(text, links=True) == []


def test_variables_of_a_template_are_left_out() -> None:
    assert found("{target.name} name", "name", is_template=True) == ["name"]
    assert Wording(("name",)).find("{target.name} name", is_template=True)[0].start == 14


def test_nothing_is_forbidden_without_rules() -> None:
    assert found("https://a.ir قمار") == []


def test_typed_words_are_trimmed_and_told_apart_as_they_are_compared() -> None:
    assert clean_words(["  شرط   بندی ", "", "كازينو", "کازینو", "X", "x"]) == ["شرط بندی", "كازينو", "X"]


def test_a_hundred_thousand_characters_are_searched_at_once() -> None:
    wording = Wording(tuple(f"کلمه{n}" for n in range(100)), refuse_links=True)
    began = time.process_time()  # of this process: others may be busy too
    wording.find("a." * 25_000 + "www." * 12_500)

    assert time.process_time() - began < 5

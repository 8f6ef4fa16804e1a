"""Which messages mean no: the whole of them, in any spelling, and nothing else."""

from __future__ import annotations

import pytest

from sms.inbound.words import Meaning, Words, word_key

WORDS = Words.of(opt_out=["نمی‌خوام", "انصراف"], opt_in=["بازگشت"])


@pytest.mark.parametrize(
    "text",
    [
        "لغو",
        "لغو۱۱",
        "لغو11",
        "لغو ١١",
        "لغو 11",
        " لغو\n",
        "«لغو»",
        "لغو!!!",
        "لغو.",
        "لـغـو",
        "لَغو",
        "ل\u200cغو",
        "\u202bلغو\u202c",
        "\ufeffلغو\u200f",
        "لغو 🙏",
        "11",
        "۱۱",
        "off",
        "OFF",
        "Off.",
        "ＯＦＦ",
        "stop",
        "S T O P",
        "نمی‌خوام",
        "نمي خوام",
        "نميخوام",
        "انصراف،",
    ],
)
def test_no_in_any_spelling(text: str) -> None:
    assert WORDS.meaning(text) is Meaning.OPT_OUT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "!؟",
        "سلام",
        "لغو نشود",
        "لطفا لغو کنید",
        "stop it",
        "off-white",
        "111",
        "1",
        "لغو12",
        "لغو" + " " * 3000 + "نه",
        "لغو" * 500,
        "\x00",
        "😀",
    ],
)
def test_another_message_means_neither(text: str) -> None:
    assert WORDS.meaning(text) is None


@pytest.mark.parametrize("text", ["عضويت", "12", "۱۲", "START", "بازگشت", "باز گشت"])
def test_yes_in_any_spelling(text: str) -> None:
    assert WORDS.meaning(text) is Meaning.OPT_IN


def test_a_word_of_both_kinds_means_no() -> None:
    assert Words.of(opt_out=["start"]).meaning("start") is Meaning.OPT_OUT


def test_a_word_without_letters_matches_nothing() -> None:
    words = Words.of(opt_out=["!!", " "])

    assert (word_key("!!"), words.meaning("؟؟")) == ("", None)

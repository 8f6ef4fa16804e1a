"""Which messages mean no, and which mean yes again. Pure.

A message counts when the whole of it is one of the words, however it is spelled: Arabic or Persian letters
and digits, half-spaces, marks, punctuation, emoji, letter case and spaces make no difference. A sentence
that merely holds the word does not count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from core.text import search_key

# 11 and 12 are the regulator's own codes for leaving and joining again.
OPT_OUT = ("لغو", "لغو۱۱", "۱۱", "off", "stop")
OPT_IN = ("عضویت", "۱۲", "start")
LONGEST = 60  # letters and digits of a word
NO_WORD = 2000  # characters; nobody says no in more


class Meaning(StrEnum):
    OPT_OUT = "opt_out"
    OPT_IN = "opt_in"


def word_key(text: str) -> str:
    """What all spellings of a word share: its letters and digits; "" when there are none."""
    if len(text) > NO_WORD:
        return ""
    return "".join(char for char in search_key(text) if char.isalnum())


@dataclass(frozen=True, slots=True)
class Words:
    """The keys that mean no, and those that mean yes. A word that is in both means no."""

    no: frozenset[str]
    yes: frozenset[str]

    @classmethod
    def of(cls, opt_out: Iterable[str] = (), opt_in: Iterable[str] = ()) -> Self:
        """The built-in words and these."""
        no = frozenset(map(word_key, (*OPT_OUT, *opt_out))) - {""}
        yes = frozenset(map(word_key, (*OPT_IN, *opt_in))) - {""}
        return cls(no=no, yes=yes - no)

    def meaning(self, text: str) -> Meaning | None:
        """What the whole of `text` means."""
        key = word_key(text)
        if key in self.no:
            return Meaning.OPT_OUT
        return Meaning.OPT_IN if key in self.yes else None

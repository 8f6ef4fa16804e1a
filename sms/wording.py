"""Words and links that a workspace does not want in its messages: found with their places in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from django.utils.translation import gettext as _

from core.text import normalize_text, to_latin_digits

if TYPE_CHECKING:
    from sms.models import SmsSettings

MAX_WORDS: Final = 500
MAX_WORD: Final = 60
LINK: Final = "link"
WORD: Final = "word"
# Addresses as phones make them touchable: with a scheme, with www, or a bare domain of a known kind.
_LINK = re.compile(
    r"(?:https?://|www\.)[^\s]{1,300}"
    r"|(?<![\w@.])(?:[a-z0-9-]{1,63}\.){1,5}(?:ir|com|net|org|info|me|ly|link|io|co|app|site|shop|online)"
    r"(?![\w-])(?:/[^\s]{0,300})?",
    re.IGNORECASE | re.ASCII,
)
_SLOT = re.compile(r"\{[^{}]{0,200}\}")  # a variable: its name is no text that anybody receives
_SKIPPED: Final = frozenset("\u200c\u200d\u0640")  # half-space, joiner, kashida: used to hide a word


@dataclass(frozen=True, slots=True)
class Found:
    """What is not allowed and where: positions as Python indexes the text, the end not included."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Wording:
    """The rules of one workspace. An empty one forbids nothing."""

    words: tuple[str, ...] = ()
    refuse_links: bool = False
    _patterns: tuple[tuple[str, re.Pattern[str]], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        patterns = tuple((word, _pattern(word)) for word in self.words if folded(word)[0].strip())
        object.__setattr__(self, "_patterns", patterns)

    @classmethod
    def of(cls, row: SmsSettings | None) -> Wording:
        """From stored settings."""
        if row is None:
            return cls()
        words = row.forbidden_words if isinstance(row.forbidden_words, list) else []
        return _made(tuple(str(word) for word in words), row.refuse_links)

    def __bool__(self) -> bool:
        return bool(self._patterns) or self.refuse_links

    def find(self, text: str, *, is_template: bool = False) -> list[Found]:
        """Everything that is not allowed in `text`, in order. In a template, variables are left out."""
        if not self:
            return []
        shown = _SLOT.sub(lambda slot: " " * len(slot.group()), text) if is_template else text
        plain, places = folded(shown)
        found = [
            Found(WORD, word, places[hit.start()], places[hit.end() - 1] + 1)
            for word, pattern in self._patterns
            for hit in pattern.finditer(plain)
        ]
        if self.refuse_links:
            found += [Found(LINK, hit.group(), hit.start(), hit.end()) for hit in _LINK.finditer(shown)]
        return sorted(found, key=lambda one: (one.start, one.end))


@lru_cache(maxsize=256)
def _made(words: tuple[str, ...], refuse_links: bool) -> Wording:
    """Made once: every chunk of messages asks for its workspace's rules."""
    return Wording(words, refuse_links)


def folded(text: str) -> tuple[str, list[int]]:
    """`text` without the differences that people do not see, and for each letter left its place in `text`."""
    letters: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        if char in _SKIPPED:
            continue
        for letter in to_latin_digits(normalize_text(char)).casefold() or (" " if char.isspace() else ""):
            letters.append(letter)
            places.append(place)
    return "".join(letters), places


def _pattern(word: str) -> re.Pattern[str]:
    """The word as a whole; any space between its parts."""
    parts = [re.escape(part) for part in folded(word)[0].split()]
    return re.compile(r"(?<!\w)" + r"\s+".join(parts) + r"(?!\w)")


def clean_words(lines: Iterable[str]) -> list[str]:
    """Words as typed, one a line: trimmed, without repetitions (as they are compared)."""
    kept: dict[str, str] = {}
    for line in lines:
        word = " ".join(line.split())
        if word:
            kept.setdefault(folded(word)[0], word)
    return list(kept.values())


def describe(found: Found) -> str:
    """The refusal in words, with the place as people count it."""
    values = {"text": found.text, "place": found.start + 1}
    if found.kind == LINK:
        return str(_("The link «%(text)s» at character %(place)s is not allowed.") % values)
    return str(_("The word «%(text)s» at character %(place)s is not allowed.") % values)

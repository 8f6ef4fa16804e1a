"""A text as it will be billed: its parts, and the very characters that made it the expensive kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sms.parts import PartCount, count_parts

MOST_PIECES: Final = 400  # marks in one preview; past that a text is simply not Latin


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters of one kind. `costly`: without such runs the text would be billed as Latin."""

    text: str
    costly: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """`marked`: the pieces with costly runs apart, when a few characters only made the text Unicode."""

    text: str
    count: PartCount
    pieces: tuple[Piece, ...]
    latin_parts: int

    @property
    def marked(self) -> bool:
        """Whether marking says something: a Latin text that a few foreign characters made dearer."""
        costly = len(self.count.unicode_at)
        return 0 < costly <= len(self.text) // 2 and self.latin_parts < self.count.parts


def preview(text: str) -> Preview:
    """Never raises."""
    count = count_parts(text)
    costly = set(count.unicode_at)
    latin = "".join(char if at not in costly else "?" for at, char in enumerate(text))
    return Preview(text=text, count=count, pieces=_pieces(text, costly), latin_parts=count_parts(latin).parts)


def _pieces(text: str, costly: set[int]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    start = 0
    for at in range(1, len(text) + 1):
        ends = at == len(text) or (at in costly) != (start in costly)
        if ends:
            pieces.append(Piece(text[start:at], start in costly))
            start = at
        if len(pieces) >= MOST_PIECES:
            return (*pieces, Piece(text[start:], False)) if start < len(text) else tuple(pieces)
    return tuple(pieces)

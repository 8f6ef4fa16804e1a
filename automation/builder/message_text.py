"""A message's text as pages show it: variables as labelled chips, and the direction its own words have.

`dir="auto"` would look at the first letter, which is often that of a variable's Latin name.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import get_language_bidi

from automation import registry
from engine.text import parse_text

Direction = Literal["rtl", "ltr", "auto"]


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Words (`label` empty) or a variable: what it is called, its fallback, and as it is written."""

    text: str
    label: str = ""
    fallback: str = ""
    is_known: bool = True


def text_pieces(body: str) -> tuple[TextPiece, ...]:
    """`body` split at its variables."""
    labels = {variable.name: str(variable.label) for variable in registry.variables()}
    found: list[TextPiece] = []
    for part in parse_text(body).parts:
        if isinstance(part, str):
            found.append(TextPiece(part))
            continue
        written = body[part.start : part.end]
        label = labels.get(part.name, part.name)
        found.append(TextPiece(written, label, part.fallback or "", part.name in labels))
    return tuple(found)


def direction(body: str) -> Direction:
    """Which way the words of a text run, variables aside; an empty text runs as the page does."""
    words = "".join(part for part in parse_text(body).parts if isinstance(part, str))
    for char in words:
        kind = unicodedata.bidirectional(char)
        if kind in ("R", "AL"):
            return "rtl"
        if kind == "L":
            return "ltr"
    return "rtl" if get_language_bidi() else "auto"

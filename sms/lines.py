"""Sender lines by what they may carry, and which one a message leaves by.

    promotional   anything; whoever blocked advertising at the operator is not reached
    service       service messages only: a promotional text on it costs the line
    pattern       one text that the provider has approved; the line's number is that of the text there

A line that nobody has said anything of is promotional.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from django.db import models
from django.utils.translation import gettext_lazy as _

from core.text import normalize_text
from sms.types import Pattern

PROMOTIONAL_ON_SERVICE: Final = "promotional_on_service_line"
NOT_APPROVED: Final = "text_not_approved"
MAX_PLACES: Final = 20

_PLACE = re.compile(r"\{([0-9]{1,2})\}")


class LineKind(models.TextChoices):
    PROMOTIONAL = "promotional", _("Promotional")
    SERVICE = "service", _("Service")
    PATTERN = "pattern", _("Approved text")


class MessageKind(models.TextChoices):
    """What a text is for. A service message may leave by any line, a promotional one not by all."""

    PROMOTIONAL = "promotional", _("Promotional")
    SERVICE = "service", _("Service")


@dataclass(frozen=True, slots=True)
class Line:
    """One sender line of an account. `text` is the approved one of a pattern."""

    number: str
    kind: LineKind = LineKind.PROMOTIONAL
    text: str = ""


def lines_of(numbers: Sequence[str], details: Mapping[str, Any]) -> tuple[Line, ...]:
    """The lines of an account as stored, in their order."""
    if not details:
        return _plain(tuple(map(str, numbers)))
    return tuple(_line(str(number), details.get(str(number)) or {}) for number in numbers)


@lru_cache(maxsize=256)
def _plain(numbers: tuple[str, ...]) -> tuple[Line, ...]:
    """Lines that nobody has said anything of; asked for with every message."""
    return tuple(map(Line, numbers))


def _line(number: str, detail: Mapping[str, Any]) -> Line:
    kind = detail.get("kind")
    known = LineKind(kind) if kind in LineKind.values else LineKind.PROMOTIONAL
    return Line(number, known, str(detail.get("text", "")) if known is LineKind.PATTERN else "")


def may_carry(line: Line, message_kind: str) -> bool:
    return line.kind is LineKind.PROMOTIONAL or message_kind == MessageKind.SERVICE


def choose(lines: Sequence[Line], wanted: str, message_kind: str) -> tuple[Line | None, str]:
    """The line a message leaves by, and why it can not leave ("" when it can).

    A wanted line is used or refused, never exchanged. Without a wish it is the first line that the kind
    of message prefers: service lines for service messages, promotional ones for all. A pattern is used
    only where it is asked for.
    """
    if wanted:
        line = next((one for one in lines if one.number == wanted), Line(wanted))
        return (line, "") if may_carry(line, message_kind) else (None, PROMOTIONAL_ON_SERVICE)
    ranks = [LineKind.PROMOTIONAL]
    if message_kind == MessageKind.SERVICE:
        ranks.insert(0, LineKind.SERVICE)
    for kind in ranks:
        if (found := next((one for one in lines if one.kind is kind), None)) is not None:
            return found, ""
    return None, PROMOTIONAL_ON_SERVICE if lines else ""


def places_of(approved: str) -> list[int]:
    """The numbers of the places of an approved text, in the order they stand there."""
    return [int(found) for found in _PLACE.findall(approved)]


def pattern_of(line: Line, text: str) -> Pattern | None:
    """What has to be put into the approved text of `line` so that `text` comes of it; None if nothing does.

    However the values are cut, what the person reads is `text`, letter by letter.
    """
    if not line.number.isascii() or not line.number.isdigit():
        return None
    values: dict[int, str] = {}
    pieces = _PLACE.split(normalize_text(line.text))
    literals, places = pieces[0::2], [int(place) for place in pieces[1::2]]
    found = _values(literals, normalize_text(text))
    if found is None:
        return None
    for place, value in zip(places, found, strict=True):
        if values.setdefault(place, value) != value:
            return None
    if sorted(values) != list(range(len(values))):
        return None
    return Pattern(body_id=int(line.number), variables=tuple(values[place] for place in sorted(values)))


def _values(literals: Sequence[str], text: str) -> list[str] | None:
    """What stands in `text` between the literals, each found as early as it can be; in linear time."""
    first, *middle = literals
    if not text.startswith(first):
        return None
    if not middle:
        return [] if text == first else None
    *middle, last = middle
    at, end, values = len(first), len(text) - len(last), []
    if end < at or not text.endswith(last):
        return None
    for literal in middle:
        hit = text.find(literal, at, end)
        if hit < 0:
            return None
        values.append(text[at:hit])
        at = hit + len(literal)
    return [*values, text[at:end]]

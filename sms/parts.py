"""How many parts a text is billed as. One counter for the editor, the message row and the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Encoding = Literal["gsm7", "ucs2"]

# 3GPP TS 23.038: the default alphabet (one septet a character) and its extension table (two).
GSM_BASIC = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
GSM_EXTENSION = frozenset("\f^{}\\[~]|€")
GSM = GSM_BASIC | GSM_EXTENSION

# Room of a lone message, and of each part of a longer one (the rest is its concatenation header).
ROOM: dict[Encoding, tuple[int, int]] = {"gsm7": (160, 153), "ucs2": (70, 67)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCount:
    """What a text costs and why.

    `units`: septets for `gsm7`, UTF-16 code units for `ucs2`. `parts`: at least 1, also for the
    empty text. `room_left`: units that still fit before another part is billed. `unicode_at`:
    the positions (as Python indexes the text) of the characters that `gsm7` does not have; empty
    means `gsm7`. Remove them all and the text becomes the cheaper kind.
    """

    encoding: Encoding
    units: int
    parts: int
    room_left: int
    unicode_at: tuple[int, ...]


def count_parts(text: str) -> PartCount:
    """Count the parts `text` is billed as. Never raises; linear in the length of the text.

    A character outside the basic plane takes two units, a character of the extension table two
    septets, and neither is ever split over two parts: the part before it stays one unit short.
    """
    unicode_at = tuple(i for i, char in enumerate(text) if char not in GSM)
    encoding: Encoding = "ucs2" if unicode_at else "gsm7"
    costs = [_cost(char, encoding) for char in text]
    units = sum(costs)
    alone, each = ROOM[encoding]
    if units <= alone:
        return PartCount(
            encoding=encoding, units=units, parts=1, room_left=alone - units, unicode_at=unicode_at
        )
    parts, used = _fill(costs, each)
    return PartCount(
        encoding=encoding, units=units, parts=parts, room_left=each - used, unicode_at=unicode_at
    )


def parts_of(text: str) -> int:
    """`count_parts(text).parts`, without its reasons: for texts by the thousand."""
    alone, each = ROOM["gsm7" if GSM_BASIC.issuperset(text) else "ucs2"]
    if GSM.issuperset(text) != GSM_BASIC.issuperset(text) or (not text.isascii() and max(text) > "\uffff"):
        return count_parts(text).parts  # some characters take two units: where they fall decides
    return 1 if len(text) <= alone else -(-len(text) // each)


def _cost(char: str, encoding: Encoding) -> int:
    if encoding == "ucs2":
        return 2 if ord(char) > 0xFFFF else 1
    return 2 if char in GSM_EXTENSION else 1


def _fill(costs: list[int], room: int) -> tuple[int, int]:
    """How many parts of `room` units the characters fill, and the units used in the last one."""
    parts, used = 1, 0
    for cost in costs:
        if used + cost > room:
            parts, used = parts + 1, 0
        used += cost
    return parts, used

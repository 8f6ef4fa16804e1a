"""Moments that people count from now: `3 days ago` as they type it, `now-3d` as it is stored."""

from __future__ import annotations

import re
from typing import Final

from core.text import to_latin_digits
from engine.comparing import RELATIVE

_STORED: Final = re.compile(RELATIVE)
_TYPED: Final = re.compile(
    r"([0-9]{1,4})\s*(minutes?|hours?|days?|weeks?|دقیقه|ساعت|روز|هفته)\s*(ago|from now|پیش|قبل|دیگر|بعد)"
)
_UNITS: Final = {
    "min": "m",
    "hou": "h",
    "day": "d",
    "wee": "w",
    "دقی": "m",
    "ساع": "h",
    "روز": "d",
    "هفت": "w",
}
_PAST: Final = ("ago", "پیش", "قبل")
_NOW: Final = ("now", "اکنون", "الان", "حالا")


def is_relative(text: str) -> bool:
    """Whether it is the stored form."""
    return _STORED.fullmatch(text) is not None


def read_relative(text: str) -> str:
    """The stored form of what a person typed, in Persian or English; "" when it is nothing of the kind."""
    plain = to_latin_digits(text).strip().lower()
    if plain in _NOW:
        return "now"
    found = _TYPED.fullmatch(plain)
    if found is None:
        return plain if is_relative(plain) else ""
    amount, unit = int(found.group(1)), _UNITS[found.group(2)[:3]]
    if unit == "w":
        amount, unit = 7 * amount, "d"
    return f"now{'-' if found.group(3) in _PAST else '+'}{amount}{unit}"

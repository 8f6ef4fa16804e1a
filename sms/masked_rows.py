"""Fields and headers of a described provider as people see them again: words that may be keys are dots.

What is written into them is stored sealed. The form shows placeholders and short words, and gives dots for
everything that could be a key; a row that comes back with its dots keeps what is stored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from sms.providers.generic_reading import LONG, PLACEHOLDER, WORD

DOTS: Final = "••••••••"
_SECRET_NAME = re.compile(r"key|token|pass|secret|sign|auth|pwd|credential", re.IGNORECASE)
_SCHEMES: Final = frozenset({"bearer", "basic", "token", "apikey", "accesskey"})


class DotsChanged(ValueError):
    """The dots of a row were edited: nobody can tell what they stand for now. `args[0]` is its name."""


def masked(rows: Mapping[str, str]) -> dict[str, str]:
    """The rows with dots for every word that may be a key."""
    return {name: _masked(name, value) for name, value in rows.items()}


def unmasked(typed: Mapping[str, str], stored: Mapping[str, str]) -> dict[str, str]:
    """What was typed, with the stored value where a row came back as it was shown. Raises DotsChanged."""
    shown = masked(stored)
    found = {
        name: stored[name] if name in stored and shown[name] == value else value
        for name, value in typed.items()
    }
    for name, value in typed.items():
        if DOTS[:3] in value and found[name] == value:
            raise DotsChanged(name)
    return found


def _masked(name: str, value: str) -> str:
    return WORD.sub(lambda word: _shown(name, word[0]), value)


def _shown(name: str, word: str) -> str:
    if PLACEHOLDER.fullmatch(word) or word.lower() in _SCHEMES:
        return word
    return DOTS if len(word) >= LONG or _SECRET_NAME.search(name) else word

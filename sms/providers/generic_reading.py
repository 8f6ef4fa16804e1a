"""The words of a description, and the JSON answers it explains: every number stays the text it was."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

PLACEHOLDER: Final = re.compile(r"\{([a-z_0-9]{1,20})\}")
WORD: Final = re.compile(r"\{[a-z_0-9]{1,20}\}|[^\s{}]+|[{}]")
LONG: Final = 8  # shorter words of a description are switches and names of formats, not keys


class InexactNumber(str):
    """A number with a fraction or an exponent: too inexact to be an id."""

    __slots__ = ()


class TruthValue(str):
    """`true` or `false`: may be a rule of success, and is no id."""

    __slots__ = ()


def document_of(body: bytes) -> object:
    """The JSON document of an answer, every number in it as text; None if it is none."""
    try:
        return json.loads(body.decode("utf-8-sig"), parse_int=str, parse_float=InexactNumber)
    except (ValueError, RecursionError):
        return None


def at(document: object, path: str) -> str | None:
    """The text, number or truth value at `path`, as text; None when there is none."""
    found = document
    for step in path.split("."):
        if isinstance(found, dict):
            found = found.get(step)
        elif isinstance(found, list) and step.isascii() and step.isdigit() and int(step) < len(found):
            found = found[int(step)]
        else:
            return None
    if isinstance(found, bool):
        return TruthValue("true" if found else "false")
    return found if isinstance(found, str) else None


def possible_keys(values: Iterable[str]) -> set[str]:
    """The words of these values that may be keys."""
    return {
        word for value in values for word in WORD.findall(value)
        if len(word) >= LONG and not PLACEHOLDER.fullmatch(word)
    }  # fmt: skip

"""Keys that stand written out in an address: found, so that they can be refused, and hidden wherever shown.

A key is user-info (`user:word@host`), the value of a parameter that is named like a secret, or a word of the
path or query that only a machine would write: long, letters and digits mixed, or digits alone. What stands in
braces is a place for a value and no key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

HIDDEN_PART: Final = "…"
ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>]+")
_SECRET_NAME: Final = re.compile(  # how names end that hold secrets; `keyword` and `signature` do not
    r"(?:(?:key|token|secret|password|passwd|passphrase|passcode|pass|pwd|auth|credentials?)[0-9]*|^pin|^pw)$",
    re.IGNORECASE,
)
_SEPARATORS: Final = re.compile(r"[^A-Za-z0-9]")
_USER_INFO: Final = re.compile(r"://([^/?#\s]*)@")
_PARAMETER: Final = re.compile(r"(?<=[?&;#])([^=&;#?]*)=([^&;#]*)")
_PLACE: Final = re.compile(r"\{[^{}]*\}")
_RUN: Final = re.compile(r"[0-9A-Fa-f]{4,}(?:-[0-9A-Fa-f]{4,}){2,}|[A-Za-z0-9]{12,}")
_HEX: Final = re.compile(r"[0-9A-Fa-f-]+")
_DIGITS: Final = re.compile(r"[0-9]+")
_AFTER_HOST: Final = re.compile(r"://[^/?#]*")


def keys_in(address: str) -> list[str]:
    """The parts of `address` that are keys, as they are written there."""
    return [address[start:end] for start, end in _spans(address)]


def without_keys(address: str, mark: str = HIDDEN_PART) -> str:
    """`address` with `mark` in the place of each key."""
    for start, end in reversed(_spans(address)):
        address = f"{address[:start]}{mark}{address[end:]}"
    return address


def without_keys_in(text: str, mark: str = HIDDEN_PART) -> str:
    """`text` with the keys hidden in every address that stands in it."""
    return ADDRESS.sub(lambda found: without_keys(found[0], mark), text) if "://" in text else text


def _spans(address: str) -> list[tuple[int, int]]:
    """Where the keys are, in order and apart from each other."""
    found: list[tuple[int, int]] = []
    for start, end in (*_user_info(address), *_named(address), *_long_words(address)):
        if not any(start < other_end and other_start < end for other_start, other_end in found):
            found.append((start, end))
    return sorted(found)


def has_user_info(address: str) -> bool:
    """Whether a user name or a password stands before the host."""
    return next(_user_info(address), None) is not None


def _user_info(address: str) -> Iterator[tuple[int, int]]:
    if (match := _USER_INFO.search(address)) is not None and match[1]:
        yield match.span(1)


def _named(address: str) -> Iterator[tuple[int, int]]:
    for match in _PARAMETER.finditer(address):
        if names_a_secret(unquote(match[1])) and _PLACE.sub("", match[2]).strip():
            yield match.span(2)


def names_a_secret(name: str) -> bool:
    """Whether a parameter called so holds a secret: `apikey`, `X-Auth-Token`, `pass2`."""
    return _SECRET_NAME.search(_SEPARATORS.sub("", name)) is not None


def _long_words(address: str) -> Iterator[tuple[int, int]]:
    host = _AFTER_HOST.search(address)
    for match in _RUN.finditer(address, host.end() if host else 0):
        inside_braces = any(a.start() <= match.start() < a.end() for a in _PLACE.finditer(address))
        if _written_by_a_machine(match[0]) and not inside_braces:
            yield match.span()


def _written_by_a_machine(word: str) -> bool:
    """`0f8fad5bd9cb` and `x7Yq2LmP9sTz4kWv`, not `SendArray2025Messages`."""
    groups = _DIGITS.findall(word)
    if _HEX.fullmatch(word):
        return bool(groups) and (len(word) >= 16 or any(one.isalpha() for one in word))
    return len(word) >= 16 and len(groups) >= 2

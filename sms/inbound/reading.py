"""What the relay was given, as text. Pure.

A provider fills its placeholders into an address that the customer wrote, and each encodes Persian in its
own way: UTF-8, windows-1256, percent signs encoded twice, `%uXXXX`, UTF-8 that was taken for Latin letters.
Nothing that can be read is lost; what cannot is kept as it came.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

from core.phones import PhoneError, parse_phone
from core.text import to_latin_digits
from sms.reports import storable

MAX_FIELDS = 40
MAX_NAME = 60
MAX_TEXT = 20_000  # more than the longest message that a phone can send
MAX_SENDER = 40
MAX_LINE = 20
MIN_REFERENCE, MAX_REFERENCE = 4, 64
KEPT_FIELDS, KEPT_VALUE = 10, 200

_PERCENT = re.compile("%[0-9a-fA-F]{2}")
_UNICODE_PERCENT = re.compile("%u([0-9a-fA-F]{4})")
_ARABIC = re.compile("[\u0600-\u06ff]")
# An id, not a placeholder that was left unfilled and not a counter of one digit.
_REFERENCE = re.compile(rf"[^\s$]{{{MIN_REFERENCE},{MAX_REFERENCE}}}")


class Malformed(Exception):
    """The request is no list of fields. Nothing of it was used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """How the customer's address calls the four things, in lower case."""

    sender: str
    line: str
    text: str
    reference: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """One message as it came. `number` is canonical, or empty when the sender is no number of Iran.

    `unread` holds the fields when no sender and text were among them: then the names do not fit.
    """

    sender: str = field(default="", repr=False)
    number: str = field(default="", repr=False)
    line: str = ""
    text: str = field(default="", repr=False)
    reference: str = ""
    unread: Mapping[str, str] = field(default_factory=dict, repr=False)


def read_fields(query: bytes, body: bytes, content_type: str) -> dict[str, str]:
    """The fields of an address and of a posted form or JSON object, names in lower case.

    Of a name that comes twice the first value counts, so nobody overrules what the address says.
    Raises Malformed for too many fields or a body of another kind.
    """
    fields: dict[str, str] = {}
    for name, value in [*_pairs(query), *_posted(body, content_type)]:
        fields.setdefault(name.strip().lower()[:MAX_NAME], value)
    if len(fields) > MAX_FIELDS:
        raise Malformed
    return fields


def read_message(fields: Mapping[str, str], names: Names) -> Incoming:
    """The message in these fields."""
    if names.sender not in fields or names.text not in fields:
        shown = list(fields.items())[:KEPT_FIELDS]
        return Incoming(unread={name: value[:KEPT_VALUE] for name, value in shown})
    sender = fields[names.sender].strip()
    reference = fields.get(names.reference, "").strip()
    return Incoming(
        sender=sender[:MAX_SENDER],
        number=number_of(sender),
        line=_line(fields.get(names.line, "")),
        text=fields[names.text][:MAX_TEXT],
        reference=reference if _REFERENCE.fullmatch(reference) else "",
    )


def number_of(sender: str) -> str:
    """The canonical number; providers send ten digits, others write +98 or a zero before them."""
    try:
        return parse_phone(sender).value
    except PhoneError:
        return ""


def _line(raw: str) -> str:
    return "".join(char for char in to_latin_digits(raw) if char.isascii() and char.isdigit())[:MAX_LINE]


def _pairs(raw: bytes) -> Iterator[tuple[str, str]]:
    parts = [part for part in raw.split(b"&") if part]
    if len(parts) > MAX_FIELDS:
        raise Malformed
    for part in parts:
        name, _equals, value = part.partition(b"=")
        yield _unquoted(name), _unquoted(value)


def _posted(body: bytes, content_type: str) -> Iterator[tuple[str, str]]:
    if not body.strip():
        return
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "application/json":
        yield from _json_fields(body)
    elif kind in ("application/x-www-form-urlencoded", "text/plain", ""):
        yield from _pairs(body)
    else:
        raise Malformed


def _json_fields(body: bytes) -> Iterator[tuple[str, str]]:
    try:
        document = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError) as exc:
        raise Malformed from exc
    if not isinstance(document, dict) or len(document) > MAX_FIELDS:
        raise Malformed
    for name, value in document.items():
        if isinstance(value, str | int) and not isinstance(value, bool):
            yield str(name), str(storable(str(value)))


def _unquoted(raw: bytes) -> str:
    return str(storable(decoded(unquote_to_bytes(raw.replace(b"+", b" ")))))


def decoded(raw: bytes) -> str:
    """Bytes as the text that somebody meant. Raises nothing."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("cp1256")  # what a Persian Windows writes; every byte is a character there
    for _ in range(2):
        inner = _inner(text)
        if inner is None:
            break
        text = inner
    return text


def _inner(text: str) -> str | None:
    """The text inside a text that was encoded once more; None when it was not.

    Only what turns out to be in another script counts: people do write percent signs.
    """
    if _UNICODE_PERCENT.search(text):
        units = _UNICODE_PERCENT.sub(lambda match: chr(int(match[1], 16)), text)
        return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if text.isascii():
        return _percent_inside(text)
    return _mistaken_for_latin(text)


def _percent_inside(text: str) -> str | None:
    if not _PERCENT.search(text):
        return None
    spaced = text if " " in text else text.replace("+", " ")
    try:
        inner = unquote_to_bytes(spaced).decode()
    except UnicodeDecodeError:
        return None
    return None if inner.isascii() and not _PERCENT.search(inner) else inner


def _mistaken_for_latin(text: str) -> str | None:
    for wrong in ("cp1252", "latin-1"):
        try:
            inner = text.encode(wrong).decode()
        except UnicodeError:
            continue
        if _ARABIC.search(inner):
            return inner
    return None

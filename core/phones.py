"""One reading of Iranian phone numbers for forms, imports, block lists, webhooks and the send path."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import phonenumbers
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core.dates import in_digits_of_the_reader
from core.errors import Invalid
from core.text import strip_format_chars, to_latin_digits

MAX_RAW = 64
Kind = Literal["mobile", "landline"]

# Spaces, brackets, dashes of all kinds and the half-space separate groups of digits; nothing else may.
_SEPARATORS = re.compile(r"[\s\-()./\u200c\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+")
_NUMBER = re.compile(r"\+?[0-9]+")
_CANONICAL_MOBILE = re.compile(r"09(?!09)[0-9]{9}")
# 9.12E+09 and 9123456789.0; a number that starts with its zero was never a spreadsheet's decimal.
_DECIMAL = re.compile(r"[0-9]+(?:[.,٫][0-9]*)?[eE][+-]?[0-9]+|[1-9][0-9]*[.,٫][0-9]+")
_UNREADABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufffd]")

MESSAGES: dict[str, Promise] = {
    "phone_empty": _("The number is empty."),
    "phone_too_long": _("The number is too long."),
    "phone_decimal": _("The spreadsheet turned this number into a decimal; format the column as text."),
    "phone_characters": _("The number holds characters that do not belong in it."),
    "phone_foreign": _("Only numbers of Iran can be used."),
    "phone_length": _("A number has ten digits after its zero; this one has %(count)s."),
    "phone_premium": _("Numbers of paid services (0909) receive no messages."),
    "phone_invalid": _("This is not a mobile or landline number of Iran."),
}


class PhoneError(Invalid):
    """The text is not a phone number Peyk can use. `code`, a key of MESSAGES, says why."""

    def __init__(self, code: str, **fields: Any) -> None:
        super().__init__(MESSAGES[code], code=code, **fields)

    def __str__(self) -> str:
        return message(self.code, self.fields)


def message(code: str, fields: Mapping[str, Any]) -> str:
    """The sentence of a PhoneError in the active language, from the parts that were kept of it."""
    return str(MESSAGES[code]) % in_digits_of_the_reader(fields)


@dataclass(frozen=True, slots=True)
class Phone:
    """`value` is canonical: mobile `09` + 9 digits, landline `0` + area code + number."""

    kind: Kind
    value: str


def parse_phone(raw: object) -> Phone:
    """Read one number in any usual spelling. Raises PhoneError naming what is wrong.

    Accepts the decimal digits of every script, `+98`, `0098`, `98` or a missing zero, spaces, dashes and
    brackets, invisible marks and a leading apostrophe. Refuses letters, two numbers in one cell, numbers
    a spreadsheet turned into 9.1E+09, paid services and numbers of other countries.
    """
    text = str(raw if raw is not None else "")
    if _UNREADABLE.search(text):
        raise PhoneError("phone_characters")
    text = strip_format_chars(text).strip().removeprefix("'").strip()
    if not text:
        raise PhoneError("phone_empty")
    if len(text) > MAX_RAW:
        raise PhoneError("phone_too_long")
    text = _latin(text)
    if _DECIMAL.fullmatch(text):
        raise PhoneError("phone_decimal")
    digits = _SEPARATORS.sub("", text).replace("\uff0b", "+")
    if not _NUMBER.fullmatch(digits):
        raise PhoneError("phone_characters")
    return _phone(_national(digits))


def _latin(text: str) -> str:
    """Decimal digits of any script as 0-9. Superscripts and circled digits are no decimal digits."""
    text = to_latin_digits(text)
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)


def _phone(national: str) -> Phone:
    if national.startswith("909"):
        raise PhoneError("phone_premium")
    if national.startswith("9"):
        return Phone("mobile", "0" + national)
    number = phonenumbers.PhoneNumber(country_code=98, national_number=int(national))
    if phonenumbers.number_type(number) == phonenumbers.PhoneNumberType.FIXED_LINE:
        return Phone("landline", "0" + national)
    raise PhoneError("phone_invalid")


def _national(digits: str) -> str:
    """The ten digits after the trunk zero or country code, or a refusal."""
    for prefix in ("+98", "0098"):
        if digits.startswith(prefix):
            return _ten(digits.removeprefix(prefix).removeprefix("0"))
    if digits.startswith(("+", "00")):
        raise PhoneError("phone_foreign")
    if digits.startswith("98") and len(digits) in (12, 13):
        return _ten(digits[2:].removeprefix("0"))
    return _ten(digits.removeprefix("0"))


def _ten(digits: str) -> str:
    if len(digits) != 10:
        raise PhoneError("phone_length", count=len(digits))
    return digits


def mobile_or_none(raw: object) -> str | None:
    """The canonical mobile number, or None when `raw` is not one."""
    if isinstance(raw, str) and _CANONICAL_MOBILE.fullmatch(raw):  # as nearly all are that are on record
        return raw
    try:
        phone = parse_phone(raw)
    except PhoneError:
        return None
    return phone.value if phone.kind == "mobile" else None

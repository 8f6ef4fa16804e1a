"""Traits: what is known of a person beside the fixed fields, by keys that texts can use as variables."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from core.dates import format_date, parse_date
from core.text import normalize_text

BIRTH_DATE: Final = "birth_date"
LABELS: Final[dict[str, str | Promise]] = {BIRTH_DATE: _("Date of birth")}
KEY: Final = re.compile(r"[^\W\d]\w{0,59}")
MAX_TRAITS: Final = 50
MAX_VALUE: Final = 500
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def trait_key(name: str) -> str:
    """The key made from a header or a name that somebody typed; "" if nothing is left of it."""
    words = re.sub(r"[^\w]+", "_", normalize_text(name)).strip("_")
    for known, label in LABELS.items():
        if words == re.sub(r"[^\w]+", "_", str(label)):
            return known
    if not words:
        return ""
    return (words if KEY.match(words) else f"x_{words}")[:60].strip("_")


def trait_label(key: str) -> str:
    """How a trait is called on pages."""
    return str(LABELS.get(key, key.replace("_", " ")))


def is_date(value: object) -> bool:
    """Whether a stored value is a date (they are stored as ISO text)."""
    return isinstance(value, str) and bool(_ISO_DATE.fullmatch(value))


def shown(value: object) -> str:
    """A stored value as its reader writes it: dates in the calendar of the active language."""
    if is_date(value):
        try:
            return format_date(date.fromisoformat(str(value)), get_language() or "fa")
        except ValueError:
            return str(value)
    return str(value)


def stored(key: str, text: str, *, was: object = None) -> str:
    """What somebody typed as it is stored. A date trait takes dates only: raises DateError."""
    return parse_date(text).isoformat() if key == BIRTH_DATE or is_date(was) else normalize_text(text)

"""A sending window in words, Saturday to Friday."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from automation.problems import DAYS as DAY_LABELS
from core.text import to_persian_digits
from engine.windows import DAYS, SendWindow


def week(window: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """(day, hours) for each weekday; empty when nothing is restricted."""
    if window is None:
        return []
    days = SendWindow.parse(window).to_json()["days"]
    return [(str(DAY_LABELS[day]), _spans(days[day])) for day in DAYS]


def _spans(spans: list[list[str]] | None) -> str:
    if not spans:
        return _("Closed")
    between = _("%(begin)s to %(end)s")
    text = _(", ").join(between % {"begin": begin, "end": end} for begin, end in spans)
    return to_persian_digits(text) if (get_language() or "").startswith("fa") else text

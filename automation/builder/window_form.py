"""The sending window in a form: one text box a day, Saturday to Friday.

"09:00-18:00, 19:00-21:00" are two ranges; an empty box is a closed day.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from automation.problems import DAYS as DAY_LABELS
from automation.problems import sentence
from core.dates import DateError, parse_date
from core.formfields import JalaliDateInput
from core.text import to_latin_digits
from engine.windows import DAYS, SendWindow, WindowError
from workspaces.forms import zone_choices

_BETWEEN = re.compile(r"\s*(?:-|–|—|\bto\b|تا)\s*", re.IGNORECASE)
_SEPARATORS = re.compile(r"[,،;؛\n]+|\s+(?:and|و)\s+")
_TIME = re.compile(r"(\d{1,2})(?::(\d{2}))?")


def read_spans(text: str) -> list[list[str]] | None:
    """`9-18، 19:30 تا 21` as [["09:00", "18:00"], ["19:30", "21:00"]]; None for an empty text.

    Raises ValueError when a piece is no pair of times; their order is the window's to judge.
    """
    pieces = [piece.strip() for piece in _SEPARATORS.split(to_latin_digits(text)) if piece.strip()]
    return [_span(piece) for piece in pieces] or None


def _span(piece: str) -> list[str]:
    times = _BETWEEN.split(piece)
    matches = [_TIME.fullmatch(time) for time in times]
    if len(matches) != 2 or None in matches:
        raise ValueError(piece)
    return [f"{int(m.group(1)):02d}:{m.group(2) or '00'}" for m in matches if m is not None]


def write_spans(spans: Any) -> str:
    """The text box's content for a stored day."""
    pairs = [pair for pair in spans or [] if isinstance(pair, (list, tuple)) and len(pair) == 2]
    return ", ".join(f"{begin}-{end}" for begin, end in pairs)


def read_exceptions(text: str) -> dict[str, Any]:
    """`1405/01/13` and `1405/01/14 10-12` as Gregorian days with their ranges; None is a closed day.

    One date a line, Jalali or Gregorian. Raises ValueError with the line that cannot be read.
    """
    found: dict[str, Any] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        date, _space, hours = line.strip().partition(" ")
        try:
            found[parse_date(date).isoformat()] = read_spans(hours)
        except (DateError, ValueError) as exc:
            raise ValueError(line.strip()[:60]) from exc
    return found


def write_exceptions(stored: Any) -> str:
    """The text box's content for stored exceptions, in the reader's calendar."""
    if not isinstance(stored, Mapping):
        return ""
    lines = []
    for day, spans in sorted(stored.items()):
        try:
            shown = JalaliDateInput().format_value(date.fromisoformat(str(day))) or str(day)
        except ValueError:
            shown = str(day)
        lines.append(f"{shown} {write_spans(spans)}".strip())
    return "\n".join(lines)


def _day_field(day: str) -> forms.CharField:
    attrs = {"dir": "ltr", "autocomplete": "off", "placeholder": gettext_lazy("closed")}
    label: Any = DAY_LABELS[day]
    return forms.CharField(label=label, required=False, max_length=200, widget=forms.TextInput(attrs=attrs))


class WindowForm(forms.Form):
    """Fields of a sending window; `window()` is the stored form or None when no hours are set."""

    use_window = forms.BooleanField(
        label=gettext_lazy("Send only in certain hours"),
        required=False,
        help_text=gettext_lazy("Without this, the campaign's or the workspace's own hours hold."),
    )
    timezone = forms.ChoiceField(
        label=gettext_lazy("Time zone"), choices=zone_choices, widget=forms.Select(attrs={"dir": "ltr"})
    )
    sat = _day_field("sat")
    sun = _day_field("sun")
    mon = _day_field("mon")
    tue = _day_field("tue")
    wed = _day_field("wed")
    thu = _day_field("thu")
    fri = _day_field("fri")
    exceptions = forms.CharField(
        label=gettext_lazy("Dates that differ"),
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "ltr", "autocomplete": "off"}),
        help_text=gettext_lazy(
            "One date a line, such as 2026/03/21 for a closed day or 2026/03/22 10:00-12:00 for other hours."
        ),
    )

    def __init__(self, *args: Any, stored: Any = None, timezone: str = "", **kwargs: Any) -> None:
        self.stored: Mapping[str, Any] = stored if isinstance(stored, Mapping) else {}
        kwargs["initial"] = window_initial(self.stored, timezone) | (kwargs.get("initial") or {})
        super().__init__(*args, **kwargs)

    @property
    def day_fields(self) -> list[forms.BoundField]:
        return [self[day] for day in DAYS]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if values.get("use_window"):
            self._check(values)
        return values

    def _check(self, values: dict[str, Any]) -> None:
        days: dict[str, Any] = {}
        for day in DAYS:
            try:
                days[day] = read_spans(values.get(day, ""))
            except ValueError:
                text = _("Write hours such as 09:00-18:00; several with a comma between them.")
                self.add_error(day, text)
        exceptions = self._exceptions(values.get("exceptions", ""))
        if self.errors:
            return
        window = {"timezone": values["timezone"], "days": days}
        if exceptions:
            window["exceptions"] = exceptions
        try:
            values["window"] = SendWindow.parse(window).to_json()
        except WindowError as exc:
            for problem in exc.problems:
                day = str(problem.fields.get("day", ""))
                is_date = day[:1].isdigit()
                self.add_error(day if day in DAYS else "exceptions" if is_date else None, sentence(problem))

    def _exceptions(self, text: str) -> dict[str, Any]:
        """What was typed; what is stored where the page has no such box."""
        if self.add_prefix("exceptions") not in self.data:
            return dict(self.stored.get("exceptions") or {})
        try:
            return read_exceptions(text)
        except ValueError as exc:
            self.add_error("exceptions", _("This line cannot be read: %(line)s") % {"line": exc})
            return {}

    def window(self) -> dict[str, Any] | None:
        """The stored form of what was typed; call it on a valid form."""
        return self.cleaned_data.get("window")


def window_initial(stored: Mapping[str, Any], timezone: str) -> dict[str, Any]:
    """What the boxes hold for a stored window."""
    days = stored.get("days")
    spans = days if isinstance(days, Mapping) else {}
    return {
        "use_window": bool(stored),
        "timezone": stored.get("timezone") or timezone,
        **{day: write_spans(spans.get(day)) for day in DAYS},
        "exceptions": write_exceptions(stored.get("exceptions")),
    }

"""What people type of a line's hours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from core.formfields import DigitsIntegerField
from core.text import to_latin_digits
from engine.windows import SendWindow, WindowError
from sms.line_windows import EVERY_LINE, every_day
from sms.models import LineRule, Operator

MAX_FINALITY_HOURS = 720
CLOCK = forms.TextInput(attrs={"dir": "ltr", "inputmode": "numeric", "autocomplete": "off", "maxlength": "5"})


class ClockField(forms.RegexField):
    """An hour and minute such as 08:00, in any digits; 24:00 is the end of the day."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            regex=r"^(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00)\Z",
            error_messages={"invalid": _("Write a time such as 08:00.")},
            widget=CLOCK,
            **kwargs,
        )

    def to_python(self, value: object) -> str:
        return to_latin_digits(str(super().to_python(value) or "").strip())


class LineRuleForm(forms.Form):
    line = forms.ChoiceField(label=_("Sender line"))
    operator = forms.ChoiceField(
        label=_("Numbers of"), required=False, choices=[("", _("Any operator")), *Operator.choices[1:]]
    )
    opens = ClockField(
        label=_("Sends from"), required=False, help_text=_("Every day; leave both empty for no hours.")
    )
    closes = ClockField(label=_("Sends until"), required=False)
    finality_hours = DigitsIntegerField(
        label=_("Hours until delivery reports end"),
        required=False,
        min_value=1,
        max_value=MAX_FINALITY_HOURS,
        help_text=_("After so long nothing new is asked about a message. For any operator only."),
    )

    def __init__(self, *args: Any, lines: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["line"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(EVERY_LINE, _("Every line")), *((line, line) for line in lines)]

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        opens, closes = data.get("opens"), data.get("closes")
        if bool(opens) != bool(closes):
            self.add_error("closes" if opens else "opens", _("Write both times, or neither."))
        elif opens and closes and opens >= closes:
            self.add_error("closes", _("The end must come after the beginning."))
        if data.get("finality_hours") and (data.get("operator") or data.get("line") == EVERY_LINE):
            self.add_error("finality_hours", _("This can be set for one line and any operator only."))
        if not self.errors and not opens and not data.get("finality_hours"):
            raise ValidationError(_("Write hours, or how long delivery reports take."))
        return data

    def window(self, timezone: str) -> dict[str, Any] | None:
        """The hours as they are stored, once the form is valid."""
        opens, closes = self.cleaned_data["opens"], self.cleaned_data["closes"]
        return every_day(opens, closes, timezone) if opens else None


def hours_of(row: LineRule) -> str:
    """The hours in figures when every day has the same, "" when there are none, else "…"."""
    if row.window is None:
        return ""
    try:
        days = list(SendWindow.parse(row.window).to_json()["days"].values())
    except WindowError:
        return "…"
    same = all(day == days[0] for day in days) and days[0] and len(days[0]) == 1
    return "–".join(days[0][0]) if same else "…"

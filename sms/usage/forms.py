"""What people may type about prices."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from core.formfields import DigitsDecimalField, JalaliDateField
from sms.models import Script


class PriceForm(forms.Form):
    """What a part costs from a day on."""

    line = forms.ChoiceField(label=_("Line"), required=False)
    script = forms.ChoiceField(
        label=_("Script"),
        choices=Script.choices,
        help_text=_("One Persian letter makes all of a message Persian."),
    )
    rials = DigitsDecimalField(
        label=_("Rials for a part"), min_value=0, max_value=Decimal("9999999"), max_digits=9, decimal_places=2
    )
    valid_from = JalaliDateField(label=_("From day"))

    def __init__(
        self, data: QueryDict | None = None, *, lines: Iterable[str], today: date | None = None
    ) -> None:
        super().__init__(data, initial={"valid_from": today} if today else None)
        choices: list[tuple[str, Any]] = [("", _("Every line")), *((line, line) for line in lines)]
        self.fields["line"].choices = choices  # type: ignore[attr-defined]  # a choice field's

"""Form fields for people who type Persian digits and Jalali dates."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import jdatetime
from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import get_language

from core.dates import DateError, in_digits_of_the_reader, parse_date, parse_local_datetime
from core.text import to_latin_digits

_SEPARATORS = str.maketrans("", "", ",٬ \u00a0\u200c")


def _plain_number(value: Any) -> Any:
    """`۱۲٬۳۴۵٫۵` as `12345.5`; what is not text stays."""
    if isinstance(value, str):
        return to_latin_digits(value).replace("٫", ".").translate(_SEPARATORS)
    return value


class DigitsInput(forms.TextInput):
    """A text box for numbers: a number box would refuse Persian digits."""

    def __init__(self, attrs: dict[str, Any] | None = None, *, inputmode: str = "numeric") -> None:
        super().__init__({"inputmode": inputmode, "dir": "ltr", "autocomplete": "off"} | (attrs or {}))


class DigitsIntegerField(forms.IntegerField):
    """A whole number in Persian, Arabic or Latin digits, with or without separators."""

    widget = DigitsInput

    def run_validators(self, value: Any) -> None:
        """The limits in messages are written in the digits of the reader."""
        try:
            super().run_validators(value)
        except ValidationError as exc:
            for error in exc.error_list:
                error.params = in_digits_of_the_reader(dict(error.params or {}))
            raise

    def to_python(self, value: Any) -> int | None:
        return super().to_python(_plain_number(value))


class DigitsDecimalField(forms.DecimalField):
    """A decimal number in Persian, Arabic or Latin digits; ٫ and . are the point."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("widget", DigitsInput(inputmode="decimal"))
        super().__init__(**kwargs)

    def to_python(self, value: Any) -> Decimal | None:  # type: ignore[override]  # as Django itself
        return super().to_python(_plain_number(value))


def _typed_date(day: date) -> str:
    """The date as a person would type it in the active language, in Latin digits."""
    if (get_language() or "").startswith("fa"):
        jalali = jdatetime.date.fromgregorian(date=day)
        return f"{jalali.year:04d}/{jalali.month:02d}/{jalali.day:02d}"
    return day.isoformat()


class JalaliDateInput(forms.DateInput):
    """The text box inside `<jalali-date>`; works without scripts."""

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"dir": "ltr", "autocomplete": "off", "inputmode": "text"} | (attrs or {}))

    def format_value(self, value: Any) -> str | None:
        if isinstance(value, datetime):
            return f"{_typed_date(value.date())} {value:%H:%M}"
        if isinstance(value, date):
            return _typed_date(value)
        return str(value) if value else None


class JalaliDateField(forms.DateField):
    """A date typed as Jalali (year below 1700) or Gregorian. Gives a Gregorian `date`."""

    widget = JalaliDateInput

    def to_python(self, value: Any) -> date | None:
        if isinstance(value, str) and value.strip():
            try:
                return parse_date(value)
            except DateError as exc:
                raise ValidationError(str(exc), code="invalid") from exc
        return super().to_python(value)


class JalaliDateTimeField(forms.DateTimeField):
    """A moment in the workspace's zone, `1405/09/09 14:30`. Gives an aware datetime."""

    widget = JalaliDateInput

    def to_python(self, value: Any) -> datetime | None:
        if isinstance(value, str) and value.strip():
            try:
                return parse_local_datetime(value, str(timezone.get_current_timezone()))
            except DateError as exc:
                raise ValidationError(str(exc), code="invalid") from exc
        return super().to_python(value)

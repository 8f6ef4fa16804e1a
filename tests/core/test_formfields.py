"""Fields for people who type Persian digits and Jalali dates."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone, translation

from core.formfields import DigitsDecimalField, DigitsIntegerField, JalaliDateField, JalaliDateTimeField


@pytest.fixture(autouse=True)
def _in_tehran() -> Iterator[None]:
    with timezone.override(ZoneInfo("Asia/Tehran")), translation.override("fa"):
        yield


@pytest.mark.parametrize("typed", ["1234", "۱۲۳۴", "١٢٣٤", "۱٬۲۳۴", "1,234", " 1234 "])
def test_a_whole_number_may_have_any_digits(typed: str) -> None:
    assert DigitsIntegerField().clean(typed) == 1234


@pytest.mark.parametrize("typed", ["۱۲٫۵", "abc", "1-2"])
def test_what_is_not_a_whole_number_is_refused(typed: str) -> None:
    with pytest.raises(ValidationError):
        DigitsIntegerField().clean(typed)


def test_the_limits_of_a_number_are_kept() -> None:
    with pytest.raises(ValidationError):
        DigitsIntegerField(max_value=10).clean("۱۱")


def test_a_limit_is_told_in_the_digits_of_the_reader() -> None:
    with translation.override("fa"), pytest.raises(ValidationError, match="۱۰ یا کمتر"):
        DigitsIntegerField(max_value=10).clean("۱۱")


@pytest.mark.parametrize("typed", ["12.5", "۱۲٫۵", "۱۲.۵"])
def test_a_decimal_may_have_a_persian_point(typed: str) -> None:
    assert DigitsDecimalField().clean(typed) == Decimal("12.5")


@pytest.mark.parametrize("typed", ["1405/09/09", "۱۴۰۵-۹-۹", "2026-11-30"])
def test_a_day_may_be_jalali_or_gregorian(typed: str) -> None:
    assert JalaliDateField().clean(typed) == date(2026, 11, 30)


@pytest.mark.parametrize("typed", ["1405/12/30", "yesterday"])
def test_a_day_that_does_not_exist_is_refused(typed: str) -> None:
    with pytest.raises(ValidationError):
        JalaliDateField().clean(typed)


def test_a_day_may_be_left_out() -> None:
    assert JalaliDateField(required=False).clean("") is None


def test_a_moment_is_read_in_the_workspaces_zone() -> None:
    assert JalaliDateTimeField().clean("۱۴۰۵/۰۹/۰۹ ۱۴:۳۵") == datetime(2026, 11, 30, 11, 5, tzinfo=UTC)


class DayForm(forms.Form):
    day = JalaliDateField()
    at = JalaliDateTimeField()


def test_a_stored_day_is_shown_as_it_would_be_typed() -> None:
    form = DayForm(initial={"day": date(2026, 11, 30), "at": datetime(2026, 11, 30, 11, 5, tzinfo=UTC)})
    assert 'value="1405/09/09"' in str(form["day"])
    assert 'value="1405/09/09 14:35"' in str(form["at"])


def test_in_english_a_stored_day_is_gregorian() -> None:
    with translation.override("en"):
        assert 'value="2026-11-30"' in str(DayForm(initial={"day": date(2026, 11, 30)})["day"])


def test_what_was_typed_comes_back_unchanged() -> None:
    assert 'value="۱۴۰۵/۱۳/۰۱"' in str(DayForm({"day": "۱۴۰۵/۱۳/۰۱"})["day"])

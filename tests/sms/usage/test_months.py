"""Months in both calendars, from midnight to midnight of the workspace."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sms.usage.months import Month

TEHRAN = "Asia/Tehran"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "language", "key"),
    [
        ("2026-11-30 05:30", "fa", "1405-09"),
        ("2026-11-30 05:30", "en", "2026-11"),
        ("2026-11-30 21:00", "en", "2026-12"),
        ("2026-11-21 20:29", "fa", "1405-08"),
        ("2026-11-21 20:30", "fa", "1405-09"),
        ("2027-03-20 20:30", "fa", "1406-01"),
    ],
)
def test_a_moment_lies_in_the_month_of_the_workspace(moment: str, language: str, key: str) -> None:
    assert Month.holding(at(moment), zone=TEHRAN, language=language).key == key


def test_a_month_begins_at_its_own_midnight() -> None:
    month = Month(1405, 9, TEHRAN)

    assert (month.start, month.end) == (at("2026-11-21 20:30"), at("2026-12-21 20:30"))


def test_a_leap_esfand_has_thirty_days() -> None:
    months = Month(1403, 12, TEHRAN), Month(1404, 12, TEHRAN)

    assert [(month.end - month.start).days for month in months] == [30, 29]


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        ("1404-12", "1404-12"),
        ("۱۴۰۴-۱۲", "1404-12"),
        ("2026-1", "2026-01"),
        ("1404-13", "1405-09"),
        ("9999-01", "1405-09"),
        ("", "1405-09"),
        ("1404-0", "1405-09"),
        ("x" * 1000, "1405-09"),
        ("1404-12'--", "1405-09"),
    ],
)
def test_a_key_that_names_no_month_changes_nothing(key: str, wanted: str) -> None:
    assert Month(1405, 9, TEHRAN).other(key).key == wanted


@pytest.mark.parametrize(
    ("month", "language", "label"),
    [
        (Month(1405, 9, TEHRAN), "fa", "آذر ۱۴۰۵"),
        (Month(1405, 9, TEHRAN), "en", "Azar 1405"),
        (Month(2026, 11, TEHRAN), "fa", "نوامبر ۲۰۲۶"),
        (Month(2026, 11, TEHRAN), "en", "November 2026"),
    ],
)
def test_a_month_has_a_name_in_both_languages(month: Month, language: str, label: str) -> None:
    assert month.label(language) == label


@given(st.integers(0, 40_000), st.sampled_from(["fa", "en"]), st.sampled_from([TEHRAN, "UTC", "Asia/Kabul"]))
def test_months_follow_one_another_without_a_gap(days: int, language: str, zone: str) -> None:
    moment = at("2005-01-01 00:00") + timedelta(days=days, minutes=days % 1440)
    month = Month.holding(moment, zone=zone, language=language)

    assert month.start <= moment < month.end
    assert month.next.start == month.end
    assert (month.next.previous, month.previous.next) == (month, month)


@pytest.mark.parametrize(
    ("month", "language", "days"),
    [
        (Month(1405, 9, TEHRAN), "en", "22 Nov 2026 – 21 Dec 2026"),
        (Month(2026, 11, TEHRAN), "fa", "۱۰ آبان ۱۴۰۵ – ۹ آذر ۱۴۰۵"),
        (Month(1405, 9, TEHRAN), "fa", ""),
        (Month(2026, 11, TEHRAN), "en", ""),
    ],
)
def test_a_month_of_the_other_calendar_tells_its_days(month: Month, language: str, days: str) -> None:
    assert month.days(language) == days

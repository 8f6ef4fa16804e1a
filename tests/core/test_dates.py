"""Jalali and Gregorian dates as people write and read them."""

from __future__ import annotations

import contextlib
from datetime import UTC, date, datetime

import pytest
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from core.dates import (
    DateError,
    format_date,
    format_datetime,
    format_number,
    in_digits_of_the_reader,
    parse_date,
    parse_local_datetime,
)

TEHRAN = "Asia/Tehran"
AZAR_9 = date(2026, 11, 30)
days = st.dates(date(1921, 3, 21), date(2070, 1, 1))


@pytest.mark.parametrize(
    "written",
    [
        "1405/09/09",
        "1405/9/9",
        "1405-09-09",
        "1405.9.9",
        "۱۴۰۵/۰۹/۰۹",
        "١٤٠٥/٠٩/٠٩",
        "\u200f۱۴۰۵/۹/۹ ",
        "14050909",
        "9/9/1405",
        "۹ آذر ۱۴۰۵",
        "2026-11-30",
        "2026/11/30",
        "20261130",
    ],
)
def test_every_way_to_write_a_day_gives_that_day(written: str) -> None:
    assert parse_date(written) == AZAR_9


@pytest.mark.parametrize(
    "written",
    [
        "",
        "فردا",
        "1405/09",
        "72/05/12",
        "09/10/2026",
        "1405/13/01",
        "1405/00/10",
        "1405/07/31",
        "1404/12/30",
        "0000/01/01",
        "2026/02/30",
        "1405/09-09",
        "۹ ناماه ۱۴۰۵",
        "88776655",
        "1405/09/09 10:00",
        "1405/۹²/09",
    ],
)
def test_what_is_no_day_is_refused(written: str) -> None:
    with pytest.raises(DateError):
        parse_date(written)


def test_leap_esfand_has_thirty_days() -> None:
    assert parse_date("1403/12/30") == date(2025, 3, 20)


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("1405/09/09 14:30", datetime(2026, 11, 30, 11, 0, tzinfo=UTC)),
        ("۱۴۰۵/۰۹/۰۹، ۱۴:۳۰", datetime(2026, 11, 30, 11, 0, tzinfo=UTC)),
        ("2026-11-30T14:30", datetime(2026, 11, 30, 11, 0, tzinfo=UTC)),
        ("1405/09/09", datetime(2026, 11, 29, 20, 30, tzinfo=UTC)),
    ],
)
def test_a_moment_is_read_in_the_zone_of_the_workspace(written: str, moment: datetime) -> None:
    assert parse_local_datetime(written, TEHRAN) == moment


@pytest.mark.parametrize("written", ["1405/09/09 24:00", "1405/09/09 10:60", "10:00", "", "1405/09/09 1"])
def test_a_time_that_does_not_exist_is_refused(written: str) -> None:
    with pytest.raises(DateError):
        parse_local_datetime(written, TEHRAN)


@given(days)
def test_what_is_shown_in_persian_can_be_typed_back(day: date) -> None:
    assert parse_date(format_date(day, "fa")) == parse_date(format_date(day, "fa", words=True)) == day


@given(days)
def test_what_is_shown_in_english_can_be_typed_back(day: date) -> None:
    assert parse_date(format_date(day, "en")) == day


@given(st.text(max_size=20) | st.text(alphabet="0123456789۱۲/-. :T", max_size=16))
def test_any_text_is_a_date_or_refused(text: str) -> None:
    with contextlib.suppress(DateError):
        assert parse_local_datetime(text, TEHRAN).tzinfo is not None
    with contextlib.suppress(DateError):
        assert parse_date(text).year > 0


def test_persian_readers_see_the_jalali_date() -> None:
    moment = datetime(2026, 11, 30, 11, 5, tzinfo=UTC)
    assert format_datetime(moment, TEHRAN, "fa") == "۱۴۰۵/۰۹/۰۹، ۱۴:۳۵"


def test_english_readers_see_the_gregorian_date_in_words() -> None:
    moment = datetime(2026, 11, 30, 11, 5, tzinfo=UTC)
    assert format_datetime(moment, TEHRAN, "en", words=True) == "30 Nov 2026, 14:35"


@pytest.mark.parametrize(
    ("value", "fa", "en"), [(12345, "۱۲٬۳۴۵", "12,345"), (0.5, "۰٫۵", "0.5"), (-7, "-۷", "-7")]
)
def test_numbers_are_grouped_in_the_digits_of_the_reader(value: float, fa: str, en: str) -> None:
    assert (format_number(value, "fa"), format_number(value, "en")) == (fa, en)


def test_whole_numbers_of_a_sentence_are_written_in_the_digits_of_the_reader() -> None:
    with override("fa"):
        assert in_digits_of_the_reader({"row": 1200, "column": "B"}) == {"row": "۱٬۲۰۰", "column": "B"}

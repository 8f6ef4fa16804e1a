"""Local times around clock changes, and durations on the calendar."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import jdatetime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.durations import Duration, parse_duration
from engine.types import Facts
from engine.walk import walk
from engine.zones import ZoneError, resolve_local, zone
from tests.engine.building import at_first, line, note, parked, runnable, until

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
ZONES = [
    "Asia/Tehran",
    "Europe/Berlin",
    "America/New_York",
    "America/Sao_Paulo",
    "Australia/Lord_Howe",
    "Pacific/Apia",
]


@pytest.mark.parametrize(
    ("name", "local", "utc"),
    [
        ("Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:00"),  # gap 02:00-03:00
        ("Europe/Berlin", "2026-03-29T02:30:00.5", "2026-03-29T01:00"),
        ("Europe/Berlin", "2026-03-29T02:00", "2026-03-29T01:00"),
        ("Europe/Berlin", "2026-03-29T03:00", "2026-03-29T01:00"),
        ("Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30"),  # twice: the first
        ("America/New_York", "2026-03-08T02:30", "2026-03-08T07:00"),
        ("America/New_York", "2026-11-01T01:30", "2026-11-01T05:30"),
        ("Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:30"),  # a gap of half an hour
        ("America/Sao_Paulo", "2018-11-04T00:30", "2018-11-04T03:00"),  # midnight does not exist
        ("Pacific/Apia", "2011-12-30T12:00", "2011-12-30T10:00"),  # a whole day does not exist
        ("Asia/Tehran", "2022-03-22T00:30", "2022-03-21T20:30"),
        ("Asia/Tehran", "2026-03-22T00:30", "2026-03-21T21:00"),  # no clock change any more
    ],
)
def test_a_local_time_is_its_first_valid_instant(name: str, local: str, utc: str) -> None:
    instant = resolve_local(datetime.fromisoformat(local), zone(name))
    assert instant == datetime.fromisoformat(utc).replace(tzinfo=UTC)


@given(st.sampled_from(ZONES), st.datetimes(datetime(2000, 1, 1), datetime(2035, 1, 1)))
def test_resolving_agrees_with_the_zone_and_never_goes_back(name: str, local: datetime) -> None:
    tz = zone(name)
    local = local.replace(microsecond=0)
    wall = resolve_local(local, tz).astimezone(tz).replace(tzinfo=None)
    assert wall >= local
    later = resolve_local(local + timedelta(minutes=1), tz)
    assert (
        later >= resolve_local(local, tz) or wall.replace(tzinfo=tz, fold=1).utcoffset() != later.utcoffset()
    )


@pytest.mark.parametrize(
    "name", ["Mars/Base", "", "../../etc/passwd", "Asia", "Asia/Tehran\n", "a\x00b", "x" * 500, None, 7, []]
)
def test_what_is_no_zone_is_refused(name: object) -> None:
    with pytest.raises(ZoneError):
        zone(name)


def test_a_day_over_a_gap_is_23_hours_and_over_an_overlap_25() -> None:
    spring = datetime(2026, 3, 28, 12, 0, tzinfo=BERLIN)
    autumn = datetime(2026, 10, 24, 12, 0, tzinfo=BERLIN)
    assert Duration(1, "day").after(spring, BERLIN) - spring.astimezone(UTC) == timedelta(hours=23)
    assert Duration(1, "day").after(autumn, BERLIN) - autumn.astimezone(UTC) == timedelta(hours=25)


def test_hours_are_elapsed_time_over_a_clock_change() -> None:
    start = datetime(2026, 3, 28, 12, 0, tzinfo=BERLIN)
    assert Duration(24, "hour").after(start, BERLIN) == start.astimezone(UTC) + timedelta(hours=24)


def test_a_day_that_ends_in_a_gap_ends_right_after_it() -> None:
    start = datetime(2026, 3, 7, 2, 30, tzinfo=NEW_YORK)
    assert Duration(1, "day").after(start, NEW_YORK) == datetime(2026, 3, 8, 7, 0, tzinfo=UTC)


def test_a_month_from_the_31st_ends_on_the_last_day() -> None:
    start = datetime(2026, 1, 31, 9, 0, tzinfo=UTC)
    assert Duration(1, "month").after(start, ZoneInfo("UTC")) == datetime(2026, 2, 28, 9, 0, tzinfo=UTC)


# The years of the Iranian calendar begin at Nowruz; 1403 had a 30th of Esfand, 1404 has none.
LAST_OF_1403 = datetime(2025, 3, 20, 9, tzinfo=zone("Asia/Tehran"))


@pytest.mark.parametrize(
    ("amount", "unit", "jalali"),
    [
        (1, "year", "1404-12-29"),  # the last day of the year again, though it is the 29th
        (1, "day", "1404-01-01"),
        (1, "week", "1404-01-07"),
        (1, "month", "1404-01-31"),
        (12, "month", "1404-12-29"),
        (366, "day", "1405-01-01"),
    ],
)
def test_the_leap_day_of_esfand_is_passed_like_any_other(amount: int, unit: str, jalali: str) -> None:
    end = Duration(amount, unit).after(LAST_OF_1403, zone("Asia/Tehran")).astimezone(zone("Asia/Tehran"))
    assert jdatetime.date.fromgregorian(date=end.date()).isoformat() == jalali
    assert end.hour == 9


def test_a_wait_until_the_leap_day_of_esfand_ends_on_it() -> None:
    day = jdatetime.date(1403, 12, 30).togregorian()
    node = until("u", f"{day.isoformat()}T09:00", "Asia/Tehran")
    made = runnable(line(node, note("n")))
    march = datetime(2025, 3, 1, tzinfo=UTC)
    waiting = parked(walk(made, at_first(made, march), Facts(), march))
    assert waiting.until == LAST_OF_1403


def test_a_year_from_leap_day_ends_on_february_28() -> None:
    start = datetime(2028, 2, 29, 9, 0, tzinfo=UTC)
    assert Duration(1, "year").after(start, ZoneInfo("UTC")) == datetime(2029, 2, 28, 9, 0, tzinfo=UTC)


@given(
    st.sampled_from(ZONES),
    st.datetimes(datetime(2000, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC)),
    st.sampled_from(["minute", "hour", "day", "week", "month", "year"]),
    st.integers(1, 9),
)
def test_time_never_runs_backwards(name: str, start: datetime, unit: str, amount: int) -> None:
    assert Duration(amount, unit).after(start, zone(name)) >= start


@pytest.mark.parametrize("unit", ["minute", "minutes", "hour", "days", "weeks", "month", "years"])
def test_units_may_be_singular_or_plural(unit: str) -> None:
    assert parse_duration({"amount": 2, "unit": unit}) == Duration(2, unit.removesuffix("s"))


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ({"amount": 0, "unit": "days"}, "duration_amount_invalid"),
        ({"amount": -1, "unit": "days"}, "duration_amount_invalid"),
        ({"amount": True, "unit": "days"}, "duration_amount_invalid"),
        ({"amount": 1.5, "unit": "days"}, "duration_amount_invalid"),
        ({"amount": "2", "unit": "days"}, "duration_amount_invalid"),
        ({"amount": 2, "unit": "fortnights"}, "duration_unit_unknown"),
        ({"amount": 2, "unit": ["day"]}, "duration_unit_unknown"),
        ({"amount": 10**400, "unit": "days"}, "duration_too_long"),
        ({"amount": 2, "unit": "days", "x": 1}, "config_key_unknown"),
        (None, "duration_missing"),
        ([1, "day"], "duration_missing"),
    ],
)
def test_a_bad_duration_says_why(raw: object, code: str) -> None:
    problems = parse_duration(raw)
    assert isinstance(problems, list)
    assert [problem.code for problem in problems] == [code]


def test_both_mistakes_of_a_duration_are_named_at_once() -> None:
    problems = parse_duration({"amount": 0, "unit": "moon"})
    assert isinstance(problems, list)
    assert {problem.code for problem in problems} == {"duration_amount_invalid", "duration_unit_unknown"}

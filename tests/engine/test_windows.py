"""Sending windows: reading, asking, clock changes."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.windows import DAYS, SendWindow, WindowError
from engine.zones import zone

WEEK: dict[str, Any] = {day: [["09:00", "18:00"]] for day in DAYS} | {"fri": None}
ZONES = ["Asia/Tehran", "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Pacific/Apia"]


def window(days: dict[str, Any] | None = None, timezone: str = "Asia/Tehran", **more: Any) -> SendWindow:
    return SendWindow.parse({"timezone": timezone, "days": WEEK if days is None else days, **more})


def local(text: str, timezone: str = "Asia/Tehran") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone(timezone))


def why(raw: object) -> list[str]:
    with pytest.raises(WindowError) as refused:
        SendWindow.parse(raw)
    return [problem.code for problem in refused.value.problems]


def test_reading_and_writing_are_inverse() -> None:
    stored = {
        "timezone": "Asia/Tehran",
        "days": WEEK | {"sat": [["09:00", "12:00"], ["14:00", "24:00"]]},
        "exceptions": {"2026-03-21": None, "2026-03-25": [["10:00", "12:00"]]},
    }
    assert SendWindow.parse(stored).to_json() == stored


def test_ranges_are_put_in_order() -> None:
    days = window({"sat": [["14:00", "18:00"], ["09:00", "12:00"]]}).to_json()["days"]
    assert days["sat"] == [["09:00", "12:00"], ["14:00", "18:00"]]


def test_null_empty_and_absent_days_are_closed() -> None:
    parsed = window({"sat": [["09:00", "18:00"]], "sun": None, "mon": []})
    assert {day: parsed.to_json()["days"][day] for day in ("sun", "mon", "tue")} == dict.fromkeys(
        ("sun", "mon", "tue")
    )


def test_a_zone_may_come_from_the_level_above() -> None:
    assert SendWindow.parse({"days": WEEK}, timezone="Europe/Berlin").timezone == "Europe/Berlin"


# 2026-05-02 is a Saturday.
@pytest.mark.parametrize(
    ("at", "opens"),
    [
        ("2026-05-02T08:59", "2026-05-02T09:00"),
        ("2026-05-02T09:00", "2026-05-02T09:00"),
        ("2026-05-02T12:34:56", "2026-05-02T12:34:56"),
        ("2026-05-02T17:59:59", "2026-05-02T17:59:59"),
        ("2026-05-02T18:00", "2026-05-03T09:00"),
        ("2026-05-02T23:00", "2026-05-03T09:00"),
        ("2026-05-03T00:00", "2026-05-03T09:00"),
        ("2026-05-07T17:00", "2026-05-07T17:00"),
        ("2026-05-07T20:00", "2026-05-09T09:00"),  # Thursday evening: Friday is closed
        ("2026-05-08T12:00", "2026-05-09T09:00"),
        ("2026-12-31T19:00", "2027-01-02T09:00"),
    ],
)
def test_next_opening(at: str, opens: str) -> None:
    assert window().next_open(local(at)) == local(opens)


def test_a_pause_at_noon_is_closed() -> None:
    split = window({"sat": [["09:00", "12:00"], ["14:00", "18:00"]]})
    assert not split.is_open(local("2026-05-02T13:00"))
    assert split.next_open(local("2026-05-02T13:00")) == local("2026-05-02T14:00")


def test_the_only_open_day_comes_again_next_week() -> None:
    assert window({"sat": [["09:00", "18:00"]]}).next_open(local("2026-05-02T18:00")) == local(
        "2026-05-09T09:00"
    )


def test_a_night_split_at_24_has_no_gap() -> None:
    night = window({"thu": [["22:00", "24:00"]], "fri": [["00:00", "02:00"]]})
    assert night.is_open(local("2026-05-07T23:59:59"))
    assert night.is_open(local("2026-05-08T00:00:00"))
    assert night.closes_at(local("2026-05-07T22:30")) == local("2026-05-08T02:00")


def test_exceptions_take_the_place_of_the_weekday() -> None:
    holiday = window(
        exceptions={
            "2026-05-03": None,
            "2026-05-04": [["10:00", "11:00"]],
            "2026-05-08": [["20:00", "21:00"]],
        }
    )
    assert holiday.next_open(local("2026-05-02T18:00")) == local("2026-05-04T10:00")
    assert holiday.closes_at(local("2026-05-04T10:30")) == local("2026-05-04T11:00")
    assert holiday.is_open(local("2026-05-08T20:30"))


def test_an_exception_may_have_a_name() -> None:
    raw = {
        "timezone": "Asia/Tehran",
        "days": {"sat": [["09:00", "18:00"]]},
        "exceptions": {
            "2026-03-21": {"name": "Nowruz", "ranges": None},
            "2026-03-24": {"name": "Office day", "ranges": [["10:00", "12:00"]]},
            "2026-03-28": None,
        },
    }
    window = SendWindow.parse(raw)
    assert window.names == {date(2026, 3, 21): "Nowruz", date(2026, 3, 24): "Office day"}
    assert window.exceptions[date(2026, 3, 21)] == window.exceptions[date(2026, 3, 28)] == ()
    assert SendWindow.parse(window.to_json()) == window
    before = datetime(2026, 3, 21, 9, tzinfo=zone("Asia/Tehran"))
    assert window.next_open(before) == datetime(2026, 3, 24, 10, tzinfo=zone("Asia/Tehran"))


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({"name": 5}, "window_malformed"),
        ({"name": "x" * 101}, "window_malformed"),
        ({"name": "x", "colour": 1}, "window_key_unknown"),
        ({"name": "x", "ranges": "never"}, "window_range_invalid"),
    ],
)
def test_a_bad_exception_says_why(entry: object, code: str) -> None:
    raw = {"timezone": "UTC", "days": {"sat": [["09:00", "18:00"]]}, "exceptions": {"2026-03-21": entry}}
    with pytest.raises(WindowError) as caught:
        SendWindow.parse(raw)
    assert [problem.code for problem in caught.value.problems] == [code]


def test_a_long_row_of_holidays_is_stepped_over() -> None:
    closed = {f"2026-{month:02d}-{day:02d}": None for month in (5, 6) for day in range(1, 31)}
    assert window(exceptions=closed).next_open(local("2026-05-02T12:00")) == local("2026-05-31T09:00")


def test_closing_of_a_closed_moment_is_that_moment() -> None:
    at = local("2026-05-02T20:00")
    assert window().closes_at(at) == at


def test_always_open_never_closes() -> None:
    always = window({day: [["00:00", "12:00"], ["12:00", "24:00"]] for day in DAYS})
    assert always.closes_at(local("2026-05-02T20:00")) is None


def test_always_open_closes_for_a_holiday() -> None:
    always = window({day: [["00:00", "24:00"]] for day in DAYS}, exceptions={"2026-06-01": None})
    assert always.closes_at(local("2026-05-02T20:00")) == local("2026-06-01T00:00")


def test_a_range_that_begins_in_a_gap_opens_right_after_it() -> None:
    early = window({"sun": [["02:30", "05:00"]]}, "Europe/Berlin")
    assert early.next_open(datetime(2026, 3, 28, 12, tzinfo=UTC)) == datetime(2026, 3, 29, 1, 0, tzinfo=UTC)


def test_a_range_inside_a_gap_waits_a_week() -> None:
    lost = window({"sun": [["02:10", "02:50"]]}, "Europe/Berlin")
    assert lost.next_open(datetime(2026, 3, 28, 12, tzinfo=UTC)) == datetime(2026, 4, 5, 0, 10, tzinfo=UTC)


def test_a_repeated_hour_is_open_twice() -> None:
    twice = window({"sun": [["02:00", "02:30"]]}, "Europe/Berlin")
    assert twice.next_open(datetime(2026, 10, 25, 0, 45, tzinfo=UTC)) == datetime(
        2026, 10, 25, 1, 0, tzinfo=UTC
    )


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (None, ["window_malformed"]),
        ([], ["window_malformed"]),
        ({"timezone": "UTC"}, ["window_malformed"]),
        ({"timezone": "UTC", "days": []}, ["window_malformed"]),
        ({"days": WEEK}, ["window_timezone_invalid"]),
        ({"timezone": "Mars/Base", "days": WEEK}, ["window_timezone_invalid"]),
        ({"timezone": ["UTC"], "days": WEEK}, ["window_timezone_invalid"]),
        ({"timezone": "UTC", "days": dict.fromkeys(DAYS)}, ["window_never_open"]),
        ({"timezone": "UTC", "days": {}}, ["window_never_open"]),
        ({"timezone": "UTC", "days": {"noday": None}}, ["window_day_unknown"]),
        ({"timezone": "UTC", "days": WEEK, "x": 1}, ["window_key_unknown"]),
        ({"timezone": "UTC", "days": WEEK, "exceptions": {"2026-02-31": None}}, ["window_date_invalid"]),
        ({"timezone": "UTC", "days": WEEK, "exceptions": []}, ["window_malformed"]),
    ],
)
def test_a_bad_window_says_why(raw: object, expected: list[str]) -> None:
    assert why(raw) == expected


@pytest.mark.parametrize(
    ("ranges", "code"),
    [
        ([["22:00", "02:00"]], "window_range_order"),
        ([["09:00", "09:00"]], "window_range_order"),
        ([["24:00", "24:00"]], "window_range_invalid"),
        ([["09:00", "12:00"], ["11:59", "13:00"]], "window_ranges_overlap"),
        ([["09:00", "25:00"]], "window_range_invalid"),
        ([["9:00", "18:00"]], "window_range_invalid"),
        ([["09:00", "18:00\n"]], "window_range_invalid"),
        ([["۰۹:۰۰", "18:00"]], "window_range_invalid"),
        ([["09:00"]], "window_range_invalid"),
        (["09:00", "18:00"], "window_range_invalid"),
        ("09:00-18:00", "window_range_invalid"),
        ([[9, 18]], "window_range_invalid"),
    ],
)
def test_a_bad_range_says_why_and_where(ranges: object, code: str) -> None:
    with pytest.raises(WindowError) as refused:
        window({"sat": ranges})
    assert {(p.code, p.fields["day"]) for p in refused.value.problems} == {(code, "sat")}


def test_all_mistakes_of_a_window_are_named_at_once() -> None:
    raw = {"timezone": "X/Y", "days": {"sat": [["10:00", "09:00"]], "moon": None}}
    assert set(why(raw)) == {"window_timezone_invalid", "window_range_order", "window_day_unknown"}


def test_ranges_that_touch_are_fine() -> None:
    assert window({"sat": [["09:00", "12:00"], ["12:00", "13:00"]]}).is_open(local("2026-05-02T12:00"))


def _spans(minutes: list[int]) -> list[list[str]]:
    edges = sorted(set(minutes))
    texts = [f"{minute // 60:02d}:{minute % 60:02d}" for minute in edges]
    return [list(pair) for pair in zip(texts[::2], texts[1::2], strict=False)]


day_spans = st.lists(st.integers(0, 96).map(lambda quarter: quarter * 15), max_size=6).map(_spans)
weeks = st.fixed_dictionaries(dict.fromkeys(DAYS, day_spans)).filter(lambda days: any(days.values()))
moments = st.datetimes(datetime(2011, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))


@given(weeks, st.sampled_from(ZONES), moments)
def test_the_next_opening_is_open_and_not_before(days: dict[str, Any], name: str, at: datetime) -> None:
    parsed = window(days, name)
    opens = parsed.next_open(at)
    assert opens >= at
    assert parsed.is_open(opens)


@given(weeks, st.sampled_from(ZONES), moments)
def test_what_closes_was_open_until_then(days: dict[str, Any], name: str, at: datetime) -> None:
    parsed = window(days, name)
    opens = parsed.next_open(at)
    closes = parsed.closes_at(opens)
    if closes is not None:
        assert closes > opens
        assert parsed.is_open(closes - timedelta(seconds=1))
        assert not parsed.is_open(closes)


CHANGES = [
    ("Europe/Berlin", datetime(2026, 3, 28, 20, tzinfo=UTC)),
    ("Europe/Berlin", datetime(2026, 10, 24, 20, tzinfo=UTC)),
    ("America/Sao_Paulo", datetime(2018, 11, 3, 20, tzinfo=UTC)),
    ("America/Sao_Paulo", datetime(2018, 2, 17, 20, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2026, 4, 4, 8, tzinfo=UTC)),
    ("Pacific/Apia", datetime(2011, 12, 29, 20, tzinfo=UTC)),
]


@pytest.mark.parametrize(("name", "begin"), CHANGES)
@given(days=weeks, shift=st.integers(0, 40))
def test_around_clock_changes_no_opening_is_missed(
    name: str, begin: datetime, days: dict[str, Any], shift: int
) -> None:
    parsed = window(days, name)
    at = begin + timedelta(minutes=15 * shift)
    opens, closes = parsed.next_open(at), parsed.closes_at(at)
    quarter = at
    while quarter < min(opens, at + timedelta(hours=12)):
        assert not parsed.is_open(quarter)
        quarter += timedelta(minutes=15)
    while closes is not None and quarter < min(closes, at + timedelta(hours=12)):
        assert parsed.is_open(quarter)
        quarter += timedelta(minutes=15)

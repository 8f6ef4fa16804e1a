from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sms.providers.http import CallFault, Reply
from sms.providers.melipayamak_outbox import BEGINNING, PAGE, SLACK, collect, moment, rows_of

NOON = datetime(2026, 11, 30, 8, 30, tzinfo=UTC)
Rows = Sequence[Mapping[str, str]]


def row(number: int, at: datetime, **fields: str) -> dict[str, str]:
    return {
        "msgid": str(number), "senddate": at.isoformat(), "receiver": "9120000001", "body": "سلام",
        "sender": "50004001", **fields,
    }  # fmt: skip


def listing(count: int, *, every: timedelta = timedelta(minutes=1)) -> list[dict[str, str]]:
    """Newest first."""
    return [row(count - n, NOON - n * every) for n in range(count)]


def pages_of(rows: Rows) -> Callable[[int, int], Rows]:
    return lambda first, count: rows[first : first + count]


def test_a_short_list_is_complete_from_the_beginning() -> None:
    found = collect(pages_of(listing(3)), since=NOON, max_pages=5)

    assert (len(found.entries), found.covers_since, found.code) == (3, BEGINNING, "")


def test_an_empty_list_is_complete_too() -> None:
    assert collect(pages_of([]), since=NOON, max_pages=5).covers_since == BEGINNING


def test_a_provider_that_gives_fewer_lines_than_asked_is_read_on() -> None:
    rows = listing(120)
    found = collect(lambda first, _count: rows[first : first + 50], since=BEGINNING, max_pages=9)

    assert (len(found.entries), found.covers_since) == (120, BEGINNING)


def test_a_line_for_several_numbers_names_none() -> None:
    found = collect(pages_of([row(1, NOON, reccount="2")]), since=NOON, max_pages=5)

    assert [entry.to for entry in found.entries] == [""]


def test_pages_are_read_until_the_wanted_time() -> None:
    found = collect(pages_of(listing(1000)), since=NOON - timedelta(hours=3), max_pages=9)

    assert len(found.entries) < 300
    assert found.covers_since is not None
    assert found.covers_since <= NOON - timedelta(hours=3)


def test_a_list_that_is_too_long_is_complete_as_far_as_it_was_read() -> None:
    found = collect(pages_of(listing(1000)), since=NOON - timedelta(days=9), max_pages=2)

    assert (found.code, len(found.entries)) == ("outbox_long", 2 * PAGE - 1)
    assert found.covers_since == NOON - timedelta(minutes=2 * PAGE - 2) + SLACK


def test_lines_that_come_while_it_is_read_leave_no_gap() -> None:
    rows = listing(250)
    newer = [row(1000 + n, NOON + timedelta(seconds=n)) for n in range(50, 0, -1)]

    def ask(first: int, count: int) -> Rows:
        shown = rows if first == 0 else [*newer, *rows]
        return shown[first : first + count]

    found = collect(ask, since=BEGINNING, max_pages=9)

    assert found.covers_since == BEGINNING
    assert {f"{n}" for n in range(1, 251)} <= {entry.reference for entry in found.entries}


def test_more_new_lines_than_a_page_leave_a_gap() -> None:
    rows = listing(250)
    newer = [row(1000 + n, NOON + timedelta(seconds=n)) for n in range(150, 0, -1)]

    def ask(first: int, count: int) -> Rows:
        shown = rows if first == 0 else [*newer, *rows]
        return shown[first : first + count]

    found = collect(ask, since=BEGINNING, max_pages=9)

    assert (found.covers_since, found.code) == (None, "outbox_gap")


@pytest.mark.parametrize(
    "bad",
    [{"senddate": "soon"}, {"senddate": ""}, {"msgid": ""}, {"senddate": (NOON + timedelta(1)).isoformat()}],
)
def test_a_line_that_cannot_be_read_or_is_out_of_order_proves_nothing_missing(bad: dict[str, str]) -> None:
    rows = listing(3)
    rows[1] |= bad

    found = collect(pages_of(rows), since=BEGINNING, max_pages=5)

    assert (found.covers_since, found.code) == (None, "outbox_unreadable")


def test_a_fault_on_a_later_page_proves_nothing_missing() -> None:
    rows = listing(150)

    def ask(first: int, count: int) -> Any:
        return rows[:count] if first == 0 else "answer_timeout"

    found = collect(ask, since=BEGINNING, max_pages=5)

    assert (len(found.entries), found.covers_since, found.code) == (PAGE, None, "answer_timeout")


def test_only_long_numbers_are_ids() -> None:
    rows = [row(7, NOON, recid="5243690627088685351"), row(6, NOON)]

    found = collect(pages_of(rows), since=NOON, max_pages=1)

    assert [entry.message_id for entry in found.entries] == ["5243690627088685351", ""]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-11-30T12:00:00", NOON), ("2026-11-30T12:00:00.123", NOON.replace(microsecond=123000)),
        ("2026-11-30T08:30:00+00:00", NOON), (f"/Date({int(NOON.timestamp()) * 1000})/", NOON),
        ("30/11/2026", None), ("", None), ("/Date(999999999999999)/", None),
    ],
)  # fmt: skip
def test_times_of_the_panel_are_read(text: str, at: datetime | None) -> None:
    assert moment(text) == at


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"MyBase": {"RetStatus": 0}, "Data": None}, 200, "0"),
        ({"MyBase": {"RetStatus": 35}, "Data": []}, 200, "unlisted"),
        ({"MyBase": {"RetStatus": 1}, "Data": None}, 200, "unreadable_answer"),
        ({"MyBase": {"RetStatus": 1}, "Data": [1]}, 200, "unreadable_answer"),
        ({"Data": []}, 200, "unlisted"),
        ([], 200, "unreadable_answer"),
        ({}, 503, "http_503"),
    ],
)
def test_an_answer_that_is_no_list_says_why(body: object, status: int, code: str) -> None:
    assert rows_of(Reply(status=status, body=json.dumps(body).encode())) == code


def test_a_call_that_failed_says_why() -> None:
    assert rows_of(CallFault(code="answer_timeout", detail="")) == "answer_timeout"


def test_ids_beyond_a_floats_reach_stay_exact() -> None:
    document = {"MyBase": {"RetStatus": 1}, "Data": [{"MsgID": 5243690627088685351, "Body": "x"}]}

    rows = rows_of(Reply(status=200, body=json.dumps(document).encode()))

    assert rows == [{"msgid": "5243690627088685351", "body": "x"}]

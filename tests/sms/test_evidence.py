from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sms.evidence import Case, Ours, Verdict, judge
from sms.types import Outbox, OutboxEntry, Outcome

NOON = datetime(2026, 11, 30, 8, 30, tzinfo=UTC)
LATER = NOON + timedelta(minutes=30)
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def ours(number: int = 1, **fields: Any) -> Ours:
    values = {
        "to": "09120000001",
        "text": "سلام",
        "sender": "50004001",
        "requested_at": NOON,
        "is_open": True,
    }
    return Ours(log_id=number, **{**values, **fields})


def entry(number: int = 1, **fields: Any) -> OutboxEntry:
    values = {
        "message_id": f"47000000000000000{number:02d}", "to": "9120000001", "text": "سلام",
        "sender": "50004001", "sent_at": NOON + timedelta(seconds=2),
    }  # fmt: skip
    return OutboxEntry(reference=str(number), **{**values, **fields})


def proof(**fields: Any) -> OutboxEntry:
    """A line that shows the list to be newer than the message."""
    values = {"to": "9120000099", "text": "later", "sent_at": NOON + timedelta(minutes=6)}
    return entry(99, **{**values, **fields})


def outbox(*entries: OutboxEntry, covers: datetime | None = LONG_AGO) -> Outbox:
    return Outbox(outcome=Outcome.ACCEPTED, entries=entries, covers_since=covers)


def judged(
    box: Outbox, *, message: Ours | None = None, others: tuple[Ours, ...] = (),
    witnesses: tuple[Ours, ...] = (), at: datetime = LATER,
) -> tuple[Verdict, str]:  # fmt: skip
    case = Case(
        message=message or ours(), others=others, witnesses=witnesses,
        taken_within=timedelta(minutes=5), absent_after=timedelta(minutes=15),
    )  # fmt: skip
    found = judge(case, box, at)
    return found.verdict, found.why


def test_one_line_with_number_text_and_time_proves_that_it_was_taken() -> None:
    assert judged(outbox(entry())) == (Verdict.ACCEPTED, "listed")


@pytest.mark.parametrize("text", ["سلام\r\n", " سلام ", "سلام"])
def test_line_ends_and_spaces_of_a_text_do_not_matter(text: str) -> None:
    assert judged(outbox(entry(text=text)))[0] is Verdict.ACCEPTED


def test_a_complete_list_without_it_proves_that_it_was_not_taken() -> None:
    assert judged(outbox(proof())) == (Verdict.ABSENT, "not_listed")


def test_other_numbers_do_not_count() -> None:
    assert judged(outbox(proof(), entry(to="9120000002")))[0] is Verdict.ABSENT


@pytest.mark.parametrize("covers", [None, NOON, NOON - timedelta(minutes=9)])
def test_a_list_that_does_not_reach_back_proves_nothing(covers: datetime | None) -> None:
    assert judged(outbox(covers=covers))[0] is Verdict.UNDECIDED
    assert judged(outbox(entry(), covers=covers))[0] is Verdict.UNDECIDED


def test_two_equal_lines_are_ambiguous() -> None:
    assert judged(outbox(entry(1), entry(2))) == (Verdict.UNDECIDED, "equal_texts")


def test_two_equal_open_messages_and_one_line_are_ambiguous() -> None:
    twin = ours(2, requested_at=NOON + timedelta(minutes=1))

    assert judged(outbox(entry()), others=(twin,)) == (Verdict.UNDECIDED, "equal_texts")


def test_two_equal_open_messages_and_no_line_are_both_absent() -> None:
    assert judged(outbox(proof()), others=(ours(2),))[0] is Verdict.ABSENT


def test_the_line_of_another_known_message_is_not_ours() -> None:
    known = ours(2, message_id="4700000000000000001", is_open=False)

    assert judged(outbox(proof(), entry(1)), others=(known,))[0] is Verdict.ABSENT
    assert judged(outbox(entry(1), entry(2)), others=(known,))[0] is Verdict.ACCEPTED


def test_an_equal_known_message_that_is_not_listed_leaves_it_open() -> None:
    known = ours(2, message_id="4700000000000000099", is_open=False)

    assert judged(outbox(entry(1)), others=(known,))[0] is Verdict.UNDECIDED
    assert judged(outbox(), others=(known,)) == (Verdict.UNDECIDED, "list_incomplete")


def test_a_line_to_the_number_with_another_text_might_be_ours_altered() -> None:
    assert judged(outbox(entry(text="سلام\nلغو11"))) == (Verdict.UNDECIDED, "listed_otherwise")


def test_a_line_with_the_text_of_another_message_of_ours_is_explained() -> None:
    other = ours(2, text="خبر", message_id="77", is_open=False)

    assert judged(outbox(proof(), entry(text="خبر")), others=(other,))[0] is Verdict.ABSENT


def test_a_line_from_another_sender_is_not_proof() -> None:
    assert judged(outbox(entry(sender="30007002")))[0] is Verdict.UNDECIDED


def test_a_clock_that_is_hours_off_decides_nothing() -> None:
    box = outbox(entry(sent_at=NOON - timedelta(hours=3, minutes=30)))

    assert judged(box) == (Verdict.UNDECIDED, "listed_otherwise")


def test_absence_is_not_concluded_too_early() -> None:
    assert judged(outbox(proof()), at=NOON + timedelta(minutes=14)) == (Verdict.UNDECIDED, "too_early")


def test_a_short_look_back_needs_a_witness() -> None:
    near = NOON - timedelta(minutes=30)
    witness = ours(7, to="09120000009", message_id="4700000000000000009", is_open=False)
    listed = entry(9, to="9120000009")

    assert judged(outbox(covers=near)) == (Verdict.UNDECIDED, "clock_not_checked")
    assert judged(outbox(proof(), listed, covers=near), witnesses=(witness,))[0] is Verdict.ABSENT


def test_a_witness_that_is_not_listed_discredits_the_list() -> None:
    witness = ours(7, to="09120000009", text="x", message_id="4700000000000000009", is_open=False)

    assert judged(outbox(), witnesses=(witness,)) == (Verdict.UNDECIDED, "list_incomplete")


def test_a_witness_with_another_time_discredits_the_clock() -> None:
    witness = ours(7, to="09120000009", message_id="4700000000000000009", is_open=False)
    listed = entry(9, to="9120000009", sent_at=NOON + timedelta(hours=1))

    assert judged(outbox(listed), witnesses=(witness,)) == (Verdict.UNDECIDED, "clocks_differ")


def test_an_empty_list_proves_no_absence() -> None:
    assert judged(outbox()) == (Verdict.UNDECIDED, "list_not_fresh")


def test_a_list_whose_newest_line_is_older_proves_no_absence() -> None:
    older = entry(8, to="9120000008", sent_at=NOON - timedelta(minutes=1))

    assert judged(outbox(older)) == (Verdict.UNDECIDED, "list_not_fresh")


def test_lines_of_another_sender_vouch_for_nothing() -> None:
    assert judged(outbox(proof(sender="30007002"))) == (Verdict.UNDECIDED, "list_not_fresh")


@pytest.mark.parametrize("to", ["", "0912***0001", "9120000002,9120000001,9120000003", "2 numbers"])
def test_a_line_whose_number_cannot_be_read_proves_no_absence(to: str) -> None:
    assert judged(outbox(proof(), entry(5, to=to, text="x"))) == (Verdict.UNDECIDED, "listed_otherwise")


def test_a_witness_whose_line_names_another_number_discredits_the_list() -> None:
    witness = ours(7, to="09120000009", message_id="4700000000000000009", is_open=False)

    box = outbox(proof(), entry(9, to="9120000077"))
    assert judged(box, witnesses=(witness,)) == (Verdict.UNDECIDED, "list_incomplete")

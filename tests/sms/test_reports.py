from __future__ import annotations

import itertools
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from sms.models import SmsLog, SmsLogEvent, SmsStatus, UnmatchedReport
from sms.reports import MAX_UNMATCHED, ingest_reports, match_waiting, storable
from sms.transitions import LADDER, furthest
from sms.types import DeliveryReport, DeliveryStatus
from tests.clocks import MovableClock
from tests.sms.messages import make_log, status_of
from workspaces.models import Workspace

ID = "4700000000000000007"


def report(word: str, message_id: str = ID) -> DeliveryReport:
    status = DeliveryStatus(word) if word in set(map(str, DeliveryStatus)) else DeliveryStatus.UNKNOWN
    return DeliveryReport(
        provider_message_id=message_id,
        status=status,
        provider_status=word,
        raw={"message_id": message_id, "status": word},
    )


@pytest.mark.parametrize("word", ["sent", "delivered", "undelivered", "failed", "rejected"])
def test_a_report_moves_its_message(workspace: Workspace, word: str) -> None:
    row = make_log(workspace, ID)

    done = ingest_reports(workspace.pk, [report(word)])

    assert (done.matched, done.moved) == (1, 1)
    assert status_of(row) == word


@pytest.mark.parametrize("word", ["pending", "unknown", "opened"])
def test_a_word_that_settles_nothing_is_history_only(workspace: Workspace, word: str) -> None:
    row = make_log(workspace, ID)

    ingest_reports(workspace.pk, [report(word)])

    assert status_of(row) == SmsStatus.SUBMITTED
    assert SmsLogEvent.objects.get().provider_status == word


def test_a_late_report_adds_history_and_moves_nothing_back(workspace: Workspace) -> None:
    row = make_log(workspace, ID)

    ingest_reports(workspace.pk, [report("delivered")])
    ingest_reports(workspace.pk, [report("sent")])

    assert status_of(row) == SmsStatus.DELIVERED
    assert [e.provider_status for e in SmsLogEvent.objects.order_by("pk")] == ["delivered", "sent"]


def test_a_repeated_report_is_stored_once(workspace: Workspace) -> None:
    make_log(workspace, ID)

    for _ in range(3):
        ingest_reports(workspace.pk, [report("delivered"), report("delivered")])

    assert SmsLogEvent.objects.count() == 1


def test_the_providers_word_and_answer_are_kept(workspace: Workspace, clock: MovableClock) -> None:
    make_log(workspace, ID)

    ingest_reports(workspace.pk, [report("failed")])

    event = SmsLogEvent.objects.get()
    assert event.payload == {"message_id": ID, "status": "failed"}
    assert (event.provider_status, event.occurred_at) == ("failed", clock.now())


def test_proof_of_delivery_stands_above_a_report_of_failure(workspace: Workspace) -> None:
    row = make_log(workspace, ID)

    ingest_reports(workspace.pk, [report("failed")])
    ingest_reports(workspace.pk, [report("delivered")])

    assert status_of(row) == SmsStatus.DELIVERED


@given(st.permutations(["sent", "delivered", "undelivered", "failed", "rejected", "pending", "unknown"]))
def test_the_order_of_reports_does_not_change_where_a_message_ends(words: list[str]) -> None:
    stands = SmsStatus.SUBMITTED
    for word in words:
        goal = furthest([DeliveryStatus(word)])
        if goal and LADDER.index(goal) > LADDER.index(stands):
            stands = goal

    assert stands == furthest(DeliveryStatus(word) for word in words)


@pytest.mark.parametrize("words", list(itertools.permutations(["sent", "undelivered", "rejected"])))
def test_every_order_ends_on_the_same_step(workspace: Workspace, words: tuple[str, ...]) -> None:
    row = make_log(workspace, ID)
    for word in words:
        ingest_reports(workspace.pk, [report(word)])

    assert status_of(row) == SmsStatus.REJECTED


@pytest.mark.parametrize("status", [s for s in SmsStatus if s not in LADDER], ids=str)
def test_a_message_that_did_not_go_out_is_not_moved(workspace: Workspace, status: str) -> None:
    row = make_log(workspace, ID, status=status)

    ingest_reports(workspace.pk, [report("delivered")])

    assert status_of(row) == status


def test_another_workspaces_message_of_the_same_id_is_untouched(
    workspace: Workspace, other_workspace: Workspace
) -> None:
    theirs = make_log(other_workspace, ID)
    ours = make_log(workspace, ID)

    ingest_reports(workspace.pk, [report("delivered")])

    assert (status_of(ours), status_of(theirs)) == (SmsStatus.DELIVERED, SmsStatus.SUBMITTED)
    assert SmsLogEvent.unscoped.filter(workspace=other_workspace).count() == 0


def test_a_report_for_somebody_elses_message_waits_with_us(
    workspace: Workspace, other_workspace: Workspace
) -> None:
    theirs = make_log(other_workspace, ID)

    ingest_reports(workspace.pk, [report("delivered")])

    assert status_of(theirs) == SmsStatus.SUBMITTED
    assert UnmatchedReport.objects.get().workspace_id == workspace.pk


def test_an_id_that_names_two_messages_moves_neither(workspace: Workspace) -> None:
    rows = [make_log(workspace, ID), make_log(workspace, ID)]

    ingest_reports(workspace.pk, [report("delivered")])

    assert {status_of(row) for row in rows} == {SmsStatus.SUBMITTED}
    assert SmsLogEvent.objects.count() == 2


def test_a_report_that_comes_before_the_id_is_on_record_is_matched_later(
    workspace: Workspace, clock: MovableClock
) -> None:
    ingest_reports(workspace.pk, [report("delivered")])
    row = make_log(workspace, ID)

    used = match_waiting(clock.advance(minutes=1))

    assert used == 1
    assert status_of(row) == SmsStatus.DELIVERED
    assert UnmatchedReport.objects.count() == 0


def test_a_report_that_nobody_ever_matches_is_dropped_in_the_end(
    workspace: Workspace, clock: MovableClock
) -> None:
    ingest_reports(workspace.pk, [report("delivered")])

    match_waiting(clock.advance(hours=71))
    assert UnmatchedReport.objects.count() == 1
    match_waiting(clock.advance(hours=2))
    assert UnmatchedReport.objects.count() == 0


def test_a_flood_of_invented_ids_is_not_kept(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sms.reports.MAX_UNMATCHED", 2)
    assert MAX_UNMATCHED > 2
    for n in range(4):
        ingest_reports(workspace.pk, [report("sent", f"invented-{n}")])

    assert UnmatchedReport.objects.count() == 2


@pytest.mark.parametrize("message_id", ["", "x" * 41, "a\x00b", "\ud800", "a\nb"])
def test_what_can_be_no_id_is_left_out(workspace: Workspace, message_id: str) -> None:
    ingest_reports(workspace.pk, [report("sent", message_id)])

    assert UnmatchedReport.objects.count() == 0


def test_a_final_report_ends_the_polling(workspace: Workspace, clock: MovableClock) -> None:
    open_row = make_log(workspace, "1" * 19, poll_at=clock.now() + timedelta(hours=1))
    done_row = make_log(workspace, "2" * 19, poll_at=clock.now() + timedelta(hours=1))

    ingest_reports(workspace.pk, [report("sent", "1" * 19), report("delivered", "2" * 19)])

    assert SmsLog.objects.get(pk=open_row.pk).poll_at is not None
    assert SmsLog.objects.get(pk=done_row.pk).poll_at is None


def test_the_number_of_statements_does_not_grow_with_the_reports(workspace: Workspace) -> None:
    counts = []
    for size in (2, 40):
        ids = [make_log(workspace, f"47{size:02}{n:015}").provider_message_id for n in range(size)]
        with CaptureQueriesContext(
            connection,
        ) as queries:
            ingest_reports(workspace.pk, [report("delivered", one) for one in ids])
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 6


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("a\x00b", "a\ufffdb"),
        ("\ud800", "?"),
        (float("inf"), "inf"),
        ({"a\x00": [1, {"b": "\x00"}]}, {"a\ufffd": [1, {"b": "\ufffd"}]}),
        ([None, True, 1, 1.5, "x"], [None, True, 1, 1.5, "x"]),
    ],
)
def test_what_no_database_can_hold_is_made_storable(value: object, kept: object) -> None:
    assert storable(value) == kept

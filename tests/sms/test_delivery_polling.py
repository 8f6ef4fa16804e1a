from __future__ import annotations

import itertools
import json
import time
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core import queue
from core.locks import named_lock
from core.tenancy import workspace_scope
from sms import delivery
from sms.delivery import LOCK, next_poll, poll_due
from sms.models import ProviderAccount, SmsLog, SmsLogEvent, SmsStatus
from sms.reports import ingest_reports
from sms.simulator.server import Simulator
from sms.tasks import POLL_DELIVERIES, ask_for_polling
from sms.types import DeliveryReport, DeliveryStatus, OutboundSms
from tests.clocks import MovableClock
from tests.sms.messages import make_account, make_log, status_of
from tests.sms.simulator_fixture import gateway_to
from workspaces.models import Workspace

START = datetime.fromisoformat("2026-11-30T05:30:00+00:00")
HORIZON = timedelta(hours=72)  # what an installation has unless it says otherwise


def sent(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, number: str, at: datetime
) -> SmsLog:
    """A message that the simulated provider really took, due to be asked about."""
    result = gateway_to(simulator.url).send(OutboundSms(to=number, text="hello"), deadline_s=5)
    message_id = result.provider_message_id or ""
    return make_log(
        workspace, message_id, phone_number=number, provider_account_id=account.pk, poll_at=at, request_at=at
    )


@pytest.fixture
def account(workspace: Workspace, simulator: Simulator) -> ProviderAccount:
    return make_account(workspace, simulator.url)


def test_a_due_message_is_asked_about_and_moves(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    simulator.behave({"delivery": {"after_s": 0, "numbers": {"09120000002": "blacklist"}}})
    rows = [sent(workspace, simulator, account, f"0912000000{n}", clock.now()) for n in (1, 2)]

    report = poll_due(clock.now())

    assert (report.asked, report.answered, report.moved) == (2, 2, 2)
    assert [status_of(row) for row in rows] == [SmsStatus.DELIVERED, SmsStatus.REJECTED]
    assert [e.provider_status for e in SmsLogEvent.objects.order_by("sms_log_id")] == ["1", "35"]


def test_a_settled_message_is_never_asked_about_again(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    simulator.behave({"delivery": {"after_s": 0}})
    row = sent(workspace, simulator, account, "09120000001", clock.now())

    poll_due(clock.now())

    assert SmsLog.objects.get(pk=row.pk).poll_at is None
    assert poll_due(clock.advance(hours=1)).asked == 0


def test_a_message_on_its_way_is_asked_about_less_and_less_often(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    simulator.behave({"delivery": {"shares": {"silent": 1}}})
    row = sent(workspace, simulator, account, "09120000001", clock.now())
    looks = []
    while (due := SmsLog.objects.get(pk=row.pk).poll_at) is not None:
        clock.move_to(due)
        looks.append(due - START)
        poll_due(clock.now())

    gaps = [later - earlier for earlier, later in itertools.pairwise(looks)]
    assert gaps[:6] == [timedelta(minutes=m) for m in (5, 15, 60, 180, 360, 720)]
    assert looks[-1] == HORIZON
    assert len(looks) < 16
    assert status_of(row) == SmsStatus.SENT


def test_the_same_answer_many_times_is_one_event(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    simulator.behave({"delivery": {"after_s": 0, "shares": {"silent": 1}}})
    sent(workspace, simulator, account, "09120000001", clock.now())

    for _ in range(3):
        poll_due(clock.advance(hours=5))

    assert SmsLogEvent.objects.count() == 1


@pytest.mark.parametrize("polls", range(20))
def test_the_next_look_is_later_and_never_past_the_horizon(polls: int) -> None:
    at = next_poll(polls, START + timedelta(hours=1), START + HORIZON)

    assert at is not None
    assert START + timedelta(hours=1) < at <= START + HORIZON
    assert next_poll(polls, START + HORIZON, START + HORIZON) is None


def test_a_message_without_a_date_or_an_account_is_left_alone(
    workspace: Workspace, simulator: Simulator, clock: MovableClock
) -> None:
    make_log(workspace, "1" * 19)
    orphan = make_log(workspace, "2" * 19, poll_at=clock.now())

    assert poll_due(clock.now()).asked == 0
    assert SmsLog.objects.get(pk=orphan.pk).poll_at == clock.now() + timedelta(minutes=5)


def test_an_account_that_is_switched_off_is_not_asked(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    sent(workspace, simulator, account, "09120000001", clock.now())
    ProviderAccount.objects.update(is_active=False)

    assert poll_due(clock.now()).asked == 0


def test_a_closed_channel_is_not_knocked_at(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    ProviderAccount.objects.update(paused_until=clock.now() + timedelta(minutes=30))
    sent(workspace, simulator, account, "09120000001", clock.now())

    assert poll_due(clock.now()).asked == 0
    assert poll_due(clock.advance(minutes=31)).asked == 1


def test_a_provider_that_does_not_answer_is_left_after_a_few_questions(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("sms.delivery.MAX_AT_ONCE", 1)
    rows = [sent(workspace, simulator, account, f"091200000{n:02}", clock.now()) for n in range(10)]
    simulator.behave({"rules": [{"do": "http", "when": {"method": "GetDeliveries2"}}]})

    report = poll_due(clock.now())

    assert (report.asked, report.answered) == (3, 0)
    due_soon = SmsLog.objects.filter(poll_at=clock.now() + timedelta(minutes=1)).count()
    assert due_soon == 7
    assert {status_of(row) for row in rows} == {SmsStatus.SUBMITTED}


def test_an_account_is_asked_no_faster_than_the_installation_allows(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock, settings: Any
) -> None:
    settings.SMS_QUESTIONS_PER_SECOND = 50
    for n in range(6):
        sent(workspace, simulator, account, f"091200000{n:02}", clock.now())
    begun = time.monotonic()

    assert poll_due(clock.now()).asked == 6
    assert time.monotonic() - begun >= 5 / 50


def test_one_workspaces_broken_account_does_not_stop_anothers(
    workspace: Workspace,
    other_workspace: Workspace,
    simulator: Simulator,
    clock: MovableClock,
    tmp_path: Path,
) -> None:
    simulator.behave({"delivery": {"after_s": 0}})
    broken = make_account(workspace, simulator.url, credentials={"username": "x", "password": "y"})
    working = make_account(other_workspace, simulator.url)
    ours = [sent(workspace, simulator, broken, f"0912000000{n}", clock.now()) for n in range(5)]
    theirs = [sent(other_workspace, simulator, working, f"0913000000{n}", clock.now()) for n in range(5)]

    poll_due(clock.now())

    assert {status_of(row) for row in ours} == {SmsStatus.SUBMITTED}
    assert {status_of(row) for row in theirs} == {SmsStatus.DELIVERED}


def test_an_answer_goes_to_the_asked_message_even_if_another_workspace_has_its_id(
    workspace: Workspace, other_workspace: Workspace, simulator: Simulator, account: ProviderAccount,
    clock: MovableClock,
) -> None:  # fmt: skip
    simulator.behave({"delivery": {"after_s": 0}})
    row = sent(workspace, simulator, account, "09120000001", clock.now())
    twin = make_log(other_workspace, row.provider_message_id)

    poll_due(clock.now())

    assert (status_of(row), status_of(twin)) == (SmsStatus.DELIVERED, SmsStatus.SUBMITTED)


def test_a_poll_never_moves_a_message_back(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    simulator.behave({"delivery": {"after_s": 0, "shares": {"silent": 1}}})
    row = sent(workspace, simulator, account, "09120000001", clock.now())
    final = DeliveryReport(
        provider_message_id=row.provider_message_id,
        status=DeliveryStatus.DELIVERED,
        provider_status="delivered",
    )
    due = delivery._due(clock.now(), 10)  # this round has begun
    ingest_reports(workspace.pk, [final])  # when the webhook is faster
    delivery._schedule(due, clock.now())

    poll_due(clock.advance(days=1))

    assert status_of(row) == SmsStatus.DELIVERED
    assert SmsLog.objects.get(pk=row.pk).poll_at is None


def test_only_one_process_polls_at_a_time(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    sent(workspace, simulator, account, "09120000001", clock.now())
    with named_lock(LOCK):
        report = poll_due(clock.now())

    assert report.busy
    assert report.asked == 0


def test_the_number_of_statements_does_not_grow_with_the_messages(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    simulator.behave({"delivery": {"after_s": 0}})
    counts = []
    for n in (2, 30):
        for i in range(n):
            sent(workspace, simulator, account, f"091{n:02}000{i:03}", clock.now())
        with CaptureQueriesContext(connection) as queries:
            assert poll_due(clock.now()).moved == n
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_the_oldest_due_messages_are_asked_about_first(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    simulator.behave({"delivery": {"after_s": 0}})
    late = sent(workspace, simulator, account, "09120000001", clock.now())
    early = sent(workspace, simulator, account, "09120000002", clock.now() - timedelta(minutes=5))

    poll_due(clock.now(), limit=1)

    assert (status_of(early), status_of(late)) == (SmsStatus.DELIVERED, SmsStatus.SUBMITTED)


def test_the_command_works_until_nothing_is_due(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    simulator.behave({"delivery": {"after_s": 0}})
    for n in range(5):
        sent(workspace, simulator, account, f"0912000000{n}", clock.now())
    out = StringIO()

    call_command("sms_poll_deliveries", "--json", "--limit", "2", stdout=out)

    totals = json.loads(out.getvalue())
    assert (totals["asked"], totals["moved"], totals["busy"]) == (5, 5, False)


def test_the_tick_puts_a_round_into_the_queue_when_a_message_is_due(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    simulator.behave({"delivery": {"after_s": 0}})
    assert ask_for_polling(clock.now()) == {}
    row = sent(workspace, simulator, account, "09120000001", clock.now())

    assert ask_for_polling(clock.now()) == {"sms_polls": 1}  # the queue of the tests works at once
    assert status_of(row) == SmsStatus.DELIVERED


def test_rounds_do_not_pile_up_before_a_queue_that_nobody_works(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    queued: list[str] = []
    monkeypatch.setattr("sms.tasks.enqueue", lambda name, payload, group: queued.append(name))
    sent(workspace, simulator, account, "09120000001", clock.now())

    for _minute in range(12):
        ask_for_polling(clock.now())
        clock.advance(minutes=1)

    assert queued == ["sms.poll_deliveries"] * 2


def test_a_broker_that_is_away_does_not_fail_the_tick(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def away(name: str, payload: object, group: str) -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr("sms.tasks.enqueue", away)
    sent(workspace, simulator, account, "09120000001", clock.now())

    assert ask_for_polling(clock.now()) == {}


@pytest.mark.django_db
def test_the_command_runs_on_an_empty_database() -> None:
    out = StringIO()

    call_command("sms_poll_deliveries", stdout=out)

    assert out.getvalue() == "asked 0, answered 0, moved 0\n"


def test_the_task_polls_under_its_stable_name(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    simulator.behave({"delivery": {"after_s": 0}})
    row = sent(workspace, simulator, account, "09120000001", clock.now())

    assert POLL_DELIVERIES == "sms.poll_deliveries"
    with workspace_scope(workspace.pk):
        queue.run("sms.poll_deliveries", {})

    assert status_of(row) == SmsStatus.DELIVERED

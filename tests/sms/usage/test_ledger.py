"""The ledger: one row for each accepted message, none for any other, and never a condition of sending."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import Sum
from django.test.utils import CaptureQueriesContext

from automation.models import DailyCounter
from core.tenancy import HistoryIsAppendOnly, workspace_scope
from sms.models import SmsLog, SmsStatus, SmsUsage
from sms.reports import ingest_reports
from sms.simulator.server import Simulator
from sms.trial import send_test
from sms.types import DeliveryReport, DeliveryStatus, OutboundSms, Outcome, SendResult
from sms.usage import ledger
from tests.clocks import MovableClock
from tests.factories import make
from tests.refusing import refusing_rows
from tests.scenario import Scenario, accept, outcome, send
from tests.sms.messages import make_account, make_log
from tests.sms.simulator_fixture import LINE
from workspaces.models import User, Workspace

pytestmark = pytest.mark.django_db
Answer = Callable[[OutboundSms, int], SendResult]


@pytest.fixture(autouse=True)
def _standing_still(workspace: Workspace, clock: MovableClock) -> None:
    """In a workspace, at one moment."""


def sent(text: str = "سلام", *, people: int = 1, answer: Answer | None = None) -> Scenario:
    scenario = Scenario(send(text), people=people, cap=100)
    scenario.provider.answer = answer
    scenario.settle()
    return scenario


def test_an_accepted_message_has_one_row(clock: MovableClock) -> None:
    scenario = sent()

    (message,) = scenario.logs()
    row = SmsUsage.objects.get()
    assert row.sms_log_id == message.pk
    assert (row.event_type, row.message_count, row.sms_count, row.counted_parts) == ("automation", 1, 1, 1)
    assert (row.campaign_id, row.line, row.provider) == (scenario.campaign.pk, "50001", "double")
    assert row.script == "ucs2"


def test_the_row_tells_when_the_provider_accepted(clock: MovableClock) -> None:
    scenario = Scenario(send())

    def later(_sms: OutboundSms, _tries: int) -> SendResult:
        clock.advance(seconds=7)
        return accept()

    scenario.provider.answer = later
    scenario.settle()

    assert SmsUsage.objects.get().sent_on == scenario.logs()[0].response_at


@pytest.mark.parametrize(
    "kind", [kind for kind in Outcome if kind is not Outcome.ACCEPTED], ids=lambda kind: str(kind)
)
def test_a_message_that_was_not_accepted_has_none(kind: Outcome) -> None:
    scenario = sent(answer=lambda _sms, _tries: outcome(kind))

    assert (len(scenario.logs()), SmsUsage.objects.count()) == (1, 0)


def test_a_gateway_that_raises_leaves_none() -> None:
    def broken(_sms: OutboundSms, _tries: int) -> SendResult:
        raise RuntimeError("no answer")

    sent(answer=broken)

    assert not SmsUsage.objects.exists()


def test_a_person_without_a_mobile_leaves_none() -> None:
    scenario = Scenario(send())
    scenario.targets[0].mobile, scenario.targets[0].landline = "", "02122334455"
    scenario.targets[0].save()
    scenario.settle()

    assert (scenario.logs()[0].status, SmsUsage.objects.count()) == (SmsStatus.SKIPPED, 0)


@pytest.mark.parametrize(
    ("text", "reported", "parts", "counted"),
    [
        ("a" * 200, None, 2, 2),
        ("a" * 10, 5, 5, 1),
        ("a" * 200, 2, 2, 2),
        ("م" * 200, None, 3, 3),
        ("م", 0, 1, 1),
    ],
)
def test_parts_are_those_reported_else_counted(
    text: str, reported: int | None, parts: int, counted: int
) -> None:
    def answer(_sms: OutboundSms, _tries: int) -> SendResult:
        return SendResult(outcome=Outcome.ACCEPTED, provider_message_id="5243690627088685351", parts=reported)

    sent(text, answer=answer)

    row = SmsUsage.objects.get()
    assert (row.message_count, row.sms_count, row.counted_parts) == (1, parts, counted)


def test_a_report_that_comes_later_changes_nothing(workspace: Workspace) -> None:
    message = sent().logs()[0]
    for status in (DeliveryStatus.DELIVERED, DeliveryStatus.DELIVERED, DeliveryStatus.FAILED):
        report = DeliveryReport(
            provider_message_id=message.provider_message_id, status=status, provider_status=status
        )
        ingest_reports(workspace.pk, [report])
    ledger.enter_messages([message.pk])

    assert SmsUsage.objects.count() == 1


def test_a_message_proven_accepted_later_gets_its_row(workspace: Workspace) -> None:
    message = sent(answer=lambda _sms, _tries: outcome(Outcome.IN_DOUBT)).logs()[0]
    SmsLog.objects.filter(pk=message.pk).update(status=SmsStatus.SENT)
    for _ in range(2):
        ledger.enter_messages([message.pk])

    assert SmsUsage.objects.get().sms_log_id == message.pk


def test_what_is_settled_days_later_was_accepted_when_it_was_asked_for(
    workspace: Workspace, clock: MovableClock
) -> None:
    asked = clock.at
    settled = clock.advance(days=2)
    message = make_log(workspace, "1", request_at=asked, response_at=settled)
    ledger.enter_messages([message.pk])

    assert SmsUsage.objects.get().sent_on == asked


def test_a_simulated_send_is_not_billed(workspace: Workspace) -> None:
    message = make_log(workspace, provider="stdout")
    ledger.enter_messages([message.pk])

    assert not SmsUsage.objects.exists()
    assert not list(ledger.missing())


def test_a_ledger_that_cannot_be_written_changes_no_outcome(caplog: pytest.LogCaptureFixture) -> None:
    with refusing_rows("sms_smsusage"):
        scenario = sent(people=3)

    assert {row.status for row in scenario.logs()} == {SmsStatus.SUBMITTED}
    assert scenario.statuses() == {"completed": 3}
    assert not SmsUsage.objects.exists()
    (record,) = [r for r in caplog.records if "usage_not_written" in r.getMessage()]
    assert str(scenario.logs()[0].pk) in record.getMessage()


def test_a_chunk_writes_its_rows_in_one_statement(workspace: Workspace) -> None:
    costs = []
    for count in (1, 40):
        messages = [make_log(workspace, str(number)) for number in range(count)]
        with CaptureQueriesContext(connection) as queries:
            ledger.enter_messages([message.pk for message in messages])
        costs.append(len(queries))

    assert SmsUsage.objects.count() == 41
    assert costs == [4, 4]  # read, begin, insert, end


def test_the_month_is_summed_from_the_ledger_alone(workspace: Workspace, other_workspace: Workspace) -> None:
    sent("a" * 200, people=2)
    with workspace_scope(other_workspace.pk):
        make(SmsUsage, other_workspace, sms_count=9)

    with CaptureQueriesContext(connection) as queries:
        total = SmsUsage.objects.aggregate(messages=Sum("message_count"), parts=Sum("sms_count"))
    assert total == {"messages": 2, "parts": 4}
    assert "sms_smslog" not in queries[0]["sql"]


def test_the_daily_counter_and_the_ledger_are_fed_from_the_same_acceptance() -> None:
    fates = {0: accept(), 1: outcome(Outcome.REFUSED), 2: outcome(Outcome.IN_DOUBT)}
    sent(people=3, answer=lambda sms, _tries: fates[int(sms.to[-1])])

    used = DailyCounter.objects.get(scope_type="campaign").used
    assert (used, SmsUsage.objects.count()) == (2, 1)


def test_a_test_message_is_billed_too(workspace: Workspace, simulator: Simulator, owner: User) -> None:
    from uuid import uuid4

    account = make_account(workspace, simulator.url)
    send_test(account, to="09123456789", text="hello", sender=LINE, key=uuid4(), user=owner)

    row = SmsUsage.objects.get()
    assert (row.event_type, row.script, row.line, row.campaign_id) == ("test", "gsm7", LINE, None)


def test_a_row_is_neither_changed_nor_deleted(workspace: Workspace) -> None:
    row = make(SmsUsage, workspace)
    for change in (row.save, row.delete, SmsUsage.objects.all().delete):
        with pytest.raises(HistoryIsAppendOnly):
            change()


# -- manage.py reconcile_usage ------------------------------------------------------------------------


def reconcile(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = 0
    try:
        call_command("reconcile_usage", *arguments)
    except SystemExit as exit_:
        status = int(str(exit_.code))
    return status, capsys.readouterr().out


def test_the_command_names_what_is_missing_and_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    with refusing_rows("sms_smsusage"):
        (missing,) = sent().logs()
    sent()

    status, told = reconcile(capsys)

    assert status == 1
    assert told.count("no usage row") == 1
    assert f"message {missing.pk}: no usage row" in told
    assert SmsUsage.objects.count() == 1


def test_the_command_adds_it_once(capsys: pytest.CaptureFixture[str]) -> None:
    with refusing_rows("sms_smsusage"):
        (missing,) = sent("a" * 161).logs()

    first, second = reconcile(capsys, "--fix"), reconcile(capsys, "--fix")

    assert (first[0], second[0]) == (0, 0)
    assert "1 without a usage row, 1 added" in first[1]
    assert "0 without a usage row, 0 added" in second[1]
    row = SmsUsage.objects.get()
    assert (row.sms_log_id, row.sms_count, row.sent_on) == (missing.pk, 2, missing.response_at)


def test_a_repair_that_fails_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with refusing_rows("sms_smsusage"):
        sent()
        status, told = reconcile(capsys, "--fix")

    assert status == 1
    assert "1 without a usage row, 0 added" in told


def test_an_unknown_outcome_is_counted_and_not_added(capsys: pytest.CaptureFixture[str]) -> None:
    sent(answer=lambda _sms, _tries: outcome(Outcome.IN_DOUBT))

    status, told = reconcile(capsys, "--fix")

    assert (status, SmsUsage.objects.count()) == (0, 0)
    assert "1 with an unknown outcome" in told


def test_a_message_that_was_reported_failed_was_accepted_all_the_same(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    make_log(workspace, "17", status=SmsStatus.FAILED)
    make_log(workspace, "", status=SmsStatus.FAILED)

    reconcile(capsys, "--fix")

    assert SmsUsage.objects.count() == 1


def test_the_command_looks_at_one_workspace_when_told_to(
    workspace: Workspace, other_workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    make_log(workspace, "1")
    make_log(other_workspace, "2")

    _status, told = reconcile(capsys, "--workspace", other_workspace.slug)

    assert (other_workspace.slug in told, workspace.slug in told) == (True, False)

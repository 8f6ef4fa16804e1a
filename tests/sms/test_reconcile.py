from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.locks import named_lock
from core.tenancy import workspace_scope
from sms.models import LineRule, ProviderAccount, SmsLog, SmsLogEvent, SmsStatus, SmsUsage
from sms.providers import registry
from sms.providers.melipayamak import MelipayamakGateway
from sms.reconcile import LOCK, Round, next_lookup, reconcile_due
from sms.settlement import FOR_GOOD
from sms.simulator.server import Simulator
from sms.tasks import ask_for_reconciling
from sms.types import OutboundSms
from tests.clocks import MONDAY_MORNING, MovableClock
from tests.sms.messages import make_account, make_log, status_of
from tests.sms.simulator_fixture import LINE, gateway_to
from workspaces.models import Workspace

LOST = {"rules": [{"do": "reset", "accept": True}]}


@pytest.fixture
def account(workspace: Workspace, simulator: Simulator, clock: MovableClock) -> ProviderAccount:
    return make_account(workspace, simulator.url)


def unknown(
    account: ProviderAccount, clock: MovableClock, *, to: str = "09120000001", **fields: Any
) -> SmsLog:
    """A message whose answer was lost just now."""
    with workspace_scope(account.workspace_id):
        return make_log(
            account.workspace, status=SmsStatus.UNKNOWN, error_code="connection_lost", phone_number=to,
            provider_account_id=account.pk, sender_number=LINE, request_at=clock.now(), **fields,
        )  # fmt: skip


def deliver(simulator: Simulator, row: SmsLog) -> None:
    """The provider takes the very message, now."""
    sms = OutboundSms(to=row.phone_number, text=row.final_message)
    gateway_to(simulator.url).send(sms, deadline_s=5)


def somebody_else_is_served(simulator: Simulator, clock: MovableClock, *, minutes: int) -> None:
    """A later message of the line stands in the provider's list."""
    clock.advance(minutes=minutes)
    gateway_to(simulator.url).send(OutboundSms(to="09129999999", text="later"), deadline_s=5)


def looked_up(clock: MovableClock, **delta: int) -> Round:
    clock.advance(**delta)
    return reconcile_due(clock.now())


def test_a_message_that_the_provider_lists_is_submitted(
    simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    row = unknown(account, clock)
    deliver(simulator, row)

    report = looked_up(clock, minutes=2)

    assert (report.looked_up, report.accepted) == (1, 1)
    assert status_of(row) == SmsStatus.SUBMITTED


def test_the_evidence_is_kept_and_the_message_is_billed_once(
    simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    row = unknown(account, clock)
    deliver(simulator, row)
    looked_up(clock, minutes=2)
    looked_up(clock, minutes=60)

    event = SmsLogEvent.objects.get(sms_log=row)
    assert (event.event, event.provider_status, event.payload["why"]) == ("lookup", "accepted", "listed")
    assert event.payload["listed"]["number"]
    assert SmsUsage.objects.filter(sms_log_id=row.pk).count() == 1


def test_a_message_that_the_provider_never_had_is_failed_once_its_list_proves_it(
    simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    row = unknown(account, clock)

    looked_up(clock, minutes=2)
    early = status_of(row)
    somebody_else_is_served(simulator, clock, minutes=10)
    looked_up(clock, minutes=10)

    assert (early, status_of(row)) == (SmsStatus.UNKNOWN, SmsStatus.FAILED)
    row.refresh_from_db()
    assert row.error_code == "proven_absent"


def test_a_late_list_entry_is_found_at_a_later_look(
    simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    simulator.behave({"outbox": {"after_s": 600}})
    row = unknown(account, clock)
    deliver(simulator, row)

    looked_up(clock, minutes=2)
    early = status_of(row)
    looked_up(clock, minutes=10)

    assert (early, status_of(row)) == (SmsStatus.UNKNOWN, SmsStatus.SUBMITTED)


def test_a_list_that_lags_behind_proves_no_absence(
    simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    deliver(simulator, unknown(account, clock, to="09120000009", final_message="an older one"))
    simulator.behave({"outbox": {"after_s": 3600}})
    clock.advance(hours=2)
    row = unknown(account, clock)
    deliver(simulator, row)

    looked_up(clock, minutes=30)
    meanwhile = status_of(row)
    looked_up(clock, minutes=60)

    assert (meanwhile, status_of(row)) == (SmsStatus.UNKNOWN, SmsStatus.SUBMITTED)


def test_a_known_id_is_asked_about_directly(
    simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    taken = gateway_to(simulator.url).send(OutboundSms(to="09120000001", text="hello"), deadline_s=5)
    row = unknown(account, clock, message_id=taken.provider_message_id or "")

    looked_up(clock, minutes=2)

    assert status_of(row) == SmsStatus.SUBMITTED


def test_two_equal_messages_to_one_number_stay_unknown(
    simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    rows = [unknown(account, clock, final_message="hello") for _ in range(2)]
    deliver(simulator, rows[0])

    report = looked_up(clock, minutes=30)

    assert report.undecided == 2
    assert [status_of(row) for row in rows] == [SmsStatus.UNKNOWN] * 2


def test_more_pages_than_allowed_decide_nothing(
    simulator: Simulator, account: ProviderAccount, clock: MovableClock, settings: object
) -> None:
    settings.OUTBOX_PAGES = 1  # type: ignore[attr-defined]
    row = unknown(account, clock)
    for n in range(101):
        gateway_to(simulator.url).send(OutboundSms(to=f"0913{n:07d}", text="x"), deadline_s=5)

    looked_up(clock, minutes=30)

    assert status_of(row) == SmsStatus.UNKNOWN


def test_a_provider_that_does_not_answer_decides_nothing(
    simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    simulator.behave({"rules": [{"do": "http", "status": 500, "when": {"method": "*"}}]})
    row = unknown(account, clock)

    report = looked_up(clock, minutes=30)

    assert (report.undecided, status_of(row)) == (1, SmsStatus.UNKNOWN)
    assert SmsLogEvent.objects.get(sms_log=row).payload["why"] == "http_500"


def test_after_the_finality_time_it_stays_unknown_for_good(
    simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    simulator.behave({"rules": [{"do": "http", "status": 500, "when": {"method": "*"}}]})
    unknown(account, clock)

    looks = 0
    for _ in range(400):
        looks += looked_up(clock, hours=1).looked_up

    assert 10 < looks < 20
    assert looked_up(clock, hours=24).looked_up == 0


def test_a_line_may_have_a_finality_time_of_its_own(
    simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    simulator.behave({"rules": [{"do": "http", "status": 500, "when": {"method": "*"}}]})
    LineRule.objects.create(workspace_id=account.workspace_id, line=LINE, finality_hours=1)
    row = unknown(account, clock)

    looked_up(clock, hours=2)

    row.refresh_from_db()
    assert (row.status, row.lookup_at) == (SmsStatus.UNKNOWN, FOR_GOOD)
    assert looked_up(clock, hours=2).looked_up == 0


def test_looks_grow_apart() -> None:
    start = MONDAY_MORNING
    last = start + timedelta(hours=72)
    moment, gaps = start, []
    while (following := next_lookup(start, moment, last)) is not None:
        gaps.append(following - moment)
        moment = following

    assert gaps[:4] == [timedelta(minutes=m) for m in (1, 1, 2, 4)]
    assert max(gaps) == timedelta(hours=6)
    assert moment == last


def test_one_accounts_failure_does_not_stop_the_others(
    workspace: Workspace, other_workspace: Workspace, simulator: Simulator, account: ProviderAccount,
    clock: MovableClock,
) -> None:  # fmt: skip
    with workspace_scope(other_workspace.pk):
        dead = make_account(other_workspace, "http://127.0.0.1:9")
    stuck, row = unknown(dead, clock), unknown(account, clock)
    deliver(simulator, row)

    looked_up(clock, minutes=2)

    assert (status_of(stuck), status_of(row)) == (SmsStatus.UNKNOWN, SmsStatus.SUBMITTED)


def test_an_adapter_that_raises_costs_the_others_nothing(
    workspace: Workspace, simulator: Simulator, account: ProviderAccount, clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    class Broken:
        key = "broken"

        def outbox(self, **_: object) -> object:
            raise RuntimeError("a mistake of ours")

    monkeypatch.setitem(
        registry._kinds,
        "broken",
        registry.GatewayKind("broken", "", lambda _c: Broken(), {}),  # type: ignore[arg-type,return-value]
    )
    broken = make_account(workspace, kind="broken", is_primary=False)
    stuck, row = unknown(broken, clock), unknown(account, clock, to="09120000002")
    deliver(simulator, row)

    looked_up(clock, minutes=2)

    assert (status_of(stuck), status_of(row)) == (SmsStatus.UNKNOWN, SmsStatus.SUBMITTED)


def test_a_closed_account_is_left_alone(account: ProviderAccount, clock: MovableClock) -> None:
    unknown(account, clock)
    ProviderAccount.objects.filter(pk=account.pk).update(paused_until=clock.now() + timedelta(hours=1))

    assert looked_up(clock, minutes=30).looked_up == 0
    assert looked_up(clock, minutes=31).looked_up == 1


def test_a_message_whose_account_is_gone_stays_unknown(workspace: Workspace, clock: MovableClock) -> None:
    row = make_log(workspace, status=SmsStatus.UNKNOWN, request_at=clock.now())

    assert looked_up(clock, minutes=30).undecided == 1
    assert status_of(row) == SmsStatus.UNKNOWN


def test_an_answer_that_came_meanwhile_wins(
    account: ProviderAccount, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = unknown(account, clock)
    ask = registry.gateway_for

    def answered(kind: str, config: object) -> object:
        SmsLog.objects.filter(pk=row.pk).update(status=SmsStatus.SUBMITTED, provider_message_id="47")
        return ask(kind, config)  # type: ignore[arg-type]

    monkeypatch.setattr("sms.channel.gateway_for", answered)

    report = looked_up(clock, minutes=30)

    assert (report.absent, status_of(row)) == (0, SmsStatus.SUBMITTED)


def test_the_provider_is_asked_once_for_all_messages_of_a_batch(
    simulator: Simulator, account: ProviderAccount, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [unknown(account, clock, to=f"0912000{n:04d}") for n in range(30)]
    for row in rows:
        deliver(simulator, row)

    asked: list[str] = []
    call = MelipayamakGateway._call

    def counted(self: MelipayamakGateway, method: str, *args: Any, **named: Any) -> Any:
        asked.append(method)
        return call(self, method, *args, **named)

    monkeypatch.setattr(MelipayamakGateway, "_call", counted)

    report = looked_up(clock, minutes=2)

    # The second time, the end of the list is asked for.
    assert (report.accepted, asked) == (30, ["GetMessages"] * 2)


def test_the_number_of_statements_does_not_grow_with_the_messages(
    simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    counts = []
    for size in (3, 40):
        for n in range(size):
            deliver(simulator, unknown(account, clock, to=f"091{size:02d}00{n:04d}"))
        clock.advance(minutes=2)
        with CaptureQueriesContext(connection) as queries:
            assert reconcile_due(clock.now()).accepted == size
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_two_rounds_never_run_at_once(account: ProviderAccount, clock: MovableClock) -> None:
    unknown(account, clock)
    clock.advance(minutes=2)

    with named_lock(LOCK):
        assert reconcile_due(clock.now()).busy


def test_the_command_prints_what_it_did(
    simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    unknown(account, clock)
    somebody_else_is_served(simulator, clock, minutes=10)
    clock.advance(minutes=20)
    out = StringIO()

    call_command("reconcile_sms", stdout=out)

    assert json.loads(out.getvalue())["absent"] == 1


def test_a_tick_asks_for_a_round_when_one_is_due(
    simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    row = unknown(account, clock)
    assert ask_for_reconciling(clock.now()) == {}
    somebody_else_is_served(simulator, clock, minutes=10)
    clock.advance(minutes=20)

    assert ask_for_reconciling(clock.now()) == {"sms_reconciles": 1}
    assert status_of(row) == SmsStatus.FAILED


def test_nothing_is_sent_by_looking_up(
    simulator: Simulator, account: ProviderAccount, clock: MovableClock
) -> None:
    unknown(account, clock)
    for _ in range(10):
        looked_up(clock, minutes=30)

    assert simulator.accepted() == []

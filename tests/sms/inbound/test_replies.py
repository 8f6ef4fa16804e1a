"""The confirmation of an opt-out: one message, past the block it made itself, and no more than that."""

from __future__ import annotations

from datetime import timedelta

import pytest

from automation.models import AutomationSettings
from automation.runtime.tick import run_tick
from core import clock as core_clock
from core.tenancy import workspace_scope
from sms.inbound.replies import send_due
from sms.models import InboundSettings, ProviderAccount, SmsLog, SmsStatus, SmsUsage
from sms.types import OutboundSms, Outcome, SendResult
from tests.clocks import MovableClock
from tests.concurrency.threads import at_once
from tests.factories import make
from tests.people import make_workspace
from tests.scenario import Provider, open_scripted_channel, outcome
from tests.sms.inbound.relaying import NUMBER, write
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db
TEXT = "دیگر پیامی برای شما نمی‌فرستیم. عضویت دوباره: ۱۲"


@pytest.fixture
def provider(workspace: Workspace, clock: MovableClock) -> Provider:
    make(InboundSettings, workspace, confirmation=TEXT)
    return open_scripted_channel()


def reply() -> SmsLog:
    return SmsLog.objects.get(producer="opt_out")


def test_a_no_is_confirmed_past_the_block_it_made(provider: Provider, workspace: Workspace) -> None:
    done = write(workspace, "لغو")
    send_due(core_clock.now())

    row = reply()
    assert [(sent.to, sent.text) for sent in provider.accepted] == [(NUMBER, TEXT)]
    assert (row.status, row.provider, row.idempotency_key) == (
        SmsStatus.SUBMITTED, "double", f"opt_out:{done.inbound_id}",
    )  # fmt: skip
    assert done.reply_id == row.pk


def test_it_is_written_with_the_block_and_sent_afterwards(provider: Provider, workspace: Workspace) -> None:
    write(workspace, "لغو")

    assert (reply().status, provider.asked) == (SmsStatus.QUEUED, [])


def test_it_is_billed(provider: Provider, workspace: Workspace) -> None:
    write(workspace, "لغو")
    send_due(core_clock.now())

    assert SmsUsage.objects.get().event_type == "opt_out"


def test_without_a_text_nobody_is_answered(workspace: Workspace, clock: MovableClock) -> None:
    assert write(workspace, "لغو").reply_id is None
    assert not SmsLog.objects.exists()


def test_while_automation_is_off_nobody_is_answered(provider: Provider, workspace: Workspace) -> None:
    AutomationSettings.objects.update_or_create(workspace=workspace, defaults={"enabled": False})

    assert write(workspace, "لغو").reply_id is None
    assert not SmsLog.objects.exists()


def test_what_was_to_be_answered_waits_while_automation_is_off(
    provider: Provider, workspace: Workspace
) -> None:
    write(workspace, "لغو")
    AutomationSettings.objects.update_or_create(workspace=workspace, defaults={"enabled": False})

    assert send_due(core_clock.now()) == 0
    assert provider.asked == []


@pytest.mark.parametrize(
    ("number", "text"), [("MCI", "لغو"), ("2122334455", "لغو"), (NUMBER, "سلام"), (NUMBER, "12")]
)
def test_nothing_else_is_answered(provider: Provider, workspace: Workspace, number: str, text: str) -> None:
    assert write(workspace, text, number=number).reply_id is None


def test_two_machines_that_answer_each_other_fall_silent(
    provider: Provider, workspace: Workspace, clock: MovableClock
) -> None:
    for _ in range(10):
        write(workspace, "لغو")
        send_due(clock.at)
        clock.advance(minutes=6)

    assert len(provider.accepted) == 1


def test_no_and_yes_in_turn_are_confirmed_once_a_day(
    provider: Provider, workspace: Workspace, clock: MovableClock
) -> None:
    for _ in range(5):
        write(workspace, "لغو")
        write(workspace, "۱۲")
        send_due(clock.at)
    clock.advance(hours=24, seconds=1)
    write(workspace, "لغو")
    send_due(clock.at)

    assert len(provider.accepted) == 2


@pytest.mark.parametrize("written", ["50002", "9850002", "009850002"])
def test_it_leaves_by_the_line_the_person_wrote_to(
    provider: Provider, workspace: Workspace, written: str
) -> None:
    ProviderAccount.objects.update(lines=["50001", "50002"])
    write(workspace, "لغو", to=written)
    send_due(core_clock.now())

    assert reply().sender_number == "50002"


def test_a_line_for_approved_texts_carries_no_other(provider: Provider, workspace: Workspace) -> None:
    ProviderAccount.objects.update(lines=["777"], line_details={"777": {"kind": "pattern", "text": "کد {0}"}})
    write(workspace, "لغو", to="777")
    send_due(core_clock.now())

    assert (reply().status, provider.asked) == (SmsStatus.REJECTED, [])


def test_a_text_that_does_not_leave_says_nothing_of_an_account_that_is_tried_again(
    provider: Provider, workspace: Workspace, clock: MovableClock
) -> None:
    over = clock.now() - timedelta(minutes=1)
    ProviderAccount.objects.update(
        lines=["777"], line_details={"777": {"kind": "pattern", "text": "کد {0}"}}, paused_until=over
    )
    write(workspace, "لغو", to="777")
    send_due(core_clock.now())

    account = ProviderAccount.objects.get()
    assert (account.paused_until, account.trial_until) == (over, None)


def test_a_line_that_is_gone_is_replaced_by_the_default_one(provider: Provider, workspace: Workspace) -> None:
    write(workspace, "لغو", to="9999")
    send_due(core_clock.now())

    assert reply().sender_number == "50001"


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (Outcome.REFUSED, SmsStatus.REJECTED),
        (Outcome.NOT_SENT, SmsStatus.FAILED),
        (Outcome.IN_DOUBT, SmsStatus.UNKNOWN),
    ],
)
def test_whatever_comes_of_it_it_is_tried_once(
    provider: Provider, workspace: Workspace, clock: MovableClock, kind: Outcome, status: str
) -> None:
    provider.answer = lambda _sms, _tries: outcome(kind)
    write(workspace, "لغو")
    for _ in range(3):
        send_due(clock.at)
        clock.advance(minutes=5)

    assert (reply().status, len(provider.asked)) == (status, 1)
    assert not SmsUsage.objects.exists()


def test_a_gateway_that_raises_leaves_the_outcome_open(provider: Provider, workspace: Workspace) -> None:
    def broken(_sms: OutboundSms, _tries: int) -> SendResult:
        raise RuntimeError("no answer")

    provider.answer = broken
    write(workspace, "لغو")
    send_due(core_clock.now())

    assert reply().status == SmsStatus.UNKNOWN


def test_while_the_account_is_closed_it_waits(
    provider: Provider, workspace: Workspace, clock: MovableClock
) -> None:
    ProviderAccount.objects.update(paused_until=clock.at + timedelta(hours=1), paused_since=clock.at)
    write(workspace, "لغو")
    send_due(clock.at)
    assert (reply().status, reply().not_before) == (SmsStatus.QUEUED, clock.at + timedelta(hours=1))

    clock.advance(hours=1, minutes=1)
    run_tick()

    assert reply().status == SmsStatus.SUBMITTED
    assert ProviderAccount.objects.get().paused_until is None


def test_an_account_without_credit_is_closed(provider: Provider, workspace: Workspace) -> None:
    provider.answer = lambda _sms, _tries: outcome(Outcome.UNAVAILABLE, "2")
    write(workspace, "لغو")
    send_due(core_clock.now())

    assert ProviderAccount.objects.get().paused_until is not None


def test_after_a_day_it_is_too_late(provider: Provider, workspace: Workspace, clock: MovableClock) -> None:
    write(workspace, "لغو")
    clock.advance(hours=25)
    run_tick()

    assert (reply().status, provider.asked) == (SmsStatus.EXPIRED, [])


def test_while_another_message_to_the_number_is_on_its_way_it_waits(
    provider: Provider, workspace: Workspace, clock: MovableClock
) -> None:
    other = make(SmsLog, workspace, phone_number=NUMBER, status=SmsStatus.SENDING, campaign_id=1)
    write(workspace, "لغو")
    send_due(clock.at)
    assert (reply().status, provider.asked) == (SmsStatus.QUEUED, [])

    SmsLog.objects.filter(pk=other.pk).update(status=SmsStatus.SENT)
    clock.advance(minutes=2)
    run_tick()
    assert reply().status == SmsStatus.SUBMITTED


def test_one_whose_worker_died_is_never_sent_again(
    provider: Provider, workspace: Workspace, clock: MovableClock
) -> None:
    write(workspace, "لغو")
    SmsLog.objects.update(status=SmsStatus.SENDING, request_at=clock.at)
    run_tick()
    assert reply().status == SmsStatus.SENDING

    clock.advance(minutes=11)
    run_tick()

    assert (reply().status, provider.asked) == (SmsStatus.UNKNOWN, [])


@pytest.mark.concurrency
@pytest.mark.django_db(transaction=True)
def test_many_workers_send_it_once(clock: MovableClock) -> None:
    workspace = make_workspace("many")
    with workspace_scope(workspace.pk):
        make(InboundSettings, workspace, confirmation=TEXT)
        provider = open_scripted_channel()
        write(workspace, "لغو")
        at_once(6, lambda _i: send_due(clock.at), workspace_id=workspace.pk)

    assert len(provider.asked) == 1


def test_while_everything_is_stopped_the_answer_waits(provider: Provider, workspace: Workspace) -> None:
    write(workspace, "لغو")
    now = core_clock.now()
    Workspace.objects.filter(pk=workspace.pk).update(sending_stopped_at=now)

    assert send_due(now) == 0
    assert (reply().status, provider.asked) == (SmsStatus.QUEUED, [])

    Workspace.objects.filter(pk=workspace.pk).update(sending_stopped_at=None)
    assert send_due(now + timedelta(minutes=2)) == 1

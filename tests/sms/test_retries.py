"""Support has a failed message sent again: once, with a key of its own, and only what reached nobody."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from automation import control
from automation.control_moves import Operation
from automation.models import DailyCounter
from automation.runtime.tick import run_tick
from blacklist import actions as blacklist
from campaigns.models import Campaign, CampaignStatus
from campaigns.policy import STOP_STATUSES
from core.tenancy import workspace_scope
from sms import retries
from sms.inbound import sweep
from sms.models import SmsLog, SmsLogEvent, SmsStatus, SmsUsage
from sms.types import OutboundSms, Outcome, SendResult
from targets.models import Target
from tests.clocks import MovableClock
from tests.concurrency.threads import at_once
from tests.people import client_of, make_member, make_workspace
from tests.scenario import OFFICE_HOURS, Scenario, accept, open_scripted_channel, outcome, send, wait
from tests.sms.messages import make_log, status_of
from workspaces.models import AuditRecord, Role, User, Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def english(owner: User, clock: MovableClock) -> Client:
    return client_of(owner, language="en")


def failed(workspace: Workspace, **fields: Any) -> SmsLog:
    open_scripted_channel()
    fields = {
        "status": SmsStatus.FAILED, "error_code": "6", "sender_number": "50001", "producer": "test", **fields,
    }  # fmt: skip
    return make_log(workspace, **fields)


def ask(client: Client, row: SmsLog, reason: str = "The account was charged") -> str:
    return client.post(reverse("sms:retry", args=[row.pk]), {"reason": reason}, follow=True).content.decode()


def of_a_walk(clock: MovableClock, **config: Any) -> Scenario:
    """Somebody whose only message was refused; the walk went on and waits for a day."""
    scenario = Scenario(send(**config), wait(1))
    scenario.provider.answer = lambda _sms, _try: outcome(Outcome.REFUSED, "7")
    scenario.settle()
    scenario.provider.answer = None
    return scenario


def test_the_retry_is_a_new_attempt_with_its_own_key(english: Client, workspace: Workspace) -> None:
    row = failed(workspace)

    ask(english, row)
    new = SmsLog.objects.exclude(pk=row.pk).get()

    assert (new.status, new.attempt_number) == (SmsStatus.RETRY_READY, 2)
    assert new.idempotency_key == f"{row.idempotency_key}:2"
    assert (new.phone_number, new.final_message) == (row.phone_number, row.final_message)
    assert status_of(row) == SmsStatus.FAILED


def test_who_asked_and_why_stands_in_the_audit_log_and_the_history(
    english: Client, owner: User, workspace: Workspace
) -> None:
    row = failed(workspace)

    page = ask(english, row)
    record = AuditRecord.objects.get(event="sms.retry_asked")

    assert record.user == owner
    assert record.new["retry_reason"] == "The account was charged"
    assert SmsLogEvent.objects.filter(sms_log=row, event=retries.EVENT).count() == 1
    assert "The message is sent again" in page


def test_a_retry_leaves_once_and_enters_the_ledger(
    english: Client, workspace: Workspace, clock: MovableClock
) -> None:
    row = failed(workspace)
    provider = open_scripted_channel()
    ask(english, row)

    first, second = retries.send_due(clock.now()), retries.send_due(clock.now())

    new = SmsLog.objects.exclude(pk=row.pk).get()
    assert (first, second, provider.asked) == (1, 0, [row.phone_number])
    assert new.status == SmsStatus.SUBMITTED
    assert SmsUsage.objects.filter(sms_log_id=new.pk).count() == 1


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"status": SmsStatus.UNKNOWN}, "surely reached nobody"),
        ({"status": SmsStatus.DELIVERED, "provider_message_id": "9" * 19}, "surely reached nobody"),
        ({"status": SmsStatus.SUBMITTED}, "surely reached nobody"),
        ({"status": SmsStatus.FAILED, "provider_message_id": "8" * 19}, "never sent again"),
        ({"status": SmsStatus.SKIPPED}, "surely reached nobody"),
        ({"final_message": ""}, "no text or no number"),
    ],
)
def test_what_went_out_or_may_have_is_refused(
    english: Client, workspace: Workspace, fields: dict[str, Any], words: str
) -> None:
    row = failed(workspace, **fields)

    assert words in ask(english, row)
    assert SmsLog.objects.count() == 1
    assert not AuditRecord.objects.filter(event="sms.retry_asked").exists()


def test_a_second_wish_is_refused(english: Client, workspace: Workspace) -> None:
    row = failed(workspace)
    ask(english, row)

    assert "tried again already" in ask(english, row)
    assert SmsLog.objects.count() == 2


def test_without_a_reason_nothing_happens(english: Client, workspace: Workspace) -> None:
    row = failed(workspace)

    assert "Say why" in ask(english, row, reason="   ")
    assert SmsLog.objects.count() == 1


def test_the_button_is_there_for_a_failed_message_and_for_support_only(
    english: Client, workspace: Workspace, clock: MovableClock
) -> None:
    row, fine = failed(workspace), failed(workspace, status=SmsStatus.SUBMITTED)
    viewer = client_of(make_member(workspace, Role.OPERATOR), language="en")

    def offered(client: Client, message: SmsLog) -> bool:
        page = client.get(reverse("sms:log", args=[message.pk])).content.decode()
        return reverse("sms:retry", args=[message.pk]) in page

    assert (offered(english, row), offered(english, fine), offered(viewer, row)) == (True, False, False)


def test_a_number_that_said_no_meanwhile_gets_nothing(
    english: Client, owner: User, workspace: Workspace, clock: MovableClock
) -> None:
    row = failed(workspace)
    ask(english, row)
    blacklist.add(
        workspace_id=workspace.pk, channel="sms", values=[row.phone_number], source="manual",
        reason="manual", user=owner,
    )  # fmt: skip

    assert retries.send_due(clock.now()) == 0
    assert SmsLog.objects.exclude(pk=row.pk).get().status == SmsStatus.BLACKLISTED


def test_a_message_of_a_step_uses_a_unit_and_leaves_the_walk_where_it_is(
    owner: User, workspace: Workspace, clock: MovableClock
) -> None:
    scenario = of_a_walk(clock)
    before = scenario.execution()

    retries.ask(scenario.logs()[0].pk, reason="mended", user=owner)
    retries.send_due(clock.now())

    after = scenario.execution()
    assert [(row.attempt_number, row.status) for row in scenario.logs()] == [
        (1, "rejected"),
        (2, "submitted"),
    ]
    assert (after.status, after.current_node_id) == (before.status, before.current_node_id)
    assert set(DailyCounter.objects.values_list("used", flat=True)) == {1}
    assert scenario.events().count("sms_attempt") == 2


def test_a_refused_retry_gives_its_unit_back(owner: User, workspace: Workspace, clock: MovableClock) -> None:
    scenario = of_a_walk(clock)
    scenario.provider.answer = lambda _sms, _try: outcome(Outcome.REFUSED, "7")

    retries.ask(scenario.logs()[0].pk, reason="mended", user=owner)
    retries.send_due(clock.now())

    assert scenario.logs()[1].status == SmsStatus.REJECTED
    assert set(DailyCounter.objects.values_list("used", flat=True)) == {0}


def test_a_person_who_still_stands_at_the_step_needs_no_help(
    owner: User, workspace: Workspace, clock: MovableClock
) -> None:
    scenario = Scenario(send())
    scenario.provider.answer = lambda _sms, _try: outcome(Outcome.NOT_SENT)
    scenario.settle()

    with pytest.raises(retries.CannotRetry, match=r"still stands|هنوز"):
        retries.ask(scenario.logs()[0].pk, reason="mended", user=owner)


@pytest.mark.parametrize(("cap", "paused"), [(0, False), (None, True)])
def test_limits_and_a_pause_hold_for_a_retry_too(
    owner: User, workspace: Workspace, clock: MovableClock, cap: int | None, paused: bool
) -> None:
    scenario = of_a_walk(clock)
    held = {"status": CampaignStatus.PAUSED, "paused_at": clock.now()} if paused else {"daily_limit": cap}
    Campaign.objects.filter(pk=scenario.campaign.pk).update(**held)

    retries.ask(scenario.logs()[0].pk, reason="mended", user=owner)

    assert retries.send_due(clock.now()) == 0
    new = scenario.logs()[1]
    assert (new.status, new.not_before is not None) == (SmsStatus.RETRY_READY, True)


def test_a_cancelled_campaign_sends_nothing_more(
    owner: User, workspace: Workspace, clock: MovableClock
) -> None:
    scenario = of_a_walk(clock)
    retries.ask(scenario.logs()[0].pk, reason="mended", user=owner)
    Campaign.objects.filter(pk=scenario.campaign.pk).update(status=CampaignStatus.CANCELLED)

    retries.send_due(clock.now())

    new = scenario.logs()[1]
    assert (new.status, new.error_code) == (SmsStatus.CANCELLED, "campaign_over")


def test_a_retry_gives_way_to_an_attempt_that_the_walk_made_meanwhile(
    owner: User, workspace: Workspace, clock: MovableClock
) -> None:
    scenario = of_a_walk(clock)
    pk = retries.ask(scenario.logs()[0].pk, reason="mended", user=owner)
    SmsLog.objects.create(**{
        **retries._next_row(SmsLog.objects.get(pk=pk)), "status": SmsStatus.SENDING, "claim_token": uuid4(),
    })  # fmt: skip

    assert retries.send_due(clock.now()) == 0
    assert SmsLog.objects.get(pk=pk).error_code == "tried_already"


def test_a_lost_answer_is_unknown_and_never_offered_again(
    owner: User, workspace: Workspace, clock: MovableClock
) -> None:
    row = failed(workspace)
    open_scripted_channel().answer = lambda _sms, _try: outcome(Outcome.IN_DOUBT, "answer_timeout")
    new = retries.ask(row.pk, reason="mended", user=owner)
    retries.send_due(clock.now())

    assert SmsLog.objects.get(pk=new).status == SmsStatus.UNKNOWN
    assert retries.refusal(SmsLog.objects.get(pk=new)) == "not_failed"
    assert retries.refusal(row) == "tried_already"


def test_a_worker_that_died_on_the_way_leaves_an_unknown_outcome(
    owner: User, workspace: Workspace, clock: MovableClock
) -> None:
    row = failed(workspace)
    new = retries.ask(row.pk, reason="mended", user=owner)
    SmsLog.objects.filter(pk=new).update(status=SmsStatus.SENDING, request_at=clock.now())
    clock.advance(minutes=11)

    sweep.ask_for_replies(clock.now())

    assert SmsLog.objects.get(pk=new).status == SmsStatus.UNKNOWN


def test_the_tick_finds_what_the_queue_lost(owner: User, workspace: Workspace, clock: MovableClock) -> None:
    row = failed(workspace)
    new = retries.ask(row.pk, reason="mended", user=owner)
    clock.advance(minutes=1)

    run_tick()

    assert SmsLog.objects.get(pk=new).status == SmsStatus.SUBMITTED


def test_while_everything_is_stopped_it_waits(owner: User, workspace: Workspace, clock: MovableClock) -> None:
    new = retries.ask(failed(workspace).pk, reason="mended", user=owner)
    Workspace.objects.filter(pk=workspace.pk).update(sending_stopped_at=clock.now())

    assert retries.send_due(clock.now()) == 0
    assert SmsLog.objects.get(pk=new).status == SmsStatus.RETRY_READY


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"status": "won"}, "person_stopped"),
        ({"deleted_at": datetime(2026, 1, 1, tzinfo=UTC)}, "person_gone"),
        ({"mobile": "09120009999"}, "number_changed"),
    ],
)
def test_what_became_of_the_person_meanwhile_is_asked_again(
    owner: User, workspace: Workspace, clock: MovableClock, change: dict[str, Any], word: str
) -> None:
    scenario = of_a_walk(clock)
    Campaign.objects.filter(pk=scenario.campaign.pk).update(settings={STOP_STATUSES: ["won"]})
    new = retries.ask(scenario.logs()[0].pk, reason="mended", user=owner)
    Target.objects.filter(pk=scenario.targets[0].pk).update(**change)

    assert retries.send_due(clock.now()) == 0
    assert (scenario.provider.accepted, SmsLog.objects.get(pk=new).error_code) == ([], word)
    with pytest.raises(retries.CannotRetry):
        retries.ask(new, reason="again", user=owner)


def test_hours_are_asked_again_for_each_message(
    owner: User, workspace: Workspace, clock: MovableClock
) -> None:
    """The calls before may have taken until after the closing."""
    scenario = Scenario(send(), wait(9), people=2)
    scenario.provider.answer = lambda _sms, _try: outcome(Outcome.REFUSED, "7")
    scenario.settle()
    Campaign.objects.filter(pk=scenario.campaign.pk).update(send_window=OFFICE_HOURS)
    clock.at = datetime(2026, 12, 5, 14, 20, tzinfo=UTC)  # Saturday, ten minutes before closing
    asked = [retries.ask(row.pk, reason="mended", user=owner) for row in scenario.logs()]

    def slow(_sms: OutboundSms, _try: int) -> SendResult:
        clock.advance(minutes=20)
        return accept()

    scenario.provider.answer = slow
    retries.send_due(clock.now())

    assert len(scenario.provider.accepted) == 1
    assert SmsLog.objects.get(pk=asked[1]).status == SmsStatus.RETRY_READY


def test_an_account_that_closed_is_not_asked_for_the_next_message(
    owner: User, workspace: Workspace, clock: MovableClock
) -> None:
    rows = [failed(workspace), failed(workspace, phone_number="09120000077")]
    provider = open_scripted_channel()
    provider.answer = lambda _sms, _try: outcome(Outcome.UNAVAILABLE, "0")
    for row in rows:
        retries.ask(row.pk, reason="mended", user=owner)
    retries.send_due(clock.now())

    assert len(provider.asked) == 1


def test_a_late_no_after_the_outcome_was_settled_gives_no_second_unit_back(
    owner: User, workspace: Workspace, clock: MovableClock
) -> None:
    scenario = of_a_walk(clock)
    new = retries.ask(scenario.logs()[0].pk, reason="mended", user=owner)

    def settled_first(_sms: OutboundSms, _try: int) -> SendResult:
        SmsLog.objects.filter(pk=new).update(status=SmsStatus.FAILED, error_code="proven_absent")
        return outcome(Outcome.REFUSED, "7")

    scenario.provider.answer = settled_first
    retries.send_due(clock.now())

    assert set(DailyCounter.objects.values_list("used", flat=True)) == {1}


def test_a_held_walk_that_goes_on_later_sends_nothing_after_the_retry(
    owner: User, workspace: Workspace, clock: MovableClock
) -> None:
    scenario = Scenario(send(), wait(1))
    scenario.provider.answer = lambda _sms, _try: outcome(Outcome.NOT_SENT)
    scenario.settle()
    control.change(scenario.execution().pk, Operation.PAUSE, user=owner)
    scenario.provider.answer = None
    retries.ask(scenario.logs()[0].pk, reason="mended", user=owner)
    retries.send_due(clock.now())

    control.change(scenario.execution().pk, Operation.RESUME, user=owner)
    clock.advance(minutes=90)
    scenario.settle()

    assert len(scenario.provider.accepted) == 1


def test_a_walk_that_goes_on_first_leaves_nothing_to_the_retry(
    owner: User, workspace: Workspace, clock: MovableClock
) -> None:
    scenario = Scenario(send(), wait(1))
    scenario.provider.answer = lambda _sms, _try: outcome(Outcome.NOT_SENT)
    scenario.settle()
    control.change(scenario.execution().pk, Operation.PAUSE, user=owner)
    scenario.provider.answer = None
    retries.ask(scenario.logs()[0].pk, reason="mended", user=owner)
    control.change(scenario.execution().pk, Operation.RESUME, user=owner)
    clock.advance(minutes=90)
    scenario.settle()

    retries.send_due(clock.now())

    assert len(scenario.provider.accepted) == 1


class TestAtOnce:
    pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True)]

    def test_of_many_clicks_one_makes_an_attempt(self, clock: MovableClock, owner: User) -> None:
        home = make_workspace("clicks")
        with workspace_scope(home.pk):
            row = failed(home)
            open_scripted_channel().answer = lambda _sms, _try: accept()

        def click(_number: int) -> str:
            try:
                retries.ask(row.pk, reason="mended", user=owner)
            except retries.CannotRetry:
                return "refused"
            finally:
                connection.close()
            return "asked"

        answers = at_once(6, click, workspace_id=home.pk)

        with workspace_scope(home.pk):
            assert sorted(answers) == ["asked"] + ["refused"] * 5
            assert SmsLog.objects.count() == 2
            assert len(open_scripted_channel().asked) <= 1

    def test_of_many_workers_one_sends(self, clock: MovableClock, owner: User) -> None:
        home = make_workspace("workers")
        with workspace_scope(home.pk):
            row = failed(home)
            provider = open_scripted_channel()
            new = retries._next_row(row)
            SmsLog.objects.create(**new)

        def work(_number: int) -> int:
            try:
                return retries.send_due(clock.now())
            finally:
                connection.close()

        sent = at_once(6, work, workspace_id=home.pk)

        assert (sum(sent), provider.asked) == (1, [row.phone_number])

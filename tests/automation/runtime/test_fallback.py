"""An account that stands in: only where the first surely has nothing, and as an attempt of its own."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from core.crypto import seal
from core.tenancy import current_workspace_id, workspace_scope
from sms import queries
from sms.channel import Channel
from sms.line_windows import every_day
from sms.models import LineRule, ProviderAccount, SmsLog
from sms.types import Outcome
from tests import scenario as scripted
from tests.clocks import MovableClock
from tests.scenario import Provider, Scenario, open_scripted_channel, outcome, send
from workspaces.models import Workspace

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("workspace", "clock")]


def stand_in(position: int | None = 1, *, lines: tuple[str, ...] = ("50002",), **fields: object) -> Provider:
    """Another account of the workspace, with a scripted provider of its own."""
    account = ProviderAccount(
        workspace_id=current_workspace_id(), kind="double", title=f"Stand-in {position}",
        lines=list(lines), rate_per_second=0, fallback_position=position, **fields,
    )  # fmt: skip
    account.sealed_credentials = seal(json.dumps({"name": str(account.pk)}), bound_to=account.seal_binding)
    account.save()
    return scripted._providers.setdefault(str(account.pk), Provider())


def primary() -> ProviderAccount:
    return ProviderAccount.objects.get(is_primary=True)


def attempts() -> list[tuple[int, str, str]]:
    """Number, account and status of every attempt."""
    titles = dict(ProviderAccount.objects.values_list("pk", "title"))
    rows = SmsLog.objects.order_by("attempt_number").values_list(
        "attempt_number", "provider_account_id", "status"
    )
    return [(number, titles[pk], status) for number, pk, status in rows if pk is not None]


@pytest.mark.parametrize("kind", [Outcome.NOT_SENT, Outcome.UNAVAILABLE, Outcome.THROTTLED])
def test_where_the_first_surely_has_nothing_the_next_one_sends(kind: Outcome, clock: MovableClock) -> None:
    scenario, second = Scenario(), stand_in()
    scenario.provider.answer = lambda _sms, _try: outcome(kind)

    scenario.settle()

    assert len(second.accepted) == 1
    assert attempts() == [(1, "Double", "failed"), (2, "Stand-in 1", "submitted")]
    assert scenario.statuses() == {"completed": 1}


@pytest.mark.parametrize("kind", [Outcome.IN_DOUBT, Outcome.REFUSED])
def test_where_it_may_have_it_or_refused_it_nobody_else_is_asked(kind: Outcome, clock: MovableClock) -> None:
    scenario, second = Scenario(), stand_in()
    scenario.provider.answer = lambda _sms, _try: outcome(kind)

    scenario.run_to_end(clock)

    assert second.asked == []


def test_each_attempt_has_a_key_of_its_own(clock: MovableClock) -> None:
    scenario = Scenario()
    stand_in()
    scenario.provider.answer = lambda _sms, _try: outcome(Outcome.NOT_SENT)

    scenario.settle()

    keys = SmsLog.objects.values_list("idempotency_key", flat=True)
    assert len(set(keys)) == 2


def test_the_log_names_the_account_that_really_sent(clock: MovableClock) -> None:
    scenario = Scenario()
    stand_in()
    scenario.provider.answer = lambda _sms, _try: outcome(Outcome.UNAVAILABLE)

    scenario.settle()

    sent = SmsLog.objects.get(status="submitted")
    assert sent.provider_account_id != primary().pk
    assert sent.sender_number == "50002"


def test_stand_ins_are_asked_in_their_order(clock: MovableClock) -> None:
    scenario = Scenario()
    later, sooner = stand_in(2), stand_in(1)
    scenario.provider.answer = lambda _sms, _try: outcome(Outcome.NOT_SENT)

    scenario.settle()

    assert (len(sooner.accepted), len(later.asked)) == (1, 0)


def test_an_account_outside_the_chain_is_never_asked(clock: MovableClock) -> None:
    scenario, outside = Scenario(), stand_in(None)
    scenario.provider.answer = lambda _sms, _try: outcome(Outcome.UNAVAILABLE)

    scenario.settle()

    assert outside.asked == []


def test_when_nobody_can_be_reached_the_retry_rule_decides(clock: MovableClock) -> None:
    scenario, second = Scenario(), stand_in()
    scenario.provider.answer = lambda _sms, _try: outcome(Outcome.NOT_SENT)
    second.answer = lambda _sms, _try: outcome(Outcome.NOT_SENT)

    scenario.settle()

    assert (len(scenario.provider.asked), len(second.asked)) == (1, 1)
    due = scenario.campaign.executions.get().next_run_at
    assert due > clock.at


def test_while_the_first_is_closed_messages_leave_by_the_next_at_once(clock: MovableClock) -> None:
    scenario, second = Scenario(people=3), stand_in()
    ProviderAccount.objects.filter(is_primary=True).update(paused_until=clock.at + timedelta(minutes=30))

    scenario.settle()

    assert (len(scenario.provider.asked), len(second.accepted)) == (0, 3)


def test_when_the_pause_is_over_the_first_is_tried_again(clock: MovableClock) -> None:
    scenario, _second = Scenario(), stand_in()
    ProviderAccount.objects.filter(is_primary=True).update(paused_until=clock.at - timedelta(minutes=1))

    scenario.settle()

    assert len(scenario.provider.accepted) == 1


def test_the_channel_is_closed_only_when_the_whole_chain_is(clock: MovableClock) -> None:
    Scenario()
    stand_in(paused_until=clock.at + timedelta(minutes=10))
    workspace_id = current_workspace_id()
    assert queries.closed_until(workspace_id, clock.at) is None

    ProviderAccount.objects.filter(is_primary=True).update(paused_until=clock.at + timedelta(minutes=30))

    assert queries.closed_until(workspace_id, clock.at) == clock.at + timedelta(minutes=10)


def test_a_step_that_names_an_account_uses_no_other(clock: MovableClock) -> None:
    open_scripted_channel()
    second = stand_in()
    named = Scenario(send(provider=str(primary().pk)))
    named.provider.answer = lambda _sms, _try: outcome(Outcome.UNAVAILABLE)

    named.settle()

    assert second.asked == []


def test_the_stand_in_uses_its_own_line_of_the_same_kind(clock: MovableClock) -> None:
    scenario = Scenario(send(sender="50001"))
    stand_in(lines=("9000", "50009"), line_details={"9000": {"kind": "service"}})
    scenario.provider.answer = lambda _sms, _try: outcome(Outcome.UNAVAILABLE)

    scenario.settle()

    assert SmsLog.objects.get(status="submitted").sender_number == "50009"


def test_the_unit_of_the_day_is_used_once(clock: MovableClock) -> None:
    scenario, second = Scenario(people=2, cap=1), stand_in()
    scenario.provider.answer = lambda _sms, _try: outcome(Outcome.NOT_SENT)

    scenario.settle()

    assert len(second.accepted) == 1


def test_the_chain_is_the_workspaces_own(clock: MovableClock, other_workspace: Workspace) -> None:
    Scenario()
    with workspace_scope(other_workspace.pk):
        Scenario()
        stand_in()

    assert len(Channel.load(current_workspace_id()).chain) == 1


def test_a_promotional_text_does_not_leave_by_a_service_line(clock: MovableClock) -> None:
    scenario = Scenario(send(sender="50001"))
    ProviderAccount.objects.update(line_details={"50001": {"kind": "service"}})

    scenario.settle()

    row = SmsLog.objects.get()
    assert (row.status, row.error_code) == ("skipped", "promotional_on_service_line")
    assert scenario.provider.asked == []


def test_a_service_message_leaves_by_the_service_line(clock: MovableClock) -> None:
    scenario = Scenario(send(message_kind="service"))
    ProviderAccount.objects.update(lines=["50001", "9000"], line_details={"9000": {"kind": "service"}})

    scenario.settle()

    assert SmsLog.objects.get().sender_number == "9000"


def test_a_text_that_is_not_the_approved_one_does_not_leave(clock: MovableClock) -> None:
    scenario = Scenario(send("چیز دیگر", sender="4321", message_kind="service"))
    approved = {"4321": {"kind": "pattern", "text": "کد شما {0} است."}}
    ProviderAccount.objects.update(lines=["50001", "4321"], line_details=approved)

    scenario.settle()

    row = SmsLog.objects.get()
    assert (row.status, row.error_code) == ("skipped", "text_not_approved")
    assert scenario.provider.asked == []


def test_while_one_message_tries_the_first_account_the_others_leave_by_the_stand_in_at_once(
    clock: MovableClock,
) -> None:
    scenario, second = Scenario(people=6), stand_in()
    ProviderAccount.objects.filter(is_primary=True).update(
        paused_until=clock.now() - timedelta(seconds=1), paused_since=clock.now() - timedelta(hours=1)
    )

    scenario.tick()

    assert (len(scenario.provider.accepted), len(second.accepted)) == (1, 5)
    assert scenario.statuses() == {"completed": 6}


def test_a_step_that_names_the_account_waits_for_its_trial(clock: MovableClock) -> None:
    open_scripted_channel()
    named = Scenario(send(provider=str(primary().pk)), people=3)
    second = stand_in()
    ProviderAccount.objects.filter(is_primary=True).update(
        paused_until=clock.now() - timedelta(seconds=1), paused_since=clock.now() - timedelta(hours=1)
    )

    named.tick()

    assert (len(named.provider.accepted), len(second.accepted)) == (1, 0)


def test_a_stand_in_whose_line_is_closed_keeps_the_message_until_it_opens(clock: MovableClock) -> None:
    scenario, second = Scenario(people=2), stand_in()
    hour = timezone.localtime(clock.now()).hour
    closed = every_day(f"{(hour + 2) % 24:02}:00", f"{(hour + 3) % 24:02}:00", "Asia/Tehran")
    LineRule.objects.create(workspace_id=current_workspace_id(), line="50002", operator="", window=closed)
    ProviderAccount.objects.filter(is_primary=True).update(
        paused_until=clock.now() - timedelta(seconds=1), paused_since=clock.now() - timedelta(hours=1)
    )

    scenario.tick()

    assert (len(scenario.provider.accepted), len(second.accepted)) == (1, 0)

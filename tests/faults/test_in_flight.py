"""What somebody changes while a message is between its claim, its reservation, its call and its record."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from automation.models import WorkflowExecution
from automation.runtime import claim
from automation.runtime.runner import process_executions
from automation.states import ENDED
from core.crypto import seal
from core.tenancy import current_workspace_id
from sms.models import ProviderAccount, SmsStatus
from sms.types import OutboundSms, SendResult
from targets.models import Target
from tests.clocks import MovableClock
from tests.scenario import Provider, Scenario, _providers, accept, assert_conserved, send, wait
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


def worked_later(scenario: Scenario, clock: MovableClock, *, meanwhile: Callable[[], None]) -> None:
    """Claimed by the scheduler; something happens; then a worker comes."""
    token = uuid4()
    ids = claim.claim_due(scenario.campaign.pk, consuming=True, limit=9, token=token, now=clock.at)
    meanwhile()
    process_executions(current_workspace_id(), ids, token)


def on_the_wire(scenario: Scenario, act: Callable[[], None]) -> None:
    """Do `act` after the reservation, before the answer."""

    def answer(_sms: OutboundSms, _nth: int) -> SendResult:
        act()
        return accept()

    scenario.provider.answer = answer


def give_another_number(scenario: Scenario) -> None:
    Target.objects.filter(pk=scenario.targets[0].pk).update(mobile="09350000001")


def write(values: dict[str, Any]) -> None:
    WorkflowExecution.objects.update(**values)


def remove(scenario: Scenario, clock: MovableClock) -> None:
    Target.objects.filter(pk=scenario.targets[0].pk).update(deleted_at=clock.at)


def test_a_number_changed_after_the_claim_is_the_one_written_to(clock: MovableClock):
    scenario = Scenario()
    worked_later(scenario, clock, meanwhile=lambda: give_another_number(scenario))
    assert [sent.to for sent in scenario.provider.accepted] == ["09350000001"]
    assert [log.phone_number for log in scenario.logs()] == ["09350000001"]


def test_a_number_changed_on_the_wire_leaves_the_message_as_it_was_sent(clock: MovableClock):
    scenario = Scenario(send(), wait(1), send("دوم"))
    before = scenario.targets[0].mobile
    on_the_wire(scenario, lambda: give_another_number(scenario))
    scenario.run_to_end(clock)
    assert [log.phone_number for log in scenario.logs()] == [before, "09350000001"]


def test_a_person_removed_on_the_wire_keeps_that_message_and_gets_no_other(clock: MovableClock):
    scenario = Scenario(send(), wait(1), send("دوم"))
    on_the_wire(scenario, lambda: remove(scenario, clock))
    scenario.run_to_end(clock)
    assert [log.status for log in scenario.logs()] == [SmsStatus.SUBMITTED]
    assert scenario.execution().end_reason == "target_removed"
    assert_conserved()


def test_an_account_changed_after_the_claim_sends_with_what_it_is_now(clock: MovableClock):
    """New credentials and another line: whoever reserves reads them then."""
    scenario, other = Scenario(), Provider()
    _providers["other"] = other

    def change() -> None:
        account = ProviderAccount.objects.get()
        account.sealed_credentials = seal(json.dumps({"name": "other"}), bound_to=account.seal_binding)
        account.lines = ["50009009"]
        account.save()

    worked_later(scenario, clock, meanwhile=change)
    assert (len(scenario.provider.asked), len(other.accepted)) == (0, 1)
    assert scenario.logs()[0].sender_number == "50009009"


def test_an_account_changed_on_the_wire_keeps_the_message_of_the_old_one(clock: MovableClock):
    scenario = Scenario()

    def change() -> None:
        ProviderAccount.objects.update(lines=["50009009"])

    on_the_wire(scenario, change)
    scenario.settle()
    log = scenario.logs()[0]
    assert (log.status, log.sender_number) == (SmsStatus.SUBMITTED, "50001")


@pytest.mark.parametrize("status", sorted(ENDED))
def test_a_message_for_a_walk_that_ended_in_any_way_calls_nobody(clock: MovableClock, status: str):
    scenario = Scenario()
    over = {"status": status, "completed_at": clock.at, "active_key": None, "next_run_at": None}
    free = {"lock_token": None, "locked_at": None}
    worked_later(scenario, clock, meanwhile=lambda: write(over | free))
    assert (scenario.provider.asked, scenario.statuses()) == ([], {status: 1})


@pytest.mark.parametrize("jump", [timedelta(hours=-1), timedelta(days=1)], ids=["back", "ahead"])
def test_a_clock_that_jumps_in_the_middle_of_a_run_repeats_nobody(clock: MovableClock, jump: timedelta):
    scenario = Scenario(send(), wait(2, "hour"), send("دوم"), people=3)

    def once() -> None:
        if len(scenario.provider.asked) == 2:
            clock.move_to(clock.at + jump)

    on_the_wire(scenario, once)
    scenario.run_to_end(clock)
    sent = [(one.to, one.text) for one in scenario.provider.accepted]
    assert len(sent) == len(set(sent)) == 6
    assert scenario.statuses() == {"completed": 3}
    assert_conserved()

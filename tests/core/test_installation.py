"""A database that belongs to another installation sends nothing until somebody adopts it."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from automation.runtime.tick import run_tick
from core import installation
from core.installation import Refusal
from core.models import Installation
from sms.channel import gateway_of
from sms.models import ProviderAccount, SmsLog
from sms.types import OutboundSms, Outcome
from tests.clocks import MovableClock
from tests.scenario import Scenario
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _guarded(settings: Any, tmp_path: Path) -> Iterator[None]:
    settings.ENVIRONMENT_GUARD, settings.ENVIRONMENT = True, "production"
    settings.VAR_DIR = tmp_path
    installation.forget()
    yield
    installation.forget()


def asked_afresh() -> Refusal:
    installation.forget()
    return installation.refusal()


def test_a_new_database_is_ours():
    assert installation.refusal() is Refusal.NONE
    assert Installation.objects.get().stamp == installation.stamp()


def test_another_environment_may_not_send_from_it(settings: Any):
    installation.refusal()
    settings.ENVIRONMENT = "staging"
    assert asked_afresh() is Refusal.ANOTHER


def test_a_copy_under_another_identity_may_not_send():
    installation.refusal()
    Installation.objects.update(stamp="production|postgresql:1:2")
    assert asked_afresh() is Refusal.ANOTHER


def test_an_adopted_copy_sends_again(settings: Any):
    installation.refusal()
    settings.ENVIRONMENT = "staging"
    call_command("adopt_database", yes=True, stdout=StringIO())
    assert installation.refusal() is Refusal.NONE


def test_a_database_that_forgot_messages_may_not_send(workspace: Workspace, clock: MovableClock):
    scenario = Scenario()
    scenario.settle()
    assert asked_afresh() is Refusal.NONE
    highest = SmsLog.objects.latest("pk").pk
    installation.register_watermark(lambda: highest - 1)
    try:
        assert asked_afresh() is Refusal.WENT_BACK
        installation.adopt()
        assert asked_afresh() is Refusal.NONE
    finally:
        from sms.watermark import highest_message

        installation.register_watermark(highest_message)


def test_what_another_host_remembers_of_an_adopted_database_counts_no_longer(settings: Any, tmp_path: Path):
    installation.refusal()
    uid = Installation.objects.get().uid
    (tmp_path / "installation.json").write_text(f'{{"{uid}": 9999}}')
    assert asked_afresh() is Refusal.WENT_BACK
    there, settings.VAR_DIR = settings.VAR_DIR, tmp_path / "elsewhere"
    settings.VAR_DIR.mkdir()
    installation.adopt()
    settings.VAR_DIR = there
    assert asked_afresh() is Refusal.NONE


def test_a_tick_claims_nobody_from_a_copy(workspace: Workspace, clock: MovableClock, settings: Any):
    scenario = Scenario()
    installation.refusal()
    settings.ENVIRONMENT = "staging"
    installation.forget()
    report = run_tick()
    assert (report.claimed, report.skipped) == (0, {"another_installation": 1})
    assert (scenario.statuses(), scenario.provider.asked) == ({"active": 1}, [])


def test_no_button_sends_from_a_copy(workspace: Workspace, clock: MovableClock, settings: Any):
    Scenario()
    installation.refusal()
    settings.ENVIRONMENT = "staging"
    installation.forget()
    result = gateway_of(ProviderAccount.objects.get()).send(
        OutboundSms(to="09120000001", text="x"), deadline_s=1
    )
    assert (result.outcome, result.code) == (Outcome.NOT_SENT, "another_installation")


def test_the_command_says_why_and_what_to_do(settings: Any):
    installation.refusal()
    settings.ENVIRONMENT = "staging"
    installation.forget()
    with pytest.raises(CommandError, match="--yes"):
        call_command("adopt_database", stdout=StringIO())


def test_the_answer_is_asked_for_twice_a_minute_at_most(django_assert_num_queries: Any):
    installation.refusal()
    with django_assert_num_queries(0):
        assert installation.refusal() is Refusal.NONE

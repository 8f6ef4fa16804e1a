"""An account that stopped taking messages: a pause, one trial, the others after its outcome."""

from __future__ import annotations

import json
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import transaction

from automation.models import DailyCounter
from automation.runtime import claim
from automation.runtime.runner import process_executions
from core.crypto import seal
from core.tenancy import current_workspace_id, workspace_scope
from sms import breaker, queries
from sms.accounts import reopen_channel
from sms.models import ProviderAccount, SmsSettings
from sms.types import Outcome
from tests.clocks import MovableClock
from tests.concurrency.threads import at_once
from tests.people import make_workspace
from tests.scenario import Scenario, accept, outcome, send
from workspaces.models import AuditRecord, User, Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ready(request: pytest.FixtureRequest) -> None:
    if "transactional_db" not in request.fixturenames:
        request.getfixturevalue("workspace")
        request.getfixturevalue("clock")


def broken(scenario: Scenario, code: str = "2") -> None:
    scenario.provider.answer = lambda _sms, _nth: outcome(Outcome.UNAVAILABLE, code)


def account() -> ProviderAccount:
    return ProviderAccount.objects.get(is_primary=True)


def used() -> int:
    return sum(DailyCounter.objects.filter(scope_type="campaign").values_list("used", flat=True))


@pytest.fixture
def outage(clock: MovableClock) -> Scenario:
    """Twenty people are due; the first message found the account out of credit half an hour ago."""
    scenario = Scenario(people=1, cap=100)
    broken(scenario)
    scenario.settle()
    scenario.targets += scenario.enrol(19)
    scenario.settle()
    clock.advance(minutes=31)
    return scenario


def test_during_the_pause_nobody_is_tried_and_nothing_used_up(clock: MovableClock):
    scenario = Scenario(people=1, cap=100)
    broken(scenario)
    scenario.settle()
    scenario.enrol(20)
    scenario.settle()
    due = {row.next_run_at for row in scenario.campaign.executions.all()}
    assert (due, len(scenario.logs()), used()) == ({clock.at + timedelta(minutes=30)}, 1, 0)
    assert {row.retry_count for row in scenario.campaign.executions.all()} == {0}


def test_the_pause_is_as_long_as_the_workspace_says(clock: MovableClock):
    scenario = Scenario()
    SmsSettings.objects.update(backoff_minutes=10)
    broken(scenario)
    scenario.settle()
    assert account().paused_until == clock.at + timedelta(minutes=10)
    assert scenario.execution().next_run_at == clock.at + timedelta(minutes=10)


def test_after_the_pause_one_message_tries_and_a_failure_closes_again(outage: Scenario, clock: MovableClock):
    asked = len(outage.provider.asked)
    outage.settle()
    assert len(outage.provider.asked) == asked + 1
    assert account().paused_until == clock.at + timedelta(minutes=30)
    assert used() == 0
    clock.advance(minutes=2)
    outage.settle()
    assert len(outage.provider.asked) == asked + 1


def test_a_trial_that_passes_opens_the_account_for_everybody(outage: Scenario, clock: MovableClock):
    outage.provider.answer = None
    outage.settle()
    assert len(outage.provider.accepted) == 1
    assert (account().paused_until, account().paused_since, account().trial_until) == (None, None, None)
    clock.advance(minutes=1)
    outage.settle()
    assert outage.statuses() == {"completed": 20}
    assert used() == 20


def test_a_refused_message_shows_that_the_account_works(outage: Scenario):
    outage.provider.answer = lambda _sms, _nth: outcome(Outcome.REFUSED, "18")
    outage.settle()
    assert account().paused_until is None


@pytest.mark.parametrize("kind", [Outcome.NOT_SENT, Outcome.IN_DOUBT])
def test_a_trial_without_an_answer_leaves_the_next_message_to_try(
    outage: Scenario, clock: MovableClock, kind: Outcome
):
    before = len(outage.provider.asked)
    outage.provider.answer = lambda _sms, _nth: outcome(kind, "lost")
    outage.settle()
    assert (account().trial_until, account().paused_until is None) == (None, False)
    clock.advance(minutes=1)
    outage.settle()
    assert len(outage.provider.asked) == before + 2


def test_nobody_else_goes_while_the_trial_is_under_way(outage: Scenario, clock: MovableClock):
    assert breaker.take_trial(account().pk, clock.at)
    before = len(outage.provider.asked)
    outage.settle()
    assert len(outage.provider.asked) == before
    assert {row.next_run_at for row in outage.campaign.executions.all()} == {clock.at + timedelta(minutes=1)}


def test_the_right_to_try_ends_with_the_lease_of_a_worker_that_died(outage: Scenario, clock: MovableClock):
    assert breaker.take_trial(account().pk, clock.at)
    assert not breaker.take_trial(account().pk, clock.at + timedelta(seconds=299))
    assert breaker.take_trial(account().pk, clock.at + timedelta(seconds=300))


def test_a_trial_without_budget_is_handed_on(outage: Scenario, clock: MovableClock):
    outage.campaign.daily_limit = 0
    outage.campaign.save()
    token = uuid4()
    ids = claim.claim_due(outage.campaign.pk, consuming=True, limit=5, token=token, now=clock.at)
    process_executions(current_workspace_id(), ids, token)
    assert account().trial_until is None


def test_each_workspace_has_its_own_breaker(other_workspace: Workspace):
    here = Scenario()
    broken(here)
    here.settle()
    with workspace_scope(other_workspace.pk):
        there = Scenario()
        there.settle()
        assert len(there.provider.accepted) == 1


def test_each_account_has_its_own_breaker(clock: MovableClock):
    first = Scenario()
    second = ProviderAccount(
        workspace_id=current_workspace_id(), kind="double", title="Zweites", lines=["50002"]
    )
    second.sealed_credentials = seal(json.dumps({"name": str(account().pk)}), bound_to=second.seal_binding)
    second.save()
    other = Scenario(send("از حساب دیگر", provider=str(second.pk)))
    breaker.close(account().pk, until=clock.at + timedelta(minutes=30), reason="2", now=clock.at)
    first.settle()
    assert (first.statuses(), other.statuses()) == ({"waiting": 1}, {"completed": 1})


def test_an_account_without_credentials_is_not_tried(clock: MovableClock):
    scenario = Scenario()
    ProviderAccount.objects.update(sealed_credentials="")
    assert queries.closed_until(current_workspace_id(), clock.at) == clock.at + timedelta(minutes=30)
    scenario.settle()
    assert scenario.logs() == []


def test_the_owner_is_told_once_an_outage(outage: Scenario, clock: MovableClock):
    for _hour in range(14):
        outage.settle()
        clock.advance(minutes=31)
    assert AuditRecord.objects.filter(event="sms.channel_closed").count() == 1


def test_a_second_outage_within_six_hours_is_not_told_again(outage: Scenario, clock: MovableClock):
    def fail(moment: timedelta) -> None:
        clock.advance(seconds=moment.total_seconds())
        breaker.reopen(account().pk, clock.at)
        breaker.close(account().pk, until=clock.at + timedelta(minutes=1), reason="2", now=clock.at)

    fail(timedelta(hours=1))
    assert AuditRecord.objects.filter(event="sms.channel_closed").count() == 1
    fail(timedelta(hours=6))
    assert AuditRecord.objects.filter(event="sms.channel_closed").count() == 2


def test_a_pause_is_never_shortened(clock: MovableClock):
    Scenario()
    long, short = clock.at + timedelta(hours=1), clock.at + timedelta(minutes=1)
    assert breaker.close(account().pk, until=long, reason="2", now=clock.at)
    assert not breaker.close(account().pk, until=short, reason="2", now=clock.at)
    assert account().paused_until == long


def test_a_late_success_does_not_open_a_pause_that_began_meanwhile(clock: MovableClock):
    Scenario()
    breaker.close(account().pk, until=clock.at + timedelta(minutes=30), reason="2", now=clock.at)
    assert not breaker.reopen(account().pk, clock.at)


def test_problem_solved_lets_everybody_go_on_at_once(outage: Scenario, clock: MovableClock, owner: User):
    outage.settle()
    clock.advance(minutes=2)
    outage.settle()
    outage.provider.answer = lambda _sms, _nth: accept()
    assert reopen_channel(Workspace.objects.get(pk=current_workspace_id()), user=owner)
    outage.settle()
    assert outage.statuses() == {"completed": 20}


def test_of_many_workers_one_is_the_trial(transactional_db: None, clock: MovableClock):
    home = make_workspace("threads")
    with workspace_scope(home.pk):
        Scenario()
        ProviderAccount.objects.update(paused_until=clock.at, paused_since=clock.at)
        pk = account().pk

    answers = at_once(6, lambda _i: breaker.take_trial(pk, clock.at), workspace_id=home.pk)
    assert sorted(answers) == [False] * 5 + [True]


def test_of_many_workers_one_tells_the_owner(transactional_db: None, clock: MovableClock):
    home = make_workspace("threads")
    with workspace_scope(home.pk):
        Scenario()
        pk = account().pk

    def fail(_index: int) -> bool:
        with transaction.atomic():
            return breaker.close(pk, until=clock.at + timedelta(minutes=30), reason="2", now=clock.at)

    assert sum(at_once(6, fail, workspace_id=home.pk)) == 1
    with workspace_scope(home.pk):
        assert AuditRecord.objects.filter(event="sms.channel_closed").count() == 1

"""Answers that the database did not take: kept within bounds, settled once, never silently dropped."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError

from automation.models import DailyCounter
from automation.runtime import claim, spool
from automation.runtime.reaper import reap
from automation.runtime.runner import process_executions
from core import failpoints
from core.tenancy import current_workspace_id
from sms.models import SmsLog, SmsStatus, SmsUsage
from sms.types import Outcome
from sms.usage import ledger
from tests.clocks import MovableClock
from tests.scenario import Scenario, outcome
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(workspace: Workspace, clock: MovableClock, settings: Any, tmp_path: Path) -> Path:
    settings.VAR_DIR, settings.LEASE_SECONDS = tmp_path, 20.5  # one second of patience
    return tmp_path / "spool"


class Conflict(Exception):
    sqlstate = "40001"


def conflict() -> None:
    raise OperationalError from Conflict()


def answered_but_not_recorded(clock: MovableClock, scenario: Scenario) -> SmsLog:
    token = uuid4()
    ids = claim.claim_due(scenario.campaign.pk, consuming=True, limit=9, token=token, now=clock.at)
    with failpoints.acting("mid_record_tx", conflict, once=False):
        process_executions(current_workspace_id(), ids, token)
    return SmsLog.objects.get()


def used() -> int:
    return sum(DailyCounter.objects.filter(scope_type="campaign").values_list("used", flat=True))


def test_an_acceptance_is_stored_before_its_lease_is_over(clock: MovableClock):
    assert answered_but_not_recorded(clock, Scenario(cap=5)).status == SmsStatus.SENDING
    assert spool.settle() >= 1
    row = SmsLog.objects.get()
    assert (row.status, bool(row.provider_message_id), used()) == (SmsStatus.SUBMITTED, True, 1)


def test_its_walk_goes_on_without_another_message(clock: MovableClock):
    scenario = Scenario(cap=5)
    answered_but_not_recorded(clock, scenario)
    spool.settle()
    clock.advance(minutes=6)
    scenario.settle()
    assert (scenario.statuses(), len(scenario.provider.asked)) == ({"completed": 1}, 1)


def test_a_refusal_waits_until_its_message_is_in_doubt(clock: MovableClock, folder: Path):
    scenario = Scenario(cap=5)
    scenario.provider.answer = lambda _sms, _nth: outcome(Outcome.REFUSED, "18")
    answered_but_not_recorded(clock, scenario)
    assert (spool.settle(), SmsLog.objects.get().status) == (0, SmsStatus.SENDING)
    clock.advance(minutes=6)
    reap(clock.at)
    assert spool.settle() >= 1
    assert (SmsLog.objects.get().status, used()) == (SmsStatus.REJECTED, 0)


def test_what_was_settled_is_told_in_the_history(clock: MovableClock):
    scenario = Scenario()
    answered_but_not_recorded(clock, scenario)
    spool.settle()
    assert scenario.execution().events.filter(type="sms_attempt", data__status="submitted").count() == 1


def test_an_acceptance_that_came_late_is_in_the_ledger_once(
    clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ledger, "simulated_kinds", frozenset)
    answered_but_not_recorded(clock, Scenario())
    for _ in range(2):
        spool.settle()
    assert SmsUsage.objects.count() == 1


def test_a_line_that_cannot_be_stored_does_not_hold_up_those_behind_it(
    clock: MovableClock, workspace: Workspace
):
    line = spool.Line(workspace.pk, "no_such_action", uuid4(), clock.at, ({"step": [1, 0, 1]},))
    spool._append([line.sealed()])
    answered_but_not_recorded(clock, Scenario())
    assert spool.settle() >= 1
    assert SmsLog.objects.get().status == SmsStatus.SUBMITTED


def test_a_full_spool_takes_no_more_and_breaks_nothing(
    clock: MovableClock, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(spool, "MAX_BYTES", 10)
    assert answered_but_not_recorded(clock, Scenario()).status == SmsStatus.SENDING
    assert (folder / "answers").read_bytes() == b""


def test_what_nobody_could_settle_for_days_is_dropped(clock: MovableClock, folder: Path):
    scenario = Scenario()
    scenario.provider.answer = lambda _sms, _nth: outcome(Outcome.REFUSED, "18")
    answered_but_not_recorded(clock, scenario)
    clock.advance(minutes=int((spool.KEEP_FOR + timedelta(hours=1)).total_seconds()) // 60)
    assert (spool.settle(), (folder / "answers").read_bytes()) == (0, b"")


def test_a_line_of_a_missing_key_is_put_aside(clock: MovableClock, folder: Path):
    folder.mkdir()
    (folder / "answers").write_text("v1:k9:AAAA:BBBB\n")
    assert spool.settle() == 0
    assert (folder / "unreadable").read_text() == "v1:k9:AAAA:BBBB\n"


def test_nothing_is_read_while_nothing_is_kept(django_assert_num_queries: Any):
    with django_assert_num_queries(0):
        assert spool.settle() == 0

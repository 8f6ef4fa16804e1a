"""A queue message of several chunks: one is recorded and the next one reserved while calls are under way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest

from automation import counter_check
from automation.runtime import chunk as chunk_module
from automation.runtime import claim
from automation.runtime.runner import process_executions
from automation.runtime.tick import message_size
from automation.states import ExecutionStatus
from core.failpoints import acting
from core.tenancy import current_workspace_id
from sms.bulk_calls import Caller
from sms.models import SmsLog, SmsStatus
from sms.sending_calls import Calls
from tests.clocks import MovableClock
from tests.scenario import Scenario, assert_conserved
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock, settings: Any) -> None:
    """A workspace, a clock that stands still, and chunks of two."""
    settings.CHUNK_SIZE = 2


def claimed(scenario: Scenario, clock: MovableClock) -> tuple[list[int], UUID]:
    token = uuid4()
    return claim.claim_due(scenario.campaign.pk, consuming=True, limit=99, token=token, now=clock.at), token


def work(scenario: Scenario, clock: MovableClock) -> None:
    ids, token = claimed(scenario, clock)
    process_executions(current_workspace_id(), ids, token)


def test_everybody_gets_one_message(clock: MovableClock):
    scenario = Scenario(people=7)
    work(scenario, clock)
    assert len(scenario.provider.asked) == 7
    assert scenario.statuses() == {ExecutionStatus.COMPLETED: 7}
    assert_conserved()


def test_no_chunk_is_reserved_before_the_calls_of_the_one_before_have_begun(
    clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    begun: list[int] = []
    seen: list[int] = []
    ask, wait = Caller.__call__, Calls.wait_begun

    def called(self: Caller, call: Any) -> Any:
        begun.append(len(call))
        return ask(self, call)

    def waited(self: Calls) -> None:
        wait(self)
        seen.append(SmsLog.objects.count())

    monkeypatch.setattr(Caller, "__call__", called)
    monkeypatch.setattr(Calls, "wait_begun", waited)
    work(Scenario(people=6), clock)
    assert seen == [2, 4, 6][: len(seen)]
    assert sum(begun) == 6


def test_what_is_under_way_is_recorded_though_the_next_chunk_fails(
    clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    scenario = Scenario(people=4)
    poisoned = scenario.execution(2).pk
    walk_on: Callable[..., Any] = chunk_module._first_walk

    def failing(chunk: Any, row: Any, sheet: Any) -> None:
        if row.pk == poisoned:
            raise ValueError("poison")
        walk_on(chunk, row, sheet)

    monkeypatch.setattr(chunk_module, "_first_walk", failing)
    work(scenario, clock)
    assert SmsLog.objects.filter(status=SmsStatus.SUBMITTED).count() == 3
    assert scenario.execution(2).status == ExecutionStatus.ACTIVE


@pytest.mark.parametrize("point", ["mid_reserve_tx", "after_reserve", "before_record", "mid_record_tx"])
def test_a_worker_that_dies_beside_a_chunk_under_way_sends_nothing_twice_and_loses_nobody(
    point: str, clock: MovableClock, workspace: Workspace
):
    def die() -> None:
        raise KeyboardInterrupt

    scenario = Scenario(people=6, cap=6)
    ids, token = claimed(scenario, clock)
    with pytest.raises(KeyboardInterrupt), acting(point, die, at=2):
        process_executions(current_workspace_id(), ids, token)
    clock.advance(minutes=10)
    scenario.run_to_end(clock)

    assert len(scenario.provider.asked) == len(set(scenario.provider.asked)) >= 4
    assert scenario.statuses() == {ExecutionStatus.COMPLETED: 6}
    assert not counter_check.check_workspace(workspace, days=3)


def test_what_has_no_time_left_goes_back_as_it_came(clock: MovableClock, settings: Any):
    settings.HTTP_BUDGET_SECONDS = 60
    settings.TASK_TIME_LIMIT = 20
    scenario = Scenario(people=6)
    work(scenario, clock)
    assert len(scenario.provider.asked) == 2
    assert scenario.statuses() == {ExecutionStatus.COMPLETED: 2, ExecutionStatus.ACTIVE: 4}


def test_the_last_of_a_chunk_s_calls_tells_that_all_have_begun():
    calls = Calls([], deadline=0.0)
    calls.wait_begun()  # of none, none is waited for
    assert calls.answers() == []


@pytest.mark.parametrize(("claimed", "size"), [(1, 2), (7, 2), (8, 4), (12, 6), (1000, 8)])
def test_a_message_names_more_chunks_the_more_are_due(claimed: int, size: int):
    assert message_size(claimed) == size

"""Steps that may run at any hour, while the campaign's window is closed for the others."""

from __future__ import annotations

from datetime import timedelta

import pytest

from automation.runtime.runner import process_executions
from core.tenancy import current_workspace_id
from sms import retries
from sms.types import Outcome
from tests.automation.runtime.test_runner import claimed
from tests.clocks import MovableClock
from tests.engine.building import ask, end
from tests.graphs import GraphScenario, message
from tests.scenario import OFFICE_HOURS, Scenario, accept, outcome, send
from workspaces.models import User, Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _at_night(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and begins at eleven in the evening."""
    clock.advance(hours=14)


def test_a_step_that_ignores_the_window_is_sent_at_night():
    scenario = Scenario(send(send_only_in_window=False), window=OFFICE_HOURS)
    scenario.settle()
    assert len(scenario.provider.accepted) == 1


def test_the_steps_beside_it_wait_for_the_opening(clock: MovableClock):
    scenario = GraphScenario(
        ask("c", "target.first_name", "=", "نفر0"), message("now", send_only_in_window=False),
        message("later"), end("e"), kind="list", people=3, window=OFFICE_HOURS,
        edges=["start -> c", "c.yes -> now", "c.no -> later", "now -> e", "later -> e"],
    )  # fmt: skip
    scenario.settle()
    assert scenario.texts() == ["now"]
    assert {scenario.row(index).next_run_at for index in (1, 2)} == {clock.at + timedelta(hours=10)}


def test_without_budget_it_waits_for_midnight_and_not_for_the_opening(clock: MovableClock):
    scenario = Scenario(send(send_only_in_window=False), people=2, cap=1, window=OFFICE_HOURS)
    scenario.settle()
    clock.advance(hours=1)
    scenario.settle()
    assert [sent.at for sent in scenario.provider.accepted] == [clock.at - timedelta(hours=1), clock.at]


def test_its_retry_falls_in_the_night_too(clock: MovableClock):
    scenario = Scenario(send(send_only_in_window=False), window=OFFICE_HOURS)
    scenario.provider.answer = lambda _sms, nth: outcome(Outcome.NOT_SENT) if nth == 1 else accept()
    scenario.run_to_end(clock)
    assert [sent.at for sent in scenario.provider.accepted] == [clock.at]
    assert len(scenario.logs()) == 2


def test_a_worker_without_budget_puts_it_off_until_midnight(clock: MovableClock):
    scenario = Scenario(send(send_only_in_window=False), people=2, cap=1, window=OFFICE_HOURS)
    ids, token = claimed(scenario, clock)  # the scheduler's own budget is set aside: the worker's counts
    process_executions(current_workspace_id(), ids, token)
    assert scenario.execution(1).next_run_at == clock.at + timedelta(hours=1)


def test_a_retry_that_support_asks_for_leaves_at_night_too(clock: MovableClock, owner: User):
    never = {"enabled": False, "on_exhausted": "continue"}
    scenario = Scenario(send(send_only_in_window=False, retry=never), window=OFFICE_HOURS)
    scenario.provider.answer = lambda _sms, _nth: outcome(Outcome.NOT_SENT)
    scenario.settle()
    scenario.provider.answer = None
    retries.ask(scenario.logs()[0].pk, reason="mended", user=owner)
    assert retries.send_due(clock.at) == 1


def test_a_retry_that_falls_behind_the_closing_waits_for_the_opening(clock: MovableClock):
    clock.advance(hours=-5, minutes=-10)  # ten to six
    scenario = Scenario(window=OFFICE_HOURS)
    scenario.provider.answer = lambda _sms, nth: outcome(Outcome.NOT_SENT) if nth == 1 else accept()
    began = clock.at
    scenario.run_to_end(clock)
    assert [sent.at for sent in scenario.provider.accepted] == [began + timedelta(hours=15, minutes=10)]

"""What a queue may hand to a worker: forged, old, for somebody else, or for a walk that is over."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from automation.models import WorkflowExecution
from automation.runtime import claim
from automation.runtime.reaper import reap
from automation.runtime.runner import PROCESS_TASK
from automation.states import ExecutionStatus
from core.queue import run
from core.tenancy import current_workspace_id, workspace_scope
from tests.clocks import MovableClock
from tests.scenario import Scenario
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


def message(scenario: Scenario, clock: MovableClock, **changed: Any) -> dict[str, Any]:
    token = uuid4()
    ids = claim.claim_due(scenario.campaign.pk, consuming=True, limit=10, token=token, now=clock.at)
    return {"v": 1, "workspace": current_workspace_id(), "ids": ids, "token": str(token)} | changed


def test_a_message_that_names_another_workspace_touches_nobody(
    clock: MovableClock, other_workspace: Workspace
):
    scenario = Scenario()
    run(PROCESS_TASK, message(scenario, clock, workspace=other_workspace.pk))
    assert (scenario.provider.asked, scenario.statuses()) == ([], {"queued": 1})


def test_a_message_from_another_workspace_with_our_ids_touches_nobody(
    clock: MovableClock, other_workspace: Workspace
):
    scenario = Scenario()
    ours = message(scenario, clock)
    with workspace_scope(other_workspace.pk):
        theirs = Scenario()
        forged = message(theirs, clock) | {"ids": ours["ids"]}
        run(PROCESS_TASK, forged)
        assert theirs.statuses() == {"queued": 1}
    assert (scenario.provider.asked, scenario.statuses()) == ([], {"queued": 1})


@pytest.mark.parametrize(
    "changed",
    [
        {"v": 2}, {"v": None}, {"ids": "1"}, {"token": None}, {"workspace": "1"}, {"workspace": None},
    ],
)  # fmt: skip
def test_a_message_of_another_shape_is_left_alone(clock: MovableClock, changed: dict[str, Any]):
    scenario = Scenario()
    run(PROCESS_TASK, message(scenario, clock, **changed))
    assert (scenario.provider.asked, scenario.statuses()) == ([], {"queued": 1})


def test_a_message_that_comes_after_the_walk_was_claimed_again_is_nobody_s(clock: MovableClock):
    scenario = Scenario()
    old = message(scenario, clock)
    clock.advance(minutes=6)
    reap(clock.at)
    new = message(scenario, clock)
    run(PROCESS_TASK, old)
    assert scenario.provider.asked == []
    run(PROCESS_TASK, new)
    assert len(scenario.provider.asked) == 1


@pytest.mark.parametrize("status", ["completed", "cancelled", "failed", "blacklisted", "paused"])
def test_a_message_for_a_walk_that_is_over_does_nothing(clock: MovableClock, status: str):
    scenario = Scenario()
    old = message(scenario, clock)
    live = status == ExecutionStatus.PAUSED
    ended = status in ("completed", "cancelled", "failed")
    WorkflowExecution.objects.update(
        status=status, active_key=1 if live else None, lock_token=None, locked_at=None,
        completed_at=clock.at if ended else None, paused_at=clock.at if live else None,
    )  # fmt: skip
    run(PROCESS_TASK, old)
    assert (scenario.provider.asked, scenario.statuses()) == ([], {status: 1})


def test_messages_worked_in_the_wrong_order_send_everybody_one(clock: MovableClock):
    scenario = Scenario(people=3)
    token = uuid4()
    ids = claim.claim_due(scenario.campaign.pk, consuming=True, limit=10, token=token, now=clock.at)
    messages = [{"v": 1, "workspace": current_workspace_id(), "ids": [pk], "token": str(token)} for pk in ids]
    for one in [*reversed(messages), *messages]:
        run(PROCESS_TASK, one)
    assert len(scenario.provider.asked) == len(set(scenario.provider.asked)) == 3

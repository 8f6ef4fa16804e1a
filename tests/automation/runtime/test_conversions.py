"""Who did what a journey aims at, also after they had passed the goal, by the arm of its split."""

from __future__ import annotations

from datetime import timedelta

import pytest

from automation.conversions import conversions_by_arm
from automation.models import WorkflowExecution
from targets.models import TargetEvent
from tests.clocks import MovableClock
from tests.engine.building import goal, split
from tests.factories import make
from tests.graphs import GraphScenario
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


def test_an_event_within_the_window_counts_for_the_arm_even_after_the_end(
    workspace: Workspace, clock: MovableClock
) -> None:
    entered = clock.at
    scenario = GraphScenario(
        split("s", 1, 1), goal("g", "activity_done", window_days=7),
        edges=["start -> s", "s.branch_1 -> g", "s.branch_2 -> g"], people=40,
    )  # fmt: skip
    scenario.settle()
    arms = [scenario.row(index).variant for index in range(40)]
    first, second, third = [index for index, arm in enumerate(arms) if arm == "A"][:3]
    clock.advance(days=9)
    other, done = arms.index("B"), "activity_done"
    for index, days, name in (
        (first, 6, done), (first, 7, done), (second, 8, done), (third, 2, "activity_added"),
        (other, -1, done), (other, 7, done),
    ):  # fmt: skip
        when = entered + timedelta(days=days)
        make(TargetEvent, workspace, target=scenario.targets[index], name=name, occurred_at=when)
    assert scenario.ended(first) == ("completed", "no_next_node")
    assert conversions_by_arm(WorkflowExecution.objects.all()) == {(False, "A"): 1, (False, "B"): 1}

"""Loops, restarts, long chains: rounds are counted, each has keys of its own, nobody goes round for ever."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from automation import control
from automation.control_moves import Operation
from automation.models import WorkflowExecution
from automation.runtime.tick import run_tick
from automation.states import EndReason
from engine.types import NodeSpec
from sms.models import SmsLog
from tests.clocks import MovableClock
from tests.engine.building import ask, end, wait
from tests.graphs import GraphScenario, message
from tests.scenario import assert_conserved
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db

HOUR: dict[str, Any] = {"delay": {"amount": 1, "unit": "hour"}}


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


def rounds() -> list[tuple[int, str]]:
    return [(log.cycle, log.message_template) for log in SmsLog.objects.order_by("pk")]


def keys() -> set[str]:
    return set(SmsLog.objects.values_list("idempotency_key", flat=True))


# -- loop and restart -------------------------------------------------------------------------------


def test_a_loop_of_three_sends_three_times_under_keys_of_their_own(clock: MovableClock):
    scenario = GraphScenario(
        message("a"), end("e", "loop", max_cycles=3, **HOUR), edges=["start -> a", "a -> e"], kind="list"
    )
    scenario.run_to_end(clock)
    assert rounds() == [(1, "a"), (2, "a"), (3, "a")]
    assert len(keys()) == 3
    assert scenario.ended() == ("completed", EndReason.FINISHED)
    first, second, third = (sent.at for sent in scenario.provider.accepted)
    assert second - first == third - second == timedelta(hours=1)


def test_a_loop_goes_back_to_the_step_it_names(clock: MovableClock):
    scenario = GraphScenario(
        message("once"), message("again"), end("e", "loop", to_node="again", max_cycles=2, **HOUR),
        edges=["start -> once", "once -> again", "again -> e"], kind="list",
    )  # fmt: skip
    scenario.run_to_end(clock)
    assert rounds() == [(1, "once"), (1, "again"), (2, "again")]


def test_a_restart_of_two_begins_at_the_first_step_again(clock: MovableClock):
    scenario = GraphScenario(
        message("a"), message("b"), end("e", "restart", max_cycles=2, **HOUR),
        edges=["start -> a", "a -> b", "b -> e"], kind="list",
    )  # fmt: skip
    scenario.run_to_end(clock)
    assert rounds() == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]
    assert scenario.row().cycle == 2


@pytest.mark.parametrize(("behavior", "kept"), [("loop", {"code": "X"}), ("restart", {})])
def test_a_loop_remembers_what_a_restart_forgets(behavior: str, kept: dict[str, str], clock: MovableClock):
    scenario = GraphScenario(
        message("a"), end("e", behavior, max_cycles=2, **HOUR), edges=["start -> a", "a -> e"], kind="list"
    )
    WorkflowExecution.objects.update(metadata={"code": "X"})
    scenario.settle()
    row = scenario.row()
    assert (row.metadata, row.retry_count, row.cycle) == (kept, 0, 2)
    assert row.next_run_at == clock.at + timedelta(hours=1)


def test_a_round_that_begins_waits_for_its_pause_even_when_the_worker_is_late(clock: MovableClock):
    scenario = GraphScenario(
        message("a"), end("e", "loop", max_cycles=2, **HOUR), edges=["start -> a", "a -> e"], kind="list"
    )
    scenario.settle()
    clock.advance(minutes=59)
    scenario.settle()
    assert scenario.texts() == ["a"]
    clock.advance(minutes=1)
    scenario.settle()
    assert scenario.texts() == ["a", "a"]


def test_a_person_restarted_by_hand_gets_new_keys_and_the_messages_again(clock: MovableClock):
    scenario = GraphScenario(message("a"), end("e"), edges=["start -> a", "a -> e"], kind="list")
    scenario.run_to_end(clock)
    control.change(scenario.row().pk, Operation.RESTART, user=None)
    scenario.run_to_end(clock)
    assert rounds() == [(1, "a"), (2, "a")]
    assert len(keys()) == 2


# -- rounds along the connections -------------------------------------------------------------------


def test_going_back_along_a_connection_is_a_new_round_and_really_sends_again(clock: MovableClock):
    scenario = GraphScenario(
        message("a"), wait("w", 1, "day"), ask("c", "execution.cycle", "<", 3), end("e"), kind="list",
        edges=["start -> a", "a -> w", "w -> c", "c.yes -> a", "c.no -> e"],
    )  # fmt: skip
    scenario.run_to_end(clock)
    assert rounds() == [(1, "a"), (2, "a"), (3, "a")]
    assert scenario.ended() == ("completed", EndReason.FINISHED)


# -- the budget of steps ----------------------------------------------------------------------------


def chain(count: int) -> GraphScenario:
    """So many conditions in a row, and a message at the end."""
    names = [f"c{number}" for number in range(count)]
    nodes: list[NodeSpec] = [ask(name, "execution.cycle", ">=", 1) for name in names]
    edges = ["start -> c0", "a -> e"]
    for here, there in zip(names, [*names[1:], "a"], strict=True):
        edges += [f"{here}.yes -> {there}", f"{here}.no -> e"]
    return GraphScenario(*nodes, message("a"), end("e"), edges=edges, kind="list")


def test_a_task_hands_over_after_fifty_steps():
    scenario = chain(60)
    run_tick()
    row = scenario.row()
    assert (row.status, row.current_node.node_key, row.steps_since_wait) == ("active", "c50", 50)
    scenario.settle()
    assert scenario.texts() == ["a"]


def test_a_hundred_steps_without_a_pause_pass():
    scenario = chain(99)  # and the message
    scenario.settle()
    assert scenario.texts() == ["a"]


def test_the_hundred_and_first_fails_though_the_work_was_handed_over():
    scenario = chain(100)
    scenario.settle()
    assert scenario.ended() == ("failed", EndReason.STEP_LIMIT)
    assert (scenario.row().last_error, scenario.texts()) == ("step_limit", [])


def test_a_pause_begins_the_count_afresh(clock: MovableClock):
    names = [f"c{number}" for number in range(120)]
    edges = ["start -> c0"]
    for here, there in zip(names, [*names[1:], "e"], strict=True):
        target = "w" if here == "c60" else there
        edges += [f"{here}.yes -> {target}", f"{here}.no -> e"]
    edges.append("w -> c61")
    nodes = [ask(name, "execution.cycle", ">=", 1) for name in names]
    scenario = GraphScenario(*nodes, wait("w", 1, "hour"), end("e"), edges=edges, kind="list")
    scenario.run_to_end(clock)
    assert scenario.ended() == ("completed", EndReason.FINISHED)
    assert_conserved()

"""The kinds of step that only journeys have, run by the real tick and worker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from automation import control, control_moves, definition_cache, registry
from automation.models import WorkflowExecution, WorkflowExecutionEvent
from automation.runtime import claim
from automation.runtime.actions import base
from automation.runtime.actions.base import Reserved, Step
from automation.runtime.runner import process_executions
from automation.states import JOURNEY_END, EndReason, ExecutionEventType
from blacklist.models import BlacklistEntry
from core import clock as clock_of_product
from core.tenancy import current_workspace_id
from engine.compile import ActionSpec
from engine.splitting import branch_of, is_held_out
from engine.types import ActionResult, ActionStatus, NodeSpec, Port
from tests.clocks import MovableClock
from tests.engine.building import best_time, end, goal, split, switch, wait, wait_for, wait_until
from tests.graphs import GraphScenario, ScriptedEvents, events_from, message
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


@pytest.fixture
def events() -> Iterator[ScriptedEvents]:
    source = ScriptedEvents()
    with events_from(source):
        yield source


def city(name: str) -> dict[str, Any]:
    return {"root": {"field": "target.city", "operator": "=", "value": name}}


# -- switch -----------------------------------------------------------------------------------------


def test_a_switch_sends_each_person_the_way_of_their_case():
    scenario = GraphScenario(
        switch("s", city("شیراز"), city("یزد")), message("a"), message("b"), message("c"),
        edges=["start -> s", "s.case_1 -> a", "s.case_2 -> b", "s -> c"], people=3,
    )  # fmt: skip
    for person, name in zip(scenario.targets, ["شیراز", "یزد", "تبریز"], strict=True):
        person.city = name
        person.save()
    scenario.settle()
    assert {sent.to: sent.text for sent in scenario.provider.accepted} == {
        person.mobile: text for person, text in zip(scenario.targets, "abc", strict=True)
    }


def test_a_switch_may_ask_how_often_something_happened(events: ScriptedEvents, clock: MovableClock):
    bought = {"root": {"event": "bought", "count_operator": ">=", "count": 2, "within_days": 7}}
    scenario = GraphScenario(
        switch("s", bought), message("a"), message("b"),
        edges=["start -> s", "s.case_1 -> a", "s -> b"], people=2,
    )  # fmt: skip
    for days in (1, 2, 30):
        events.happen(scenario.targets[0].pk, "bought", clock.at - timedelta(days=days))
    events.happen(scenario.targets[1].pk, "bought", clock.at - timedelta(days=1))
    events.happen(scenario.targets[1].pk, "bought", clock.at - timedelta(days=8))
    scenario.settle()
    assert sorted((sent.to, sent.text) for sent in scenario.provider.accepted) == sorted(
        [(scenario.targets[0].mobile, "a"), (scenario.targets[1].mobile, "b")]
    )


# -- split ------------------------------------------------------------------------------------------

ARMS = ["start -> s", "s.branch_1 -> a", "s.branch_2 -> b"]


def test_a_split_shares_people_out_by_the_documented_hash():
    scenario = GraphScenario(split("s", 1, 1), message("a"), message("b"), edges=ARMS, people=40)
    scenario.settle()
    for person in scenario.targets:
        arm = branch_of("s", f"target:{person.pk}", (1, 1))
        row = WorkflowExecution.objects.get(subject_id=person.pk)
        assert row.variant == "AB"[arm]
    assert len(Counter(scenario.texts())) == 2


def test_the_arm_is_the_same_however_often_the_step_is_tried():
    scenario = GraphScenario(split("s", 1, 1), wait("w", 1, "day"), edges=["start -> s", "s.branch_1 -> w"])
    first = branch_of("s", f"target:{scenario.targets[0].pk}", (1, 1))
    assert {branch_of("s", f"target:{scenario.targets[0].pk}", (1, 1)) for _ in range(1000)} == {first}


def test_somebody_held_out_walks_on_without_any_message(clock: MovableClock):
    scenario = GraphScenario(
        split("s", 1, holdout_percent=50), message("one"), wait("w", 1, "day"), message("two"), end("e"),
        edges=["start -> s", "s.branch_1 -> one", "one -> w", "w -> two", "two -> e"], people=30,
    )  # fmt: skip
    held = {p.pk for p in scenario.targets if is_held_out("s", f"target:{p.pk}", 50)}
    assert 0 < len(held) < 30
    scenario.run_to_end(clock)

    sent = Counter(sent.to for sent in scenario.provider.accepted)
    assert sent == {p.mobile: 2 for p in scenario.targets if p.pk not in held}
    assert scenario.statuses() == {"completed": 30}
    lines = WorkflowExecutionEvent.objects.filter(type=ExecutionEventType.SUPPRESSED)
    assert Counter(lines.values_list("subject_id", flat=True)) == dict.fromkeys(held, 2)
    rows = WorkflowExecution.objects.filter(is_holdout=True)
    assert set(rows.values_list("subject_id", flat=True)) == held


def test_a_held_out_person_goes_the_way_for_the_held_out():
    scenario = GraphScenario(
        split("s", 1, holdout_percent=100), message("a"), end("control"),
        edges=["start -> s", "s.branch_1 -> a", "s.holdout -> control"],
    )  # fmt: skip
    scenario.settle()
    assert (scenario.at(), scenario.texts()) == ("control", [])
    assert scenario.row().is_holdout
    assert scenario.row().variant == ""


def test_somebody_held_out_is_no_budget_to_the_scheduler(clock: MovableClock):
    """Their steps run while the day's limit is used up."""
    scenario = GraphScenario(
        split("s", 1, holdout_percent=100), wait("w", 1, "hour"), message("a"), end("e"),
        edges=["start -> s", "s.branch_1 -> w", "w -> a", "a -> e"], cap=0,
    )  # fmt: skip
    scenario.settle()
    clock.advance(hours=1)
    scenario.settle()
    assert (scenario.ended(), scenario.texts()) == (("completed", "finished"), [])


# -- goal -------------------------------------------------------------------------------------------


def test_a_goal_that_was_reached_ends_the_walk(events: ScriptedEvents, clock: MovableClock):
    scenario = GraphScenario(
        wait("w", 1, "day"), goal("g", "paid", window_days=7), message("late"),
        edges=["start -> w", "w -> g", "g -> late"], people=2,
    )  # fmt: skip
    scenario.settle()
    events.happen(scenario.targets[0].pk, "paid", clock.at + timedelta(hours=2))
    events.happen(scenario.targets[1].pk, "paid", clock.at - timedelta(hours=2))
    clock.advance(days=1)
    scenario.settle()
    assert scenario.ended(0) == ("completed", "goal_reached")
    assert [sent.to for sent in scenario.provider.accepted] == [scenario.targets[1].mobile]
    assert scenario.ended(1) == ("completed", "no_next_node")


def test_without_a_source_of_events_a_goal_is_not_reached():
    scenario = GraphScenario(goal("g"), message("a"), edges=["start -> g", "g -> a"])
    scenario.settle()
    assert scenario.texts() == ["a"]


# -- the clock of the person ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "hours"),
    [("", 3), ("Asia/Tehran", 3), ("Europe/London", 6.5), ("Mars/Base", 3)],
)
def test_a_time_of_day_is_the_persons_else_the_workspaces(zone: str, hours: float, clock: MovableClock):
    scenario = GraphScenario(wait_until("w", 12), message("a"), edges=["start -> w", "w -> a"])
    scenario.targets[0].traits = {"timezone": zone} if zone else {}
    scenario.targets[0].save()
    scenario.settle()
    assert scenario.row().next_run_at == clock.at + timedelta(hours=hours)


def test_the_best_time_is_read_when_the_step_is_reached(clock: MovableClock):
    scenario = GraphScenario(
        wait("w", 1, "hour"), best_time("b", 18), message("a"), edges=["start -> w", "w -> b", "b -> a"]
    )
    scenario.settle()
    scenario.targets[0].traits = {"best_hour": 21}
    scenario.targets[0].save()
    clock.advance(hours=1)
    scenario.settle()
    assert scenario.row().next_run_at == clock.at.replace(hour=17, minute=30)  # 21:00 in Tehran


def test_without_a_best_time_it_is_the_fallback(clock: MovableClock):
    scenario = GraphScenario(best_time("b", 18), message("a"), edges=["start -> b", "b -> a"])
    scenario.settle()
    assert scenario.row().next_run_at == clock.at.replace(hour=14, minute=30)


# -- ways out ---------------------------------------------------------------------------------------


def test_every_way_a_journey_ends_goes_with_its_status():
    assert {str(reason): str(status) for reason, status in JOURNEY_END.items()} == {
        "finished": "completed", "goal_reached": "completed", "no_next_node": "completed",
        "exit_criteria": "exited", "max_duration": "exited",
    }  # fmt: skip


CONVERTED = {"root": {"field": "target.status", "operator": "=", "value": "converted"}}
PATIENT: tuple[NodeSpec, ...] = (wait("w", 30, "day"), message("a"), end("e"))
LINE = ["start -> w", "w -> a", "a -> e"]


def test_the_criteria_for_leaving_are_asked_before_everything(clock: MovableClock):
    scenario = GraphScenario(
        *PATIENT, edges=LINE, people=2, settings={"exit_criteria": CONVERTED, "max_duration_days": 30}
    )
    scenario.settle()
    scenario.targets[0].status = "converted"
    scenario.targets[0].save()
    clock.advance(days=30)
    scenario.settle()
    assert scenario.ended(0) == ("exited", EndReason.EXIT_CRITERIA)
    assert scenario.ended(1) == ("exited", EndReason.MAX_DURATION)
    assert scenario.texts() == []


def test_the_longest_stay_wakes_whoever_waits_longer(clock: MovableClock):
    scenario = GraphScenario(*PATIENT, edges=LINE, settings={"max_duration_days": 7})
    scenario.settle()
    assert scenario.row().next_run_at == clock.at + timedelta(days=7)
    clock.advance(days=7)
    scenario.settle()
    assert scenario.ended() == ("exited", "max_duration")


def test_the_longest_stay_ends_a_wait_for_an_event_without_a_time_out(clock: MovableClock):
    scenario = GraphScenario(
        wait_for("e"), message("a"), edges=["start -> e", "e -> a"], settings={"max_duration_days": 7}
    )
    scenario.settle()
    assert scenario.row().waiting_event == "paid"
    clock.advance(days=7)
    scenario.settle()
    assert scenario.ended() == ("exited", "max_duration")


def test_a_restart_by_hand_is_an_entry_for_the_longest_stay(clock: MovableClock):
    scenario = GraphScenario(message("a"), edges=["start -> a"], settings={"max_duration_days": 7})
    scenario.settle()
    clock.advance(days=30)
    control.change(scenario.row().pk, control_moves.Operation.RESTART, user=None)
    scenario.settle()
    assert scenario.texts() == ["a", "a"]
    assert scenario.row().started_at == clock.at


def test_a_restart_in_a_campaign_keeps_the_day_of_the_entry(clock: MovableClock):
    scenario = GraphScenario(message("a"), end("e"), edges=["start -> a", "a -> e"], kind="list")
    scenario.settle()
    entered = scenario.row().started_at
    clock.advance(days=30)
    control.change(scenario.row().pk, control_moves.Operation.RESTART, user=None)
    assert scenario.row().started_at == entered


def test_criteria_that_ask_nothing_keep_everybody():
    scenario = GraphScenario(
        message("a"), end("e"), edges=["start -> a", "a -> e"], settings={"exit_criteria": {"root": {}}}
    )
    scenario.settle()
    assert scenario.ended() == ("completed", "finished")


# -- a blocked number -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "ending", "reached"),
    [("journey", ("completed", "no_next_node"), "w"), ("list", ("blacklisted", ""), "a")],
)
def test_a_blocked_number_stops_a_campaign_and_only_the_message_of_a_journey(
    kind: str, ending: tuple[str, str], reached: str, clock: MovableClock
):
    edges = ["start -> a", "a -> w"] + (["w -> e"] if kind == "list" else [])
    steps = [message("a"), wait("w", 1, "hour")] + ([end("e")] if kind == "list" else [])
    scenario = GraphScenario(*steps, edges=edges, kind=kind)
    BlacklistEntry.objects.create(workspace_id=current_workspace_id(), value=scenario.targets[0].mobile)
    scenario.run_to_end(clock)
    assert (scenario.ended(), scenario.at()) == (ending, reached)
    assert [log.status for log in scenario.logs()] == ["blacklisted"]
    assert scenario.provider.asked == []


# -- what it costs ----------------------------------------------------------------------------------


def statements_of_a_chunk(people: int, *nodes: NodeSpec, edges: list[str]) -> int:
    scenario = GraphScenario(*nodes, edges=edges, people=people)
    definition_cache.compiled(scenario.version.pk)
    token, now = uuid4(), clock_of_product.now()
    ids = claim.claim_due(scenario.campaign.pk, consuming=False, limit=100, token=token, now=now)
    with CaptureQueriesContext(connection) as captured:
        process_executions(current_workspace_id(), ids, token)
    assert len(ids) == people
    return len(captured)


def test_a_chunk_costs_the_same_statements_for_one_and_for_forty(events: ScriptedEvents):
    graph = (split("s", 1, 1), goal("g"), wait_for("e"), wait("w", 1, "day"))
    edges = ["start -> s", "s.branch_1 -> g", "s.branch_2 -> g", "g -> e", "e -> w"]
    counts = {people: statements_of_a_chunk(people, *graph, edges=edges) for people in (2, 40)}
    assert counts[2] == counts[40], counts


def test_only_a_version_that_asks_about_events_asks_their_keeper(events: ScriptedEvents):
    GraphScenario(wait("w", 1, "day"), end("x"), edges=["start -> w", "w -> x"]).settle()
    assert events.asked == 0


# -- an action of one's own -------------------------------------------------------------------------


class Mark:
    """An action that changes only what is stored of the person, so that the held out get it too."""

    subtype = "mark"

    def __init__(self) -> None:
        self.marked: list[int] = []

    def reserve(self, steps: Sequence[Step], token: UUID, now: datetime) -> Reserved:
        self.marked += [step.execution.subject_id for step in steps]
        return Reserved(results={step.id: ActionResult(status=ActionStatus.SUCCESS) for step in steps})

    def call(self, calls: Sequence[Any], deadline: float) -> Sequence[Any]:
        return []

    def results(self, answers: Sequence[Any], now: datetime) -> dict[int, ActionResult]:
        return {}

    def abandon(self, execution_ids: Sequence[int], now: datetime) -> dict[int, Any]:
        return {}

    def record(
        self, answers: Sequence[Any], retry_at: Mapping[int, datetime], now: datetime
    ) -> dict[int, Any]:
        return {}


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mark]:
    spec = ActionSpec(
        subtype="mark", ports=frozenset({Port.DEFAULT}), check=lambda _config: [],
        consumes_budget=lambda _config: False, texts=lambda _config: [], reaches_out=False,
    )  # fmt: skip
    registry.register_action(registry.ActionPlugin(spec=spec, label="Mark", icon="users", defaults=dict))
    made = Mark()
    monkeypatch.setitem(base._actions, "mark", made)
    yield made
    registry.unregister_action("mark")


def test_what_only_changes_the_stored_person_is_done_for_the_held_out_too(mark: Mark):
    step = NodeSpec(key="m", type="action", subtype="mark")
    scenario = GraphScenario(
        split("s", 1, holdout_percent=100), step, message("a"), end("e"),
        edges=["start -> s", "s.branch_1 -> m", "m -> a", "a -> e"], people=3,
    )  # fmt: skip
    scenario.settle()
    assert sorted(mark.marked) == [person.pk for person in scenario.targets]
    assert scenario.texts() == []
    assert scenario.statuses() == {"completed": 3}

"""An event, its time-out and a worker at the same moment: the walk goes on exactly once, the right way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.db import connection

from automation.models import WorkflowExecution, WorkflowExecutionEvent
from automation.runtime import claim
from automation.runtime.event_waits import deliver_event
from automation.runtime.runner import process_executions
from automation.runtime.tick import run_tick
from core import failpoints
from core.tenancy import workspace_scope
from engine.types import NodeSpec
from sms.inbound.processing import process
from sms.models import InboundPending, InboundSms
from targets.models import TargetEvent, TargetEventPending
from tests.clocks import MovableClock
from tests.concurrency.threads import at_once
from tests.engine.building import wait, wait_for
from tests.factories import make
from tests.graphs import GraphScenario, ScriptedEvents, events_from
from tests.people import make_workspace
from workspaces.models import Workspace

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True)]

PARTING: tuple[NodeSpec, ...] = (
    wait_for("e", amount=2, unit="hours"), wait("came", 1, "day"), wait("late", 1, "day"),
)  # fmt: skip
WAYS = ["start -> e", "e -> came", "e.timeout -> late"]


@pytest.fixture
def home(transactional_db: None, clock: MovableClock) -> Workspace:
    return make_workspace("events")


@pytest.fixture
def events() -> Iterator[ScriptedEvents]:
    source = ScriptedEvents()
    with events_from(source):
        yield source


def finished_waits() -> int:
    return WorkflowExecutionEvent.objects.filter(type="wait_finished").count()


@pytest.mark.parametrize("in_time", [True, False])
def test_event_and_time_out_at_the_same_moment_go_on_once(
    home: Workspace, events: ScriptedEvents, clock: MovableClock, in_time: bool
):
    with workspace_scope(home.pk):
        scenario = GraphScenario(*PARTING, edges=WAYS, people=20)
        scenario.settle()
    came_at = clock.advance(hours=2) if in_time else clock.advance(hours=2, seconds=1)
    for person in scenario.targets:
        events.happen(person.pk, "paid", came_at)

    def work(index: int) -> None:
        if index < 2:
            run_tick()
        else:
            for person in scenario.targets[index % 2 :: 2]:
                deliver_event(home.pk, "paid", ("target", person.pk), came_at)

    at_once(4, work, workspace_id=home.pk)
    with workspace_scope(home.pk):
        scenario.settle()
        assert {scenario.at(i) for i in range(20)} == {"came" if in_time else "late"}
        assert finished_waits() == 20


def test_many_deliveries_of_one_event_wake_once(home: Workspace, events: ScriptedEvents, clock: MovableClock):
    with workspace_scope(home.pk):
        scenario = GraphScenario(*PARTING, edges=WAYS)
        scenario.settle()
    now, person = clock.advance(hours=1), scenario.targets[0].pk
    events.happen(person, "paid", now)
    woken = at_once(
        4, lambda _i: deliver_event(home.pk, "paid", ("target", person), now), workspace_id=home.pk
    )
    assert sorted(woken) == [0, 0, 0, 1]


@pytest.mark.postgres
def test_an_event_that_comes_while_a_worker_begins_the_wait_is_not_lost(
    home: Workspace, events: ScriptedEvents, clock: MovableClock
):
    """The worker has read the events and not yet committed; the delivery waits for it, then wakes."""
    with workspace_scope(home.pk):
        scenario = GraphScenario(
            wait("w", 1, "hour"),
            wait_for("e"),
            wait("came", 1, "day"),
            edges=["start -> w", "w -> e", "e -> came"],
        )
        scenario.settle()
        clock.advance(hours=1)
        token = uuid4()
        ids = claim.claim_due(scenario.campaign.pk, consuming=False, limit=9, token=token, now=clock.at)
    person, woken = scenario.targets[0].pk, []
    has_read, delivering = threading.Event(), threading.Event()

    def pause() -> None:
        has_read.set()
        assert delivering.wait(10)
        threading.Event().wait(0.4)  # the event is under way meanwhile

    def work(index: int) -> None:
        if index == 0:
            process_executions(home.pk, ids, token)
        else:
            connection.ensure_connection()
            assert has_read.wait(10)
            later = clock.advance(seconds=1)
            events.happen(person, "paid", later)
            delivering.set()
            woken.append(deliver_event(home.pk, "paid", ("target", person), later))

    with failpoints.acting("mid_reserve_tx", pause):
        at_once(2, work, workspace_id=home.pk)
    with workspace_scope(home.pk):
        assert woken == [1]
        scenario.settle()
        assert scenario.at() == "came"


def test_a_token_stays_who_it_is_while_events_rain_down(
    home: Workspace, events: ScriptedEvents, clock: MovableClock
):
    with workspace_scope(home.pk):
        scenario = GraphScenario(*PARTING, edges=WAYS, people=10)
        scenario.settle()
        clock.advance(hours=2)
        token = uuid4()
        claim.claim_due(scenario.campaign.pk, consuming=False, limit=99, token=token, now=clock.at)

    def rain(_index: int) -> int:
        return sum(deliver_event(home.pk, "paid", ("target", p.pk), clock.at) for p in scenario.targets)

    assert at_once(3, rain, workspace_id=home.pk) == [0, 0, 0]
    with workspace_scope(home.pk):
        held = WorkflowExecution.objects.values_list("lock_token", "status").distinct()
        assert list(held) == [(token, "queued")]


def test_an_answer_that_many_work_on_beside_its_time_out_goes_on_once(home: Workspace, clock: MovableClock):
    """From the message to the walk, at the very end of the wait: whoever wins, one way and one event."""
    with workspace_scope(home.pk):
        waits = wait_for("e", "sms_received", amount=2, unit="hours"), *PARTING[1:]
        scenario = GraphScenario(*waits, edges=WAYS)
        scenario.settle()
        clock.advance(hours=2)
        row = make(InboundSms, home, text="بله", number=scenario.targets[0].mobile)
        make(InboundPending, home, inbound=row)
    at_once(5, lambda i: process([row.pk], clock.at) if i < 3 else bool(run_tick()), workspace_id=home.pk)
    with workspace_scope(home.pk):
        scenario.settle()
        assert (TargetEvent.objects.count(), TargetEventPending.objects.count()) == (1, 0)
        assert (scenario.at() in ("came", "late"), finished_waits()) == (True, 1)

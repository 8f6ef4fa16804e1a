"""The follow-up step: one activity a visit, whatever the channel, the hours and the budget say."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from automation.models import AutomationSettings
from automation.runtime import claim
from automation.runtime.runner import process_executions
from automation.states import ExecutionStatus
from core import failpoints
from core.tenancy import current_workspace_id
from sms.models import ProviderAccount
from targets import activities
from targets.models import Activity, ActivityKind, Target
from tests.clocks import MovableClock
from tests.people import make_member
from tests.scenario import OFFICE_HOURS, Scenario, assert_conserved, end, send, wait
from workspaces.models import Role, Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


def follow_up(title: str = "تماس با {target.first_name}", **config: Any) -> dict[str, Any]:
    return {"type": "action", "subtype": "create_followup", "config": {"title": title, **config}}


def recorded() -> Activity:
    return Activity.objects.get()


@pytest.mark.parametrize("kind", ActivityKind.values)
def test_each_kind_is_recorded_on_the_person_s_list(kind: str):
    scenario = Scenario(follow_up(kind=kind))
    scenario.settle()
    assert (recorded().kind, recorded().target_id) == (kind, scenario.targets[0].pk)
    assert scenario.execution().status == ExecutionStatus.COMPLETED


@pytest.mark.parametrize(
    ("due_in", "later"),
    [
        ({"amount": 0, "unit": "hour"}, timedelta(0)),
        (None, timedelta(0)),
        ({"amount": 3, "unit": "hour"}, timedelta(hours=3)),
        ({"amount": 2, "unit": "days"}, timedelta(days=2)),
    ],
)
def test_it_is_due_counted_from_reaching_the_step(clock: MovableClock, due_in: object, later: timedelta):
    scenario = Scenario(wait(1, "hour"), follow_up(due_in=due_in))
    scenario.settle()
    reached = clock.advance(hours=1, minutes=7)
    scenario.settle()
    assert recorded().due_at == reached + later


def test_texts_hold_the_person_s_values_and_fallbacks():
    scenario = Scenario(follow_up("زنگ به {name}", description="شهر: {city|نامعلوم}"))
    Target.objects.update(name="سارا احمدی")
    scenario.settle()
    assert (recorded().title, recorded().description) == ("زنگ به سارا احمدی", "شهر: نامعلوم")


def test_it_is_for_whoever_owns_the_person_now_and_by_nobody(workspace: Workspace):
    seller = make_member(workspace, Role.SELLER)
    scenario = Scenario(follow_up())
    Target.objects.update(owner=seller)
    scenario.settle()
    assert (recorded().owner, recorded().created_by) == (seller, None)


def test_the_person_s_status_stays():
    scenario = Scenario(follow_up())
    scenario.settle()
    assert Target.objects.get().status == "new"


def test_no_limit_window_or_closed_channel_holds_it_back(clock: MovableClock):
    scenario = Scenario(follow_up(), cap=0, window=OFFICE_HOURS)
    ProviderAccount.objects.update(paused_until=clock.at + timedelta(days=2))
    AutomationSettings.objects.update(global_daily_limit=0)
    clock.move_to(clock.at.replace(hour=22))
    scenario.settle()
    assert Activity.objects.count() == 1


def test_it_is_recorded_after_a_message_and_the_walk_goes_on():
    scenario = Scenario(send("یک"), follow_up(), send("دو"))
    scenario.settle()
    assert [sent.text for sent in scenario.provider.accepted] == ["یک", "دو"]
    assert Activity.objects.count() == 1
    assert_conserved()


def test_the_history_says_what_was_recorded():
    scenario = Scenario(follow_up())
    scenario.settle()
    assert scenario.events() == ["node_entered", "followup", "node_entered", "completed"]
    line = scenario.execution().events.get(type="followup")
    assert line.data["activity_id"] == recorded().pk


def test_a_new_round_records_a_new_one(clock: MovableClock):
    delay = {"amount": 1, "unit": "day"}
    scenario = Scenario(follow_up(), end("restart", delay=delay, max_cycles=2))
    scenario.run_to_end(clock)
    assert Activity.objects.count() == 2


def test_a_second_record_of_one_visit_is_refused_by_its_stamp(clock: MovableClock):
    one = activities.Recorded("step:1/2/1", Scenario(send()).targets[0].pk, "call", "x", "", clock.at, None)
    made = activities.record(current_workspace_id(), [one])
    assert activities.record(current_workspace_id(), [one]) == {}
    assert list(made.values()) == [recorded().pk]


def test_a_worker_that_fails_before_moving_on_has_recorded_nothing(clock: MovableClock):
    scenario = Scenario(follow_up(), people=3)
    with failpoints.acting("followup_tx", _fail_once()):
        scenario.settle()
    clock.advance(hours=1)
    scenario.settle()
    assert sorted(Activity.objects.values_list("target_id", flat=True)) == [t.pk for t in scenario.targets]


def _fail_once() -> Any:
    left = [True]

    def act() -> None:
        if left.pop() if left else False:
            raise RuntimeError("the worker is gone")

    return act


def test_a_worker_that_lost_its_lease_records_nothing(clock: MovableClock):
    scenario = Scenario(follow_up())
    ids = claim.claim_due(scenario.campaign.pk, consuming=False, limit=10, token=uuid4(), now=clock.at)
    process_executions(current_workspace_id(), ids, uuid4())
    assert not Activity.objects.exists()


def test_somebody_held_out_is_not_called(clock: MovableClock):
    scenario = Scenario(follow_up())
    scenario.campaign.executions.update(is_holdout=True)
    scenario.settle()
    assert not Activity.objects.exists()
    assert "suppressed" in scenario.events()


def test_a_hundred_follow_ups_cost_as_many_statements_as_ten(clock: MovableClock):
    counts = []
    for people in (10, 100):
        scenario = Scenario(follow_up(description="{city|—}"), people=people)
        token = uuid4()
        ids = claim.claim_due(scenario.campaign.pk, consuming=False, limit=1000, token=token, now=clock.at)
        with CaptureQueriesContext(connection) as queries:
            process_executions(current_workspace_id(), ids, token)
        counts.append(len(queries))
    assert Activity.objects.count() == 110
    assert counts[0] == counts[1] <= 20

from __future__ import annotations

import itertools
import json
from datetime import timedelta
from io import StringIO
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from automation.models import AutomationSettings, WorkflowExecution
from automation.runtime import tick
from automation.runtime.tick import run_tick
from automation.states import ExecutionStatus
from campaigns.models import Campaign
from core.heartbeat import last_beat
from core.locks import named_lock
from core.tenancy import current_workspace_id, workspace_scope
from sms.models import ProviderAccount
from tests.clocks import MovableClock
from tests.scenario import OFFICE_HOURS, Scenario, send, wait
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ready(workspace: Workspace, clock: MovableClock) -> None:
    """Every test has a workspace and a clock that stands still."""


@pytest.fixture
def dispatched(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """What the tick hands to the queue; nobody works it."""
    chunks: list[list[int]] = []
    monkeypatch.setattr(
        "automation.runtime.tick.enqueue", lambda _name, payload, **_kw: chunks.append(payload["ids"])
    )
    return chunks


def test_a_tick_claims_and_dispatches_but_never_calls_the_provider(dispatched: list[list[int]]):
    scenario = Scenario(people=3)
    report = scenario.tick()
    assert (report.claimed, len(dispatched[0]), scenario.provider.asked) == (3, 3, [])
    assert scenario.statuses() == {"queued": 3}


def test_a_second_tick_claims_nothing_again(dispatched: list[list[int]]):
    scenario = Scenario(people=3)
    scenario.tick()
    assert scenario.tick().claimed == 0


def test_only_as_many_are_claimed_as_the_cap_leaves(dispatched: list[list[int]]):
    scenario = Scenario(people=5, cap=2)
    report = scenario.tick()
    assert (report.claimed, report.deferred_limit) == (2, 3)
    untouched = WorkflowExecution.objects.filter(status=ExecutionStatus.ACTIVE)
    assert set(untouched.values_list("revision", flat=True)) == {0}


def test_claims_on_their_way_count_against_the_cap(dispatched: list[list[int]]):
    scenario = Scenario(people=5, cap=2)
    scenario.tick()
    assert scenario.tick().claimed == 0


def test_a_cap_of_zero_sends_nothing(dispatched: list[list[int]]):
    assert Scenario(people=2, cap=0).tick().claimed == 0


def test_the_oldest_go_first(dispatched: list[list[int]], clock: MovableClock):
    scenario = Scenario(people=3, cap=1)
    late = scenario.execution(2)
    WorkflowExecution.objects.filter(pk=late.pk).update(next_run_at=clock.at - timedelta(hours=1))
    scenario.tick()
    assert dispatched == [[late.pk]]


def test_moved_to_one_opening_the_old_order_stays(dispatched: list[list[int]], clock: MovableClock):
    clock.advance(hours=10)
    scenario = Scenario(people=3, cap=1, window=OFFICE_HOURS)
    first = scenario.execution(1)
    WorkflowExecution.objects.filter(pk=first.pk).update(eligible_at=clock.at - timedelta(days=1))
    scenario.tick()
    clock.move_to(scenario.execution(0).next_run_at)
    scenario.tick()
    assert dispatched == [[first.pk]]


def test_a_closed_window_moves_what_is_due_in_one_statement(clock: MovableClock):
    clock.advance(hours=10)
    scenario = Scenario(people=50, window=OFFICE_HOURS)
    with CaptureQueriesContext(connection) as queries:
        report = scenario.tick()
    moves = [q for q in queries if q["sql"].startswith("UPDATE") and "next_run_at" in q["sql"]]
    assert (report.deferred_window, report.claimed) == (50, 0)
    assert len([q for q in moves if "queued" not in q["sql"]]) == 1
    row = scenario.execution()
    assert (row.next_run_at, row.eligible_at) == (clock.at + timedelta(hours=14), clock.at)


def test_a_closed_window_does_not_hold_light_steps(clock: MovableClock):
    scenario = Scenario(wait(1, "hour"), send(), window=OFFICE_HOURS)
    scenario.settle()
    clock.advance(hours=10)
    assert scenario.tick().claimed_light == 1


def test_a_tick_whose_time_is_over_leaves_the_rest_of_a_campaign_to_the_next(
    dispatched: list[list[int]], monkeypatch: pytest.MonkeyPatch
):
    scenario = Scenario(people=3)
    seconds = itertools.count(step=30)
    monkeypatch.setattr(tick, "time", SimpleNamespace(monotonic=lambda: float(next(seconds))))
    monkeypatch.setattr(tick, "CLAIM_BATCH", 1)
    assert scenario.tick().claimed == 1
    assert scenario.statuses() == {"queued": 1, "active": 2}


def test_claims_of_one_campaign_leave_less_of_the_shops_limit_to_the_next(dispatched: list[list[int]]):
    first, second = Scenario(people=3), Scenario(people=3)
    AutomationSettings.objects.update(global_daily_limit=4)
    assert first.tick().claimed == 4
    assert (first.statuses(), second.statuses()) == ({"queued": 3}, {"queued": 1, "active": 2})


def test_a_light_round_takes_at_most_five_hundred(dispatched: list[list[int]]):
    scenario = Scenario(wait(1), people=600)
    assert scenario.tick().claimed_light == 500


@pytest.mark.parametrize("status", ["draft", "scheduled", "paused", "completed", "cancelled"])
def test_a_campaign_that_does_not_run_is_left_alone(
    dispatched: list[list[int]], clock: MovableClock, status: str
):
    scenario = Scenario()
    scenario.campaign.status = status
    scenario.campaign.starts_at = clock.at + timedelta(days=1)
    scenario.campaign.paused_at = clock.at if status == "paused" else None
    scenario.campaign.save()
    assert scenario.tick().claimed == 0


def test_a_workspace_with_automation_off_is_skipped(dispatched: list[list[int]]):
    scenario = Scenario()
    AutomationSettings.objects.update(enabled=False)
    report = scenario.tick()
    assert (report.claimed, report.skipped) == (0, {"automation_disabled": 1})


def test_a_workspace_without_a_provider_is_skipped_and_others_are_served(
    dispatched: list[list[int]],
):
    scenario = Scenario()
    ProviderAccount.objects.update(is_active=False)
    report = scenario.tick()
    assert (report.claimed, report.skipped) == (0, {"provider_not_ready": 1})


def test_a_broker_that_is_away_loses_nothing(monkeypatch: pytest.MonkeyPatch):
    scenario = Scenario(people=2)

    def refuse(*_args: object, **_kw: object) -> None:
        raise ConnectionError("broker away")

    monkeypatch.setattr("automation.runtime.tick.enqueue", refuse)
    report = scenario.tick()
    assert (report.undispatched, scenario.statuses()) == (2, {"active": 2})


def test_a_tick_beats_and_a_second_at_once_steps_aside(clock: MovableClock):
    with named_lock("automation_tick") as held:
        assert held
        assert run_tick().busy
    run_tick()
    assert last_beat("tick") == clock.at


def test_the_command_prints_one_line_of_json():
    Scenario(people=2)
    out = StringIO()
    call_command("automation_tick", "--json", stdout=out)
    assert json.loads(out.getvalue())["claimed"] == 2


def test_the_command_refuses_loop_with_drain():
    with pytest.raises(CommandError):
        call_command("automation_tick", "--loop", "--drain")


def test_draining_works_the_queue_in_this_process(settings: object):
    settings.QUEUE = "django_q"  # type: ignore[attr-defined]
    scenario = Scenario(people=3)
    out = StringIO()
    call_command("automation_tick", "--drain", "--json", stdout=out)
    assert json.loads(out.getvalue())["worked"] >= 1
    assert len(scenario.provider.accepted) == 3


def test_the_reap_command_runs_on_an_empty_database():
    out = StringIO()
    call_command("automation_reap", stdout=out)
    assert out.getvalue().strip() == "0"


def test_another_workspace_s_people_are_served_in_their_own_scope(other_workspace: Workspace):
    here = Scenario(people=1)
    with workspace_scope(other_workspace.pk):
        there = Scenario(people=1)
    run_tick()
    assert len(here.provider.accepted) == 1
    assert len(there.provider.accepted) == 1
    assert current_workspace_id() != other_workspace.pk


def test_a_step_of_the_agenda_that_fails_keeps_nobody_from_theirs(monkeypatch: pytest.MonkeyPatch):
    def broken(_now: object) -> dict[str, int]:
        raise ValueError("damaged row")

    monkeypatch.setattr(tick, "steps_with_work", lambda _now: [broken])
    scenario = Scenario()
    report = scenario.tick()
    assert (report.skipped, len(scenario.provider.accepted)) == ({"step_failed": 1}, 1)


def test_a_step_that_is_off_is_passed_by_without_budget():
    scenario = Scenario({**send(), "is_enabled": False}, wait(1), cap=0)
    assert scenario.tick().claimed_light == 1
    assert scenario.events()[:3] == ["node_entered", "skipped", "node_entered"]
    assert (scenario.statuses(), scenario.logs()) == ({"waiting": 1}, [])


def test_the_limit_of_a_workflow_holds_over_its_campaigns():
    scenario = Scenario(people=4, settings={"daily_limit": 5})
    scenario.campaign = Campaign.objects.create(
        workspace_id=current_workspace_id(), name="دوم", workflow=scenario.version.workflow,
        workflow_version=scenario.version, status="active",
    )  # fmt: skip
    scenario.enrol(4)
    scenario.settle()
    assert len(scenario.provider.accepted) == 5


def test_after_an_outage_the_oldest_go_first_and_every_workspace_has_its_turn(
    dispatched: list[list[int]],
    clock: MovableClock,
    other_workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(tick, "CLAIM_BATCH", 1)
    monkeypatch.setattr(tick, "TURN", 2)
    here = Scenario(people=1)
    with workspace_scope(other_workspace.pk):
        there = Scenario(people=1)
    for _hour in range(6):  # no tick comes
        clock.advance(hours=1)
        here.enrol(1)
    report = run_tick()
    ids = [pk for message in dispatched for pk in message]
    with workspace_scope(other_workspace.pk):
        theirs = there.execution().pk
    ours = [pk for pk in ids if pk != theirs]
    assert report.claimed == 8
    assert ours == sorted(ours)
    assert ids.index(theirs) in (0, 2)  # not behind the seven of the others


def test_who_found_no_budget_is_counted_once_however_many_turns_there_are(
    dispatched: list[list[int]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tick, "TURN", 2)
    Scenario(people=3, cap=0)
    Scenario(people=4)
    report = run_tick()
    assert (report.claimed, report.deferred_limit) == (4, 3)

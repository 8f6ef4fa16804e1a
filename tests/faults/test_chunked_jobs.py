"""Reports, answers, imports, selections: killed midway, begun again; nothing is lost, nothing done twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from automation.control_moves import Operation
from automation.models import WorkflowExecution, WorkflowExecutionEvent
from blacklist.models import BlacklistEntry
from campaigns import actions, changing, jobs, newcomer_checks, settling
from campaigns import newcomers as newcomers_rule
from campaigns.enrollment import batches, committer
from campaigns.models import BatchStatus, EnrollmentBatch
from campaigns.people import PeopleFilter
from sms.models import InboundOutcome, InboundSms, SmsLog, SmsLogEvent, SmsSettings
from targets.filters import TargetFilter
from targets.models import ImportJob, ImportRow, Target, TargetEvent, TargetEventPending
from targets.queries import Visibility
from tests.faults.house import House
from tests.faults.world import World, make_world

pytestmark = [pytest.mark.concurrency, pytest.mark.postgres]
ROWS = 1_200  # three pieces of an import, three chunks of a selection


@pytest.fixture
def world(house: House, request: pytest.FixtureRequest) -> Iterator[World]:
    made = make_world(house, f"c{abs(hash(request.node.name)) % 10**12}", url=house.new_provider())
    yield made
    house.kill_all()
    made.leave()


def mine(model: Any, world: World) -> Any:
    return model.unscoped.filter(workspace_id=world.workspace.pk)


def killed_then_whole(world: World, job: str, argument: dict[str, Any], failpoint: str) -> None:
    """The process dies at `failpoint`; whoever wanted the job asks for it again."""
    assert world.house.run(job, argument=argument, failpoints=failpoint).killed
    assert world.house.run(job, argument=argument).code == 0


# -- what comes in ------------------------------------------------------------------------------------


def test_delivery_reports_whose_storing_was_killed_are_stored_once(world: World):
    """The provider gets no answer and posts again, and then once more."""
    world.house.run("tick_and_work")
    ids = [message.id for message in world.house.accepted()]
    token = SmsSettings.unscoped.get(workspace_id=world.workspace.pk).webhook_token
    reports = {"reports": [{"message_id": one, "status": "delivered"} for one in ids]}
    argument = {"path": f"/api/webhooks/sms/generic/{token}", "body": json.dumps(reports)}
    killed_then_whole(world, "post", argument, "report_tx=kill")
    world.house.run("post", argument=argument)
    assert set(mine(SmsLog, world).values_list("status", flat=True)) == {"delivered"}
    assert mine(SmsLogEvent, world).count() == len(ids) > 0


def somebody_says_no(world: World, text: str = "لغو") -> dict[str, Any]:
    token = SmsSettings.unscoped.get(workspace_id=world.workspace.pk).webhook_token
    number = world.scenario.targets[0].mobile
    body = json.dumps({"from": number, "to": "50004001", "body": text})
    return {"path": f"/api/webhooks/sms/inbound/{token}", "body": body}


def heard_once(world: World) -> None:
    counts = [mine(model, world).count() for model in (InboundSms, InboundOutcome, BlacklistEntry)]
    assert counts == [1, 1, 1]


def test_an_opt_out_whose_storing_was_killed_is_heard_once(world: World):
    killed_then_whole(world, "post", somebody_says_no(world), "inbound_stored_tx=kill")
    world.house.run("work")
    heard_once(world)


def test_an_opt_out_whose_worker_was_killed_is_heard_once(world: World):
    """It is stored and acknowledged; its task died with the worker, the next tick does it."""
    assert world.house.run("post", argument=somebody_says_no(world)).code == 0
    assert world.house.run("work", failpoints="inbound_tx=kill").killed
    world.house.clock.set(world.house.clock.now() + timedelta(minutes=1))
    world.house.run("tick")
    heard_once(world)


def test_an_answer_whose_worker_was_killed_after_telling_is_an_event_once(world: World):
    """The mark beside the event outlives the worker; the next tick tells again and takes it away."""
    assert world.house.run("post", argument=somebody_says_no(world, "بله")).code == 0
    assert world.house.run("work", failpoints="event_told=kill").killed
    assert mine(TargetEventPending, world).count() == 1
    world.house.clock.set(world.house.clock.now() + timedelta(minutes=1))
    world.house.run("tick")
    assert [mine(TargetEvent, world).count(), mine(TargetEventPending, world).count()] == [1, 0]


# -- imports ------------------------------------------------------------------------------------------


def people_in_a_file(folder: Path) -> Path:
    file = folder / "people.csv"
    lines = [f"نفر {n},0935{n:07d}" for n in range(ROWS)]
    file.write_text("\n".join(["نام,موبایل", *lines]), encoding="utf-8")
    return file


@pytest.mark.parametrize("failpoint", ["import_piece_tx=kill@2", "import_piece=kill@2"])
def test_an_import_that_was_killed_goes_on_where_it_was(world: World, tmp_path: Path, failpoint: str):
    before, file = mine(Target, world).count(), people_in_a_file(tmp_path)
    argument = {"workspace": world.workspace.pk, "path": str(file)}
    assert world.house.run("upload", argument=argument).code == 0
    job = mine(ImportJob, world).get()
    payload = {"workspace_id": world.workspace.pk, "job_id": job.pk}
    message = {"name": "targets.run_import", "payload": payload}
    assert world.house.run("task", argument=message, failpoints=failpoint).killed
    world.house.clock.set(world.house.clock.now() + timedelta(minutes=3))
    world.house.run("tick_and_work")  # the tick finds the job without a worker
    job.refresh_from_db()
    assert (job.status, job.counts["created"]) == ("done", ROWS)
    assert mine(Target, world).count() == before + ROWS
    assert mine(ImportRow, world).count() == ROWS


# -- selections ---------------------------------------------------------------------------------------


def newcomers(world: World) -> list[int]:
    rows = [
        Target(workspace_id=world.workspace.pk, first_name=f"تازه {n}", mobile=f"0935{n:07d}")
        for n in range(ROWS)
    ]
    with world.inside():
        return [row.pk for row in Target.objects.bulk_create(rows)]


def selection(world: World, people: list[int]) -> tuple[EnrollmentBatch, dict[str, Any]]:
    """A batch whose worker may begin, and its message."""
    with world.inside():
        batch = batches.create(world.scenario.campaign, people, user=None)
        held = batches.take(batch, batch.counts)
    payload = {"workspace_id": world.workspace.pk, "batch_id": batch.pk, "held": held, "user_id": None}
    return batch, {"name": committer.TASK, "payload": payload}


@pytest.mark.parametrize("failpoint", ["enrol_chunk_tx=kill@2", "enrol_chunk=kill@2"])
def test_a_selection_whose_worker_was_killed_is_added_once_when_asked_again(world: World, failpoint: str):
    people = newcomers(world)
    batch, message = selection(world, people)
    assert world.house.run("task", argument=message, failpoints=failpoint).killed
    world.house.run("task", argument=message)  # the queue delivers it again: the batch is not its any more
    entered = mine(WorkflowExecution, world).filter(subject_id__in=people)
    assert 0 < entered.count() < ROWS
    with world.inside():
        assert batches.fail(batch.pk, world.house.clock.now(), reason="stopped")
    again, message = selection(world, people)
    assert world.house.run("task", argument=message).code == 0
    again.refresh_from_db()
    assert again.status == BatchStatus.COMMITTED
    assert entered.count() == entered.values("subject_id").distinct().count() == ROWS


# -- large campaigns ----------------------------------------------------------------------------------


@pytest.mark.parametrize("failpoint", ["settle_chunk_tx=kill", "settle_chunk=kill"])
def test_an_end_whose_worker_was_killed_stops_everybody_once(
    world: World, failpoint: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(settling, "ask", lambda *_: None)
    campaign = world.scenario.campaign
    with world.inside():
        world.scenario.enrol(ROWS)
        actions.cancel(campaign.pk, user=None)
    inside = mine(WorkflowExecution, world).filter(campaign=campaign)
    assert 0 < inside.filter(active_key=1).count() < ROWS
    payload = {"workspace_id": world.workspace.pk, "campaign_id": campaign.pk}
    message = {"name": settling.TASK, "payload": payload}
    assert world.house.run("task", argument=message, failpoints=failpoint).killed
    world.house.run("tick")
    assert set(inside.values_list("status", flat=True)) == {"cancelled"}
    lines = mine(WorkflowExecutionEvent, world).filter(campaign=campaign, type="cancelled")
    assert lines.count() == lines.values("execution_id").distinct().count() == inside.count()


def test_a_rule_whose_check_was_killed_lets_everybody_in_once(world: World):
    with world.inside():
        people = newcomers(world)[:3]
        Target.objects.filter(pk__in=people).update(city="شیراز")
        newcomers_rule.save_rule(
            world.scenario.campaign.pk, filters=TargetFilter({"city": "شیراز"}), daily_cap=10,
            include_existing=True, user=None,
        )  # fmt: skip
    world.house.clock.set(world.house.clock.now() + timedelta(minutes=5))
    payload = {"workspace_id": world.workspace.pk, "campaign_id": world.scenario.campaign.pk}
    killed_then_whole(world, "task", {"name": newcomer_checks.TASK, "payload": payload}, "newcomers_tx=kill")
    entered = mine(WorkflowExecution, world).filter(subject_id__in=people)
    assert sorted(entered.values_list("subject_id", flat=True)) == sorted(people)


def test_a_large_job_whose_worker_was_killed_goes_on_where_it_was(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(jobs, "ask", lambda *_: None)
    campaign = world.scenario.campaign
    with world.inside():
        world.scenario.enrol(ROWS)
        shown = PeopleFilter({"status": "active"}, campaign=campaign)
        job = changing.change_all(campaign, shown, Operation.PAUSE, Visibility.everyone(), user=None)
    payload = {"workspace_id": world.workspace.pk, "job_id": job.pk, "held": 0}
    message = {"name": jobs.TASK, "payload": payload}
    assert world.house.run("task", argument=message, failpoints="job_part=kill").killed
    world.house.clock.set(world.house.clock.now() + timedelta(minutes=3))
    world.house.run("tick_and_work")
    job.refresh_from_db()
    inside = mine(WorkflowExecution, world).filter(campaign=campaign)
    paused = inside.filter(status="paused").count()  # the tick's own messages went on meanwhile
    assert (job.status, job.done, job.counts) == ("done", paused, {"changed": paused})
    assert (paused > 1_000, inside.filter(status="active").exists()) == (True, False)

"""Every message of every task may come again, and again after that: the second copy finds nothing to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django_q.models import OrmQ
from django_q.signing import SignedPackage

from automation.control_moves import Operation
from campaigns import changing, jobs, kept_figures, newcomer_checks, settling
from campaigns import newcomers as newcomer_rule
from campaigns.enrollment import committer
from campaigns.models import Campaign, CampaignFigures
from campaigns.people import PeopleFilter
from core.queue.port import task_names
from core.tenancy import WorkspaceModel
from sms import retries
from sms.models import ProviderAccount
from targets import event_delivery
from targets.filters import TargetFilter
from targets.models import ImportJob, Target, TargetEvent, TargetEventPending
from targets.queries import Visibility
from tests.contract.test_task_payloads import RECORDED
from tests.factories import make
from tests.faults.house import House
from tests.faults.test_chunked_jobs import mine, newcomers, people_in_a_file, selection, somebody_says_no
from tests.faults.world import World, make_world
from tests.sms.messages import make_log
from workspaces.models import Membership

pytestmark = [pytest.mark.concurrency, pytest.mark.postgres]
LOST_ANSWER = {"do": "close", "accept": True}
Payload = dict[str, Any]


@pytest.fixture
def world(house: House, request: pytest.FixtureRequest) -> Iterator[World]:
    made = make_world(house, f"r{abs(hash(request.node.name)) % 10**12}", url=house.new_provider())
    yield made
    house.kill_all()
    made.leave()


def waiting(world: World, name: str) -> Payload:
    """The payload of the message of this task that is in the queue; it is taken out."""
    found = [SignedPackage.loads(row.payload)["args"] for row in OrmQ.objects.order_by("pk")]
    OrmQ.objects.all().delete()
    return next(payload for task, payload in found if task == name)


def later(world: World, **span: int) -> None:
    world.house.clock.set(world.house.clock.now() + timedelta(**span))


def a_chunk(world: World, _folder: Path) -> Payload:
    world.house.run("tick")
    return waiting(world, "automation.process_executions")


def accepted_messages(world: World, _folder: Path) -> Payload:
    world.house.run("tick_and_work")
    later(world, minutes=2)
    return {}


def unknown_messages(world: World, _folder: Path) -> Payload:
    world.house.provider(LOST_ANSWER)
    world.house.run("tick_and_work")
    world.house.provider()
    later(world, minutes=20)
    return {}


def a_no(world: World, _folder: Path) -> Payload:
    world.house.run("post", argument=somebody_says_no(world))
    return waiting(world, "sms.process_inbound")


def an_answered_no(world: World, folder: Path) -> Payload:
    world.house.run("task", argument={"name": "sms.process_inbound", "payload": a_no(world, folder)})
    return {"workspace_id": world.workspace.pk}


def an_import(world: World, folder: Path) -> Payload:
    file = people_in_a_file(folder)
    world.house.run("upload", argument={"workspace": world.workspace.pk, "path": str(file)})
    return {"workspace_id": world.workspace.pk, "job_id": mine(ImportJob, world).get().pk}


def a_selection(world: World, _folder: Path) -> Payload:
    _batch, message = selection(world, newcomers(world))
    payload: Payload = message["payload"]
    return payload


def figures_asked_for(world: World, _folder: Path) -> Payload:
    row = make(
        CampaignFigures, world.workspace, campaign=mine(Campaign, world).get(),
        asked_at=world.house.clock.now(),
    )  # fmt: skip
    member = make(Membership, world.workspace)
    return {"workspace": world.workspace.pk, "figures": row.pk, "membership": member.pk}


def a_start(world: World, _folder: Path) -> Payload:
    campaign = mine(Campaign, world)
    campaign.update(starting=True)
    return {"workspace_id": world.workspace.pk, "campaign_id": campaign.get().pk}


def a_rule(world: World, _folder: Path) -> Payload:
    newcomers(world)
    later(world, minutes=2)
    campaign = mine(Campaign, world).get()
    with world.inside():
        meant = TargetFilter({"status": "new"})
        newcomer_rule.save_rule(campaign.pk, filters=meant, daily_cap=9, include_existing=True, user=None)
    return {"workspace_id": world.workspace.pk, "campaign_id": campaign.pk}


def a_job(world: World, _folder: Path) -> Payload:
    campaign = mine(Campaign, world).get()
    with world.inside():
        shown, everyone = PeopleFilter({}, campaign=campaign), Visibility.everyone()
        job = changing.change_all(campaign, shown, Operation.PAUSE, everyone, user=None)
    return {"workspace_id": world.workspace.pk, "job_id": job.pk, "held": job.revision}


def a_wish_to_try_again(world: World, _folder: Path) -> Payload:
    with world.inside():
        account = ProviderAccount.objects.get()
        row = make_log(
            world.workspace, status="failed", producer="test", sender_number=account.lines[0],
            provider_account_id=account.pk,
        )  # fmt: skip
        retries.ask(row.pk, reason="mended", user=make(Membership, world.workspace).user)
    return {"workspace_id": world.workspace.pk}


def an_event(world: World, _folder: Path) -> Payload:
    somebody = mine(Target, world).order_by("pk")[0]
    event = make(TargetEvent, world.workspace, target=somebody)
    make(TargetEventPending, world.workspace, event=event)
    return {"workspace_id": world.workspace.pk, "ids": [event.pk]}


def nothing(_world: World, _folder: Path) -> Payload:
    return {}


MESSAGES: dict[str, Callable[[World, Path], Payload]] = {
    "automation.process_executions": a_chunk,
    committer.TASK: a_selection,
    kept_figures.TASK: figures_asked_for,
    jobs.TASK: a_job,
    newcomer_checks.TASK: a_rule,
    settling.TASK: a_start,
    "core.pulse": nothing,
    "sms.check_credit": nothing,
    "sms.poll_deliveries": accepted_messages,
    "sms.process_inbound": a_no,
    "sms.reconcile": unknown_messages,
    "sms.send_replies": an_answered_no,
    retries.SEND: a_wish_to_try_again,
    event_delivery.DELIVER: an_event,
    "targets.run_import": an_import,
}


def everything(world: World) -> dict[str, list[dict[str, Any]]]:
    """All rows of the workspace, without when they were last touched."""
    models = [model for model in apps.get_models() if issubclass(model, WorkspaceModel)]
    found = {model._meta.label: list(mine(model, world).order_by("pk").values()) for model in models}
    for rows in found.values():
        for row in rows:
            row.pop("updated_at", None)
    return found


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_that_comes_again_changes_nothing(world: World, tmp_path: Path, name: str):
    message: dict[str, Any] = {"name": name, "payload": MESSAGES[name](world, tmp_path)}
    assert set(message["payload"]) >= set(RECORDED[name])  # an older worker finds what it knows
    assert world.house.run("task", argument=message).code == 0
    before, asked = everything(world), len(world.house.accepted())
    for _ in range(2):
        assert world.house.run("task", argument=message).code == 0
    assert everything(world) == before
    assert len(world.house.accepted()) == asked


def test_every_task_is_delivered_again_here():
    assert set(MESSAGES) == {name for name in task_names() if not name.startswith("tests.")}

"""Every failpoint killed under every behaviour of the provider: nobody twice, nobody lost."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from django_q.models import OrmQ

from core import failpoints
from script.processes import free_port
from sms.models import ProviderAccount
from tests.faults.house import House
from tests.faults.oracle import judge
from tests.faults.places import CHUNKED, ELSEWHERE, REAPER, TICK, WORKER
from tests.faults.world import World, make_world

pytestmark = [pytest.mark.concurrency, pytest.mark.postgres]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """How the provider behaves until the kill. `doubtful`: a complete request leaves its outcome in doubt;
    `closes`: nobody else of the chunk is asked after the first answer, so there may be no second one."""

    rules: tuple[Mapping[str, Any], ...] = ()
    doubtful: bool = False
    closes: bool = False
    closed_port: bool = False


MODES: Mapping[str, Mode] = {
    "ok": Mode(),
    "refused": Mode(rules=({"do": "code", "code": "18"},)),
    "no_credit": Mode(rules=({"do": "code", "code": "2"},), closes=True),
    "hang": Mode(rules=({"do": "hang", "accept": False},), doubtful=True),
    "accept_then_hang": Mode(rules=({"do": "hang", "accept": True},), doubtful=True),
    "accept_then_500": Mode(rules=({"do": "http", "status": 500, "accept": True},), doubtful=True),
    "accept_then_reset": Mode(rules=({"do": "reset", "accept": True},), doubtful=True),
    "closed_port": Mode(closed_port=True),
    "garbage": Mode(rules=({"do": "body", "accept": False},), doubtful=True),
}
KILLED_AT = (*TICK, *WORKER, *REAPER)
# What a change is tested with: each place under the kind answer, each answer at the places around the wire.
AROUND_THE_WIRE = ("after_http", "mid_record_tx")
SUBSET = {(point, "ok") for point in KILLED_AT} | set(itertools.product(AROUND_THE_WIRE, MODES))
CELLS = [
    pytest.param(point, mode, marks=() if (point, mode) in SUBSET else pytest.mark.soak, id=f"{point}-{mode}")
    for point, mode in itertools.product(KILLED_AT, MODES)
]


@pytest.fixture
def world(house: House, request: pytest.FixtureRequest) -> Iterator[World]:
    url = house.new_provider()
    made = make_world(house, f"w{abs(hash(request.node.name)) % 10**12}", url=url)
    yield made
    house.kill_all()
    made.leave()


def kill_at(world: World, point: str, mode: Mode) -> None:
    """Let one process of the right kind die at `point`."""
    if point in REAPER:
        assert world.house.run("tick").code == 0
        assert world.house.run("work", failpoints="after_reserve=kill").killed
        world.note_interrupted()
        world.after_lease()
        assert world.house.run("tick", failpoints=f"{point}=kill").killed
        return
    if point == "after_lone_take":  # a message was lost before: its executions are suspects
        world.house.run("tick")
        OrmQ.objects.all().delete()
        world.after_lease()
    if point in WORKER:
        assert world.house.run("tick").code == 0
    job = "tick" if point in TICK else "work"
    in_the_middle = point in ("before_socket", "after_http") and not mode.closes
    nth = 2 if in_the_middle else 1
    assert world.house.run(job, failpoints=f"{point}=kill@{nth}").killed
    world.note_interrupted()


@pytest.mark.parametrize(("point", "mode"), CELLS)
def test_a_process_killed_at(world: World, point: str, mode: str):
    behaviour, house = MODES[mode], world.house
    house.provider(*behaviour.rules)
    if behaviour.closed_port:
        point_account_at(world, f"http://127.0.0.1:{free_port()}")
    already = len(house.requests())
    kill_at(world, point, behaviour)
    if behaviour.doubtful:
        world.doubtful += len(house.requests()) - already
    with world.inside():
        world.block(world.scenario.targets[5].mobile)
    house.provider()
    point_account_at(world, house.simulator.url)
    world.after_lease()
    world.recover()
    world.drain()
    assert judge(world, at_least=1) == []


def point_account_at(world: World, url: str) -> None:
    ProviderAccount.unscoped.filter(workspace_id=world.workspace.pk).update(base_url=url)


def test_every_failpoint_is_killed_somewhere():
    assert sorted((*KILLED_AT, *CHUNKED, *ELSEWHERE)) == sorted(failpoints.NAMES)

"""A worker is killed around a follow-up: one activity for each person, and nobody stays behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from targets.models import Activity
from tests.faults.house import House
from tests.faults.oracle import judge
from tests.faults.world import FIRST, SECOND, World, make_world
from tests.scenario import send

pytestmark = [pytest.mark.concurrency, pytest.mark.postgres]
FOLLOW_UP: dict[str, Any] = {
    "type": "action", "subtype": "create_followup", "config": {"title": "تماس", "kind": "call"},
}  # fmt: skip


@pytest.fixture
def world(house: House, request: pytest.FixtureRequest) -> Iterator[World]:
    steps = (FOLLOW_UP, send(FIRST), send(SECOND))
    name = f"f{abs(hash(request.node.name)) % 10**12}"
    made = make_world(house, name, url=house.new_provider(), steps=steps)
    yield made
    house.kill_all()
    made.leave()


@pytest.mark.parametrize("point", ["followup_tx", "mid_reserve_tx"], ids="{}-killed".format)
def test_a_worker_killed_between_recording_and_moving_on_records_once(world: World, point: str):
    world.house.run("tick")
    assert world.house.run("work", failpoints=f"{point}=kill").killed
    world.after_lease()
    world.recover()
    world.drain()
    recorded = Activity.unscoped.filter(workspace_id=world.workspace.pk).order_by("target_id")
    assert list(recorded.values_list("target_id", flat=True)) == [t.pk for t in world.scenario.targets]
    assert judge(world) == []

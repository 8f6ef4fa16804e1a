"""Is the judge any good? Each guard is taken away in turn, and the verdict must say so."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.faults.house import House
from tests.faults.mutants import MUTANTS
from tests.faults.oracle import judge
from tests.faults.world import World, make_world

pytestmark = [pytest.mark.concurrency, pytest.mark.postgres]
LOST_ANSWER = {"do": "close", "accept": True}
REFUSED = {"do": "code", "code": "18"}


@pytest.fixture
def world(house: House, request: pytest.FixtureRequest) -> Iterator[World]:
    url = house.new_provider()
    made = make_world(house, f"o{abs(hash(request.node.name)) % 10**12}", url=url, people=13, cap=11)
    yield made
    house.kill_all()
    made.leave()


def story(world: World, mutant: str) -> list[str]:
    """One evening in which every guard is needed, by processes without one of them; the verdict.

    Three chunks, each with a lost answer, a refusal and an opt-out: the worker of the first dies with
    everything answered, the second is done, the third is begun after the window has closed. Two people
    are over the cap.
    """
    broken = {"mutants": [mutant] if mutant else []}
    house, numbers = world.house, [target.mobile for target in world.scenario.targets]
    house.provider(LOST_ANSWER | {"when": {"to": numbers[0::4]}}, REFUSED | {"when": {"to": numbers[1::4]}})
    world.doubtful += len(numbers[0::4])
    house.clock.set(house.clock.now() + timedelta(hours=8, minutes=29))  # 17:59
    house.run("tick", **broken)
    with world.inside():
        for number in numbers[2::4]:
            world.block(number)
    house.run("work", failpoints="before_record=kill", **broken)
    world.note_interrupted()
    house.run("work", failpoints="after_record=kill", **broken)
    house.provider()
    house.clock.set(house.clock.now() + timedelta(minutes=2))
    house.run("work", **broken)
    for _ in range(40):  # the provider is asked about lost answers meanwhile
        house.run("tick_and_work", **broken)
        if not world.move_on():
            break
    return judge(world)


def test_the_story_itself_breaks_no_promise(world: World):
    assert story(world, "") == []


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_verdict_notices_that_the_product_would(world: World, mutant: str):
    assert story(world, mutant) != []

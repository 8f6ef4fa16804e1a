"""One execution kills every worker that walks it, inside the first transaction, which leaves no trace."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django_q.models import OrmQ

from automation.models import WorkflowExecution
from sms.models import SmsLog
from tests.faults.house import House
from tests.faults.oracle import judge
from tests.faults.world import World, make_world

pytestmark = [pytest.mark.concurrency, pytest.mark.postgres]


@pytest.fixture
def world(house: House, request: pytest.FixtureRequest) -> Iterator[World]:
    made = make_world(house, f"p{abs(hash(request.node.name)) % 10**12}", url=house.new_provider(), cap=20)
    yield made
    house.kill_all()
    made.leave()


def executions(world: World) -> list[WorkflowExecution]:
    return list(WorkflowExecution.unscoped.filter(workspace_id=world.workspace.pk).order_by("pk"))


def deaths_until_quiet(world: World, poison: int | str, rounds: int = 8) -> int:
    """Tick and work, lease after lease, with workers that die of `poison`; how many died."""
    deaths = 0
    for _ in range(rounds):
        world.house.run("tick")
        died = world.house.run("work", failpoints=f"in_walk=kill#{poison}").killed
        deaths += died
        if not died and not OrmQ.objects.exists():
            break
        world.after_lease()
    return deaths


def test_an_execution_that_kills_its_workers_is_failed_with_the_reason(world: World):
    """One death that nobody sees, one among suspects, three alone."""
    culprit = executions(world)[1].pk
    deaths = deaths_until_quiet(world, culprit)
    row = WorkflowExecution.unscoped.get(pk=culprit)
    assert (row.status, row.end_reason, deaths) == ("failed", "poison", 5)
    assert not SmsLog.unscoped.filter(execution_id=culprit).exists()


def test_the_chunk_mates_of_an_execution_that_kills_its_workers_finish(world: World):
    culprit = executions(world)[1].pk
    deaths_until_quiet(world, culprit)
    world.drain()
    assert judge(world) == [f"execution {culprit} was given up as poison"]
    assert [row.status for row in executions(world) if row.pk != culprit] == ["completed"] * 5


def test_two_executions_that_kill_their_workers_are_told_apart(world: World):
    first, second = (row.pk for row in executions(world)[1:3])
    deaths_until_quiet(world, f"{first}+{second}", rounds=12)
    world.drain()
    ended = {row.pk: row.end_reason for row in executions(world)}
    assert (ended[first], ended[second]) == ("poison", "poison")
    assert list(ended.values()).count("finished") == 4


def test_messages_lost_again_and_again_are_nobody_s_fault(world: World):
    for _ in range(6):
        world.house.run("tick")
        OrmQ.objects.all().delete()
        world.after_lease()
    assert {row.failures for row in executions(world)} == {0}
    world.drain()
    assert judge(world) == []
    assert world.doubtful == 0

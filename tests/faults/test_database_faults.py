"""The database goes away in the middle of a message: before, during and after each of its two commits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection

from automation.models import WorkflowExecution
from core.clock import FileClock
from tests.faults.house import House
from tests.faults.oracle import judge
from tests.faults.proxy import proxy_to
from tests.faults.world import World, make_world

pytestmark = [pytest.mark.concurrency, pytest.mark.postgres]


@pytest.fixture
def world(house: House, request: pytest.FixtureRequest) -> Iterator[World]:
    made = make_world(house, f"d{abs(hash(request.node.name)) % 10**12}", url=house.new_provider())
    yield made
    house.kill_all()
    made.leave()


def reached(file: Path) -> None:
    stop = time.monotonic() + 30
    while not file.exists():
        assert time.monotonic() < stop, "the worker never came to its failpoint"
        time.sleep(0.01)


def drop_all_sessions() -> int:
    """What a restart of the server does to everybody else's connections."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name = 'peyk' AND pid <> pg_backend_pid()"
        )
        return int(cursor.fetchone()[0])


@pytest.mark.parametrize(
    "point",
    ["mid_reserve_tx", "after_reserve", "before_record", "mid_record_tx", "in_claim_tx", "reap_write"],
)
def test_a_server_that_restarts_repeats_and_loses_nobody(world: World, tmp_path: Path, point: str):
    house, file = world.house, tmp_path / "reached"
    if point == "reap_write":
        house.run("tick")
        house.run("work", failpoints="after_reserve=kill")
        world.after_lease()
    elif point != "in_claim_tx":
        house.run("tick")
    job = "tick" if point in ("in_claim_tx", "reap_write") else "work"
    pid = house.start(job, failpoints=f"{point}=pause:{file},once")
    reached(file)
    assert drop_all_sessions() >= 1
    file.unlink()
    house.wait(pid)
    world.note_interrupted()
    world.after_lease()
    world.recover()
    world.drain()
    assert judge(world) == []


@pytest.mark.parametrize("nth", range(1, 7))
def test_a_commit_whose_answer_is_lost_is_not_done_again(world: World, nth: int):
    """Whichever commit of the worker it is: the reservation (the message must not be sent by a second
    copy), or the record (nothing is counted twice)."""
    world.house.run("tick")
    entry = connection.settings_dict
    with proxy_to(entry) as wire:
        wire.lose_commit(nth)
        world.house.run("work", database={"HOST": "127.0.0.1", "PORT": str(wire.port)})
    world.note_interrupted()
    world.after_lease()
    world.recover()
    world.drain()
    assert judge(world) == []


def test_a_database_that_is_gone_while_the_answers_arrive_leaves_them_in_doubt(world: World, tmp_path: Path):
    """Nothing can be written for the rest of this worker's life."""
    house, file = world.house, tmp_path / "reached"
    house.run("tick")
    with proxy_to(connection.settings_dict) as wire:
        pid = house.start(
            "work",
            failpoints=f"before_record=pause:{file},once",
            database={"HOST": "127.0.0.1", "PORT": str(wire.port)},
        )
        reached(file)
        wire.close()
        drop_all_sessions()
        file.unlink()
        house.wait(pid)
    assert world.note_interrupted() == 4
    world.after_lease()
    world.recover()
    world.drain()
    assert judge(world) == []


def test_a_worker_paused_past_its_lease_harms_nobody(world: World, tmp_path: Path):
    """It wakes when somebody else has taken over: its answers settle its own messages and no more."""
    house, file = world.house, tmp_path / "reached"
    house.run("tick")
    pid = house.start("work", failpoints=f"before_record=pause:{file},once")
    reached(file)
    world.after_lease()
    world.recover()
    file.unlink()
    house.wait(pid)
    world.drain()
    assert judge(world) == []
    assert world.doubtful == 0, "the late answers told what became of every message"


def no_deadlock(house: House) -> bool:
    return "deadlock detected" not in (house.folder / "processes.log").read_text("utf-8", "replace")


def test_the_reaper_waits_for_a_late_worker_that_is_writing(world: World, tmp_path: Path):
    """Both take executions first and messages after: one waits, none becomes a deadlock's victim."""
    house, late = world.house, tmp_path / "late"
    house.run("tick")
    worker = house.start("work", failpoints=f"mid_record_tx=pause:{late},once")
    reached(late)
    world.after_lease()
    reaper = house.start("tick")
    time.sleep(0.3)  # it comes to the rows that the late worker is writing
    late.unlink()
    assert (house.wait(worker).code, house.wait(reaper).code) == (0, 0)
    world.drain()
    assert judge(world) == []
    assert no_deadlock(house)


def test_a_late_worker_waits_for_the_reaper_that_is_freeing(world: World, tmp_path: Path):
    house, late, early = world.house, tmp_path / "late", tmp_path / "early"
    house.run("tick")
    worker = house.start("work", failpoints=f"before_record=pause:{late},once")
    reached(late)
    world.after_lease()
    reaper = house.start("tick", failpoints=f"reap_write=pause:{early},once")
    reached(early)
    late.unlink()
    time.sleep(0.3)  # the late worker comes to the rows that the reaper holds
    early.unlink()
    assert (house.wait(worker).code, house.wait(reaper).code) == (0, 0)
    world.drain()
    assert judge(world) == []
    assert no_deadlock(house)


def test_two_ticks_on_hosts_whose_clocks_differ_by_minutes(world: World, tmp_path: Path):
    """The fast one takes back what the other's workers still hold; nobody gets a message twice."""
    house, file = world.house, tmp_path / "reached"
    fast = FileClock(tmp_path / "fast-clock")
    fast.set(house.clock.now() + timedelta(minutes=5))
    house.run("tick")
    pid = house.start("work", failpoints=f"after_reserve=pause:{file},once")
    reached(file)
    other_host = {"VAR_DIR": str(tmp_path / "other-host")}
    house.run("tick", clock=fast.path, settings=other_host)
    house.run("work", clock=fast.path)
    file.unlink()
    house.wait(pid)
    world.after_lease()
    world.drain()
    assert judge(world, clock_stood_still=False) == []
    assert WorkflowExecution.unscoped.filter(workspace_id=world.workspace.pk, status="completed").count() == 6

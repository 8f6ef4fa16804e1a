"""The database goes away in the middle of a message: before, during and after each of its two commits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from automation.models import WorkflowExecution
from automation.runtime.spool import BOUND_TO
from core.clock import FileClock
from core.crypto import open_sealed
from sms.models import SmsLog
from tests.faults.house import House
from tests.faults.oracle import judge
from tests.faults.proxy import proxy_to
from tests.faults.world import FIRST, World, make_world

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


def lose_the_database_while_answers_arrive(world: World, tmp_path: Path) -> None:
    """Nothing can be written for the rest of this worker's life."""
    house, file = world.house, tmp_path / "reached"
    house.run("tick")
    with proxy_to(connection.settings_dict) as wire:
        pid = house.start(
            "work",
            failpoints=f"before_record=pause:{file},once",
            database={"HOST": "127.0.0.1", "PORT": str(wire.port)},
            settings={"VAR_DIR": str(tmp_path / "host"), "LEASE_SECONDS": 24},  # little patience
        )
        reached(file)
        wire.close()
        drop_all_sessions()
        file.unlink()
        house.wait(pid)


def spool_of(tmp_path: Path) -> Path:
    return tmp_path / "host" / "spool" / "answers"


def rows(world: World) -> Any:
    return SmsLog.unscoped.filter(workspace_id=world.workspace.pk).order_by("pk")


def bring_to_its_end(world: World, tmp_path: Path) -> None:
    """On the host whose worker kept the answers."""
    world.after_lease()
    world.house.run("tick_and_work", settings={"VAR_DIR": str(tmp_path / "host")})
    world.drain()


def test_answers_that_find_no_database_are_kept_and_stored_by_the_next_tick(world: World, tmp_path: Path):
    lose_the_database_while_answers_arrive(world, tmp_path)
    assert set(rows(world).values_list("status", flat=True)) == {"sending"}
    world.house.run("tick", settings={"VAR_DIR": str(tmp_path / "host")})
    assert set(rows(world).values_list("status", flat=True)) == {"submitted"}
    ids = {message.id for message in world.house.accepted()}
    assert set(rows(world).values_list("provider_message_id", flat=True)) == ids


def test_nobody_is_in_doubt_after_the_database_was_away_while_answers_arrived(world: World, tmp_path: Path):
    lose_the_database_while_answers_arrive(world, tmp_path)
    bring_to_its_end(world, tmp_path)
    assert judge(world) == []
    assert world.doubtful == 0


def test_a_refusal_that_found_no_database_gives_its_unit_back_once(world: World, tmp_path: Path):
    world.house.provider({"do": "code", "code": "18"})
    lose_the_database_while_answers_arrive(world, tmp_path)
    world.house.provider()
    bring_to_its_end(world, tmp_path)
    assert judge(world) == []
    assert world.doubtful == 0


def test_what_was_kept_names_neither_numbers_nor_texts(world: World, tmp_path: Path):
    lose_the_database_while_answers_arrive(world, tmp_path)
    kept = spool_of(tmp_path).read_text()
    plain = "".join(open_sealed(line, bound_to=BOUND_TO) for line in kept.splitlines())
    numbers = [target.mobile[1:] for target in world.scenario.targets]
    assert not [secret for secret in (*numbers, FIRST, "mobile", "phone") if secret in kept + plain]


def test_answers_kept_twice_are_stored_once(world: World, tmp_path: Path):
    """A copy of the file comes back: what is settled already takes nothing from it."""
    lose_the_database_while_answers_arrive(world, tmp_path)
    kept = spool_of(tmp_path).read_text()
    bring_to_its_end(world, tmp_path)
    before = list(rows(world).values())
    spool_of(tmp_path).write_text(kept)
    world.house.run("tick", settings={"VAR_DIR": str(tmp_path / "host")})
    assert list(rows(world).values()) == before
    assert spool_of(tmp_path).read_text() == ""


def test_a_line_cut_short_by_a_crash_costs_only_itself(world: World, tmp_path: Path):
    spool_of(tmp_path).parent.mkdir(parents=True)
    spool_of(tmp_path).write_text("v1:k1:cut")
    lose_the_database_while_answers_arrive(world, tmp_path)
    bring_to_its_end(world, tmp_path)
    assert world.doubtful == 0
    assert judge(world) == []


def test_a_full_disk_while_the_database_is_away_leaves_them_in_doubt(world: World, tmp_path: Path):
    spool_of(tmp_path).parent.mkdir(parents=True)
    spool_of(tmp_path).symlink_to("/dev/full")
    lose_the_database_while_answers_arrive(world, tmp_path)
    assert world.note_interrupted() == 4
    world.after_lease()
    world.recover()
    world.drain()
    assert judge(world) == []


def test_a_database_that_comes_back_within_the_lease_takes_the_answers(world: World, tmp_path: Path):
    house, file = world.house, tmp_path / "reached"
    house.run("tick")
    pid = house.start("work", failpoints=f"before_record=pause:{file},once")
    reached(file)
    drop_all_sessions()
    file.unlink()
    house.wait(pid)
    assert "sending" not in set(rows(world).values_list("status", flat=True))
    world.drain()
    assert judge(world) == []
    assert world.doubtful == 0


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


def logged(house: House) -> str:
    return (house.folder / "processes.log").read_text("utf-8", "replace")


def test_the_reaper_waits_for_a_late_worker_that_is_writing(world: World, tmp_path: Path):
    """Both take executions first and messages after: one waits, none becomes a deadlock's victim."""
    house, late = world.house, tmp_path / "late"
    house.run("tick")
    before = logged(house)
    worker = house.start("work", failpoints=f"mid_record_tx=pause:{late},once")
    reached(late)
    world.after_lease()
    reaper = house.start("tick")
    time.sleep(0.3)  # it comes to the rows that the late worker is writing
    late.unlink()
    assert (house.wait(worker).code, house.wait(reaper).code) == (0, 0)
    world.drain()
    assert judge(world) == []
    assert "deadlock detected" not in logged(house).removeprefix(before)


def test_a_late_worker_waits_for_the_reaper_that_is_freeing(world: World, tmp_path: Path):
    house, late, early = world.house, tmp_path / "late", tmp_path / "early"
    house.run("tick")
    before = logged(house)
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
    assert "deadlock detected" not in logged(house).removeprefix(before)


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


# Deadlock, serialization failure, lock and statement time-out, disk full, out of memory.
SQL_STATES = ("40P01", "40001", "55P03", "57014", "53100", "53200")
OTHER_STATES = [pytest.param(state, marks=pytest.mark.soak) for state in SQL_STATES[1:]]


@pytest.mark.parametrize("state", [*SQL_STATES[:1], *OTHER_STATES])
@pytest.mark.parametrize("point", ["mid_reserve_tx", "mid_record_tx"])
def test_an_error_that_passes_is_tried_again_at_once(world: World, point: str, state: str):
    """The victim of a deadlock, of a time-out or of a full disk: nobody is in doubt, nothing is doubled."""
    world.house.run("tick")
    world.house.run("work", failpoints=f"{point}=dberror:{state},once")
    statuses = set(executions(world).values_list("status", flat=True))
    assert not statuses & {"queued", "processing"}
    world.drain()
    assert judge(world) == []
    assert world.doubtful == 0


def test_an_error_of_the_database_that_stays_is_put_off_and_counted_for_nobody(world: World):
    for _ in range(3):
        world.house.run("tick")
        world.house.run("work", failpoints="mid_reserve_tx=dberror:55P03")
        world.after_lease()
    assert set(executions(world).values_list("failures", flat=True)) == {0}
    world.drain()
    assert judge(world) == []


def test_answers_that_no_transaction_takes_for_now_are_kept(world: World, tmp_path: Path):
    host = {"VAR_DIR": str(tmp_path / "host")}
    world.house.run("tick")
    world.house.run("work", failpoints="mid_record_tx=dberror:40001", settings=host | {"LEASE_SECONDS": 24})
    world.house.run("tick", settings=host)
    assert "sending" not in set(rows(world).values_list("status", flat=True))
    bring_to_its_end(world, tmp_path)
    assert judge(world) == []
    assert world.doubtful == 0


def executions(world: World) -> Any:
    return WorkflowExecution.unscoped.filter(workspace_id=world.workspace.pk)


@pytest.mark.parametrize("memory_mb", [1, 4])
def test_a_worker_that_runs_out_of_memory_repeats_and_loses_nobody(world: World, memory_mb: int):
    """No thread can be started, no list can grow: whatever it was doing ends there."""
    world.house.run("tick")
    world.house.run("work", memory_mb=memory_mb)
    world.note_interrupted()
    world.doubtful += 4  # a call that ran out of memory after it began may have gone out
    world.after_lease()
    world.recover()
    world.drain()
    assert judge(world) == []

"""The database server itself dies, restarts or is copied, with a worker in the middle of its chunk."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection

from automation.models import WorkflowExecution
from core import clock as core_clock
from core import installation
from script import processes
from sms.models import SmsLog
from tests.faults.cluster import Cluster, cluster, entry_of
from tests.faults.house import House, open_house
from tests.faults.oracle import judge
from tests.faults.test_database_faults import reached
from tests.faults.world import World, make_world

pytestmark = [pytest.mark.concurrency, pytest.mark.postgres]
NAME = "peyk"


def points(*usual: str, seldom: tuple[str, ...] = ()) -> list[Any]:
    """Where the process waits; those that only the long run visits are marked."""
    return [*usual, *(pytest.param(point, marks=pytest.mark.soak) for point in seldom)]


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    # Not among pytest's own folders: those are shut again whenever a pytest starts on this machine.
    with tempfile.TemporaryDirectory(prefix="peyk-cluster-") as name, cluster(Path(name)) as made:
        with psycopg.connect(made.url, autocommit=True) as link:
            link.execute(f"CREATE DATABASE {NAME}")
        yield made


@pytest.fixture(scope="module")
def db(server: Cluster, django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """This process's own connection leads into the cluster for the time of this module."""
    before = dict(connection.settings_dict)
    with django_db_blocker.unblock():
        connection.close()
        connection.settings_dict.update(entry_of(server.url, NAME))
        try:
            call_command("migrate", verbosity=0)
            yield
        finally:  # whatever happens here, the modules after this one have their own database
            connection.close()
            connection.settings_dict.update(before)


@pytest.fixture(scope="module")
def house(db: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("house"), connection.settings_dict) as opened:
        core_clock.use_process_clock(opened.clock)
        yield opened
        core_clock.use_process_clock(None)


@pytest.fixture
def world(house: House, request: pytest.FixtureRequest) -> Iterator[World]:
    made = make_world(house, f"s{abs(hash(request.node.name)) % 10**12}", url=house.new_provider())
    yield made
    house.kill_all()
    made.leave()


def stopped_at(world: World, point: str, file: Path) -> int:
    """A process that waits at `point`; where a worker is meant, a tick came before."""
    if point == "in_claim_tx":
        pid = world.house.start("tick", failpoints=f"{point}=pause:{file},once")
    else:
        world.house.run("tick")
        pid = world.house.start("work", failpoints=f"{point}=pause:{file},once")
    reached(file)
    return pid


def go_on(world: World, pid: int, file: Path) -> None:
    connection.close()  # ours was thrown out as well
    file.unlink()
    world.house.wait(pid)


def finish(world: World) -> None:
    world.note_interrupted()
    world.after_lease()
    world.recover()
    world.drain()
    assert judge(world) == []


@pytest.mark.parametrize(
    "point",
    points("mid_reserve_tx", "before_record", seldom=("in_claim_tx", "after_reserve", "mid_record_tx")),
)
def test_a_postmaster_that_is_killed_recovers_and_repeats_and_loses_nobody(
    world: World, server: Cluster, tmp_path: Path, point: str
):
    file = tmp_path / "reached"
    pid = stopped_at(world, point, file)
    server.kill()
    server.start()
    go_on(world, pid, file)
    finish(world)


@pytest.mark.parametrize("point", points("mid_record_tx", seldom=("mid_reserve_tx",)))
def test_a_backend_that_is_killed_takes_everybody_s_session_along(
    world: World, server: Cluster, tmp_path: Path, point: str
):
    """One backend's SIGKILL makes the server recover: all sessions end, all commits stay."""
    file = tmp_path / "reached"
    pid = stopped_at(world, point, file)
    os.kill(server.backends()[0], signal.SIGKILL)
    connection.close()
    assert processes.wait_until(lambda: answers(server), child=server.child)
    go_on(world, pid, file)
    finish(world)


@pytest.mark.parametrize("point", points("mid_reserve_tx", seldom=("before_record",)))
def test_a_server_that_is_restarted_in_the_middle_of_a_chunk(
    world: World, server: Cluster, tmp_path: Path, point: str
):
    file = tmp_path / "reached"
    pid = stopped_at(world, point, file)
    server.restart()
    go_on(world, pid, file)
    finish(world)


def answers(server: Cluster) -> bool:
    try:
        server.backends()
    except psycopg.OperationalError:
        return False
    return True


@pytest.fixture
def small_disk(server: Cluster, house: House) -> Iterator[Path]:
    """A disk of its own for the messages, of four megabytes; the file to fill it with."""
    if os.geteuid() or not shutil.which("mount"):
        pytest.skip("only root may mount a disk that can be filled")
    with tempfile.TemporaryDirectory(prefix="peyk-disk-") as name:
        disk = Path(name)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], check=False).returncode:
            pytest.skip("this system lets nobody mount a disk that can be filled")
        shutil.chown(disk, server.user or os.getuid())
        try:
            with messages_on(server, disk):
                yield disk / "ballast"
        finally:
            subprocess.run(["umount", "--lazy", disk], check=True)


@contextmanager
def messages_on(server: Cluster, disk: Path) -> Iterator[None]:
    """Each new message needs a page of its own there."""
    with psycopg.connect(f"{server.url.rsplit('/', 1)[0]}/{NAME}", autocommit=True) as link:
        link.execute(f"CREATE TABLESPACE small LOCATION '{disk}'")
        link.execute("ALTER TABLE sms_smslog SET TABLESPACE small, SET (fillfactor = 10)")
        try:
            yield
        finally:
            link.execute("ALTER TABLE sms_smslog SET TABLESPACE pg_default, RESET (fillfactor)")
            link.execute("DROP TABLESPACE small")


def fill(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file, suppress(OSError):  # there is no more room
        while True:
            file.write(bytes(4096))


def said_that_it_was_full(world: World) -> bool:
    return "No space left on device" in (world.house.folder / "processes.log").read_text("utf-8", "replace")


def test_a_full_disk_of_the_database_puts_everybody_off(world: World, small_disk: Path):
    """Nothing can be reserved: nobody is called, in doubt or to blame, and all go on when there is room."""
    fill(small_disk)
    for _ in range(2):
        world.house.run("tick_and_work")
        world.after_lease()
    assert said_that_it_was_full(world)
    assert world.house.requests() == []
    rows = WorkflowExecution.unscoped.filter(workspace_id=world.workspace.pk)
    assert set(rows.values_list("failures", flat=True)) == {0}
    small_disk.unlink()
    world.drain()
    assert judge(world) == []
    assert world.doubtful == 0


@pytest.mark.soak
def test_a_disk_that_is_full_when_the_answers_arrive_costs_none_of_them(
    world: World, small_disk: Path, tmp_path: Path
):
    """They are kept beside the database until it has room again."""
    host, file = {"VAR_DIR": str(tmp_path / "host")}, tmp_path / "reached"
    world.house.run("tick")
    pid = world.house.start(
        "work", failpoints=f"before_record=pause:{file},once", settings=host | {"LEASE_SECONDS": 24}
    )
    reached(file)
    fill(small_disk)
    file.unlink()
    world.house.wait(pid)
    assert said_that_it_was_full(world)
    small_disk.unlink()
    world.house.run("tick", settings=host)
    world.after_lease()
    world.house.run("tick_and_work", settings=host)
    world.drain()
    assert judge(world) == []
    assert world.doubtful == 0


def test_a_copy_of_the_database_sends_nothing(world: World, server: Cluster):
    """A clone with live credentials, due people and messages in its queue."""
    installation.adopt()
    world.house.run("tick")
    connection.close()
    server.copy_database(NAME, "staging")
    world.house.run("tick_and_work", database={"NAME": "staging"})
    assert world.house.requests() == []
    world.drain()
    assert judge(world) == []


def test_a_restored_backup_that_forgot_what_was_sent_sends_nothing(world: World, server: Cluster):
    """The day's messages went out after the backup was made; the backup believes everybody is due."""
    installation.adopt()
    connection.close()
    server.copy_database(NAME, "backup")
    world.house.run("tick_and_work")
    sent = len(world.house.accepted())
    with psycopg.connect(server.url, autocommit=True) as link:
        connection.close()
        link.execute(f"ALTER DATABASE {NAME} RENAME TO lost")
        link.execute(f"ALTER DATABASE backup RENAME TO {NAME}")
    try:
        world.house.run("tick_and_work")
        assert sent > 0
        assert len(world.house.accepted()) == sent
        assert not SmsLog.unscoped.filter(workspace_id=world.workspace.pk).exists()
    finally:
        connection.close()
        with psycopg.connect(server.url, autocommit=True) as link:
            link.execute(f"DROP DATABASE {NAME}")
            link.execute(f"ALTER DATABASE lost RENAME TO {NAME}")

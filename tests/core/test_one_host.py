"""A SQLite file is worked by one host; another is refused, and a move needs a few minutes only."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from core import installation, one_host
from core.heartbeat import last_beat
from core.installation import Refusal
from core.one_host import Host, SecondHost
from tests.clocks import MONDAY_MORNING, MovableClock

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]
on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="other databases serve many hosts")
Become = Callable[[str], None]


@pytest.fixture
def become(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Become:
    """`become("a")`: this process runs on the host called a from now on."""

    def change(host: str) -> None:
        for name in ("BOOT_ID", "MACHINE_ID"):
            path = tmp_path / f"{name}-{host}"
            path.write_text(f"{name}-{host}\n")
            monkeypatch.setattr(one_host, name, path)

    change("a")
    return change


@on_sqlite
def test_a_second_host_is_refused_in_both_languages(become: Become):
    one_host.hold()
    become("b")
    with pytest.raises(SecondHost) as refused:
        one_host.hold()
    english, persian = str(refused.value).split("\n")
    assert english.startswith("SQLite is for one host")
    assert "SQLite برای یک میزبان است" in persian


@on_sqlite
def test_a_host_that_went_quiet_is_followed_by_another(become: Become, clock: MovableClock):
    one_host.hold()
    become("b")
    clock.advance(minutes=3)
    one_host.hold()
    become("a")
    with pytest.raises(SecondHost):
        one_host.hold()


@on_sqlite
def test_what_another_host_does_is_said_until_it_goes_quiet(become: Become, clock: MovableClock):
    one_host.hold()
    assert not one_host.is_elsewhere()
    become("b")
    assert one_host.is_elsewhere()
    clock.advance(minutes=3)
    assert not one_host.is_elsewhere()


@on_sqlite
@pytest.mark.parametrize("command", ["automation_tick", "queue_worker"])
def test_the_scheduler_and_the_worker_do_not_begin_on_a_second_host(become: Become, command: str):
    one_host.hold()
    become("b")
    with pytest.raises(CommandError, match="SQLite is for one host"):
        call_command(command)
    assert last_beat("tick") is None


@on_sqlite
def test_a_second_host_sends_nothing_and_may_be_let_in_by_hand(become: Become, settings: Any, tmp_path: Path):
    settings.ENVIRONMENT_GUARD, settings.VAR_DIR = True, tmp_path
    installation.forget()
    one_host.hold()
    become("b")
    try:
        assert installation.refusal() is Refusal.SECOND_HOST
        call_command("adopt_database", "--yes")
        assert installation.refusal() is Refusal.NONE
    finally:
        installation.forget()


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite is for one host")
def test_a_server_is_not_asked(django_assert_num_queries: Any):
    with django_assert_num_queries(0):
        one_host.hold()


LATER = timedelta(hours=1)


@pytest.mark.parametrize(
    ("other", "restarted", "same"),
    [
        ({"boot": "k1", "machine": ""}, -LATER, True),  # a container of the same machine
        ({"boot": "k0", "machine": "m1"}, LATER, True),  # the machine was started again meanwhile
        ({"boot": "k0", "machine": "m1"}, -LATER, False),  # a clone of its disk, alive at the same time
        ({"boot": "k0", "machine": "m0"}, LATER, False),
        ({"boot": "k0", "machine": ""}, LATER, False),
        ({"boot": "", "machine": "m1"}, -LATER, True),
    ],
)
def test_a_host_is_known_by_its_kernel_and_after_a_restart_by_its_machine(
    other: dict[str, str], restarted: timedelta, same: bool
):
    me = Host(boot="k1", machine="m1", name="any")
    assert me.is_it(other, seen=MONDAY_MORNING, started=MONDAY_MORNING + restarted) is same

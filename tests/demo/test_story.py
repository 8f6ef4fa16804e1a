"""The demo itself, small: real worker, real HTTP, real queue, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from script import processes

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.concurrency, pytest.mark.demo]


def command(folder: Path, people: int, *arguments: str) -> list[str]:
    size = ["--people", str(people), "--cap", str(people // 4)]
    return [sys.executable, "-m", "demo", "--folder", str(folder), *size, *arguments]


def alone(name: str, *values: Any) -> Any:
    """A case whose demo is told once, by one of several processes that share the tests."""
    return pytest.param(*(values or (name,)), id=name, marks=pytest.mark.xdist_group(name))


@pytest.fixture(scope="module", params=[alone("embedded"), alone("server")])
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The story of 150 rows, told once in each mode."""
    folder = tmp_path_factory.mktemp("told") / "demo"
    extra = ["--server"] if request.param == "server" else []
    done = subprocess.run(
        command(folder, 150, "--json", *extra),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    outcome = json.loads(done.stdout)
    assert isinstance(outcome, dict)
    return outcome | {"left": left_behind(folder)}


def left_behind(folder: Path) -> list[str]:
    """Command lines of running processes that name the demo's folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                environment = (entry / "environ").read_bytes()
                if str(folder).encode() in environment:
                    found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except (OSError, UnicodeDecodeError):
                continue
    return found


def test_every_promise_holds(told: dict[str, Any]) -> None:
    assert told["holds"] is True
    assert [check["promise"] for check in told["proof"] if not check["holds"]] == []
    assert len(told["proof"]) == 6


def test_the_provider_saw_about_three_messages_a_person(told: dict[str, Any]) -> None:
    assert 2.5 * told["enrolled"]["added"] < told["recorded_by_the_provider"] <= 3 * told["enrolled"]["added"]


def test_everybody_is_in_an_end_state(told: dict[str, Any]) -> None:
    assert sum(told["ended_as"].values()) == told["enrolled"]["added"]
    assert set(told["ended_as"]) <= {"completed", "blacklisted", "failed"}


def test_the_run_met_trouble(told: dict[str, Any]) -> None:
    assert sum(day["retried"] for day in told["days"]) > 0
    assert sum(day["deferred_window"] for day in told["days"]) > 0
    assert sum(day["deferred_cap"] for day in told["days"]) > 0
    assert told["ended_as"]["blacklisted"] > 0
    assert told["messages"]["undelivered"] > 0


def test_nothing_is_left_running(told: dict[str, Any]) -> None:
    assert told["left"] == []


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int, Path]]:
    """A demo that has told its story and serves."""
    port, log = processes.free_port(), tmp_path / "log"
    folder = tmp_path / "demo"
    child = processes.start(command(folder, 30, "--port", str(port)), log=log, cwd=ROOT)
    try:
        shown = processes.wait_until(lambda: "Ctrl-C" in log.read_text(), child=child, seconds=240)
        assert shown, log.read_text()[-3000:]
        yield child, port, folder
    finally:
        processes.stop(child)


@pytest.mark.parametrize(
    ("number", "code"), [alone("Ctrl-C", signal.SIGINT, 0), alone("end", signal.SIGTERM, 143)]
)
def test_it_serves_until_a_signal_and_leaves_nothing_running(
    serving: tuple[subprocess.Popen[str], int, Path], number: int, code: int
) -> None:
    child, port, folder = serving
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=10) as answer:
        assert json.load(answer)["database"] is True

    os.kill(child.pid, number)

    assert child.wait(60) == code
    assert left_behind(folder) == []
    assert processes.is_port_free(port)

"""Children of a command: stopped with everything they started, whatever way the command ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from script import processes

ROOT = Path(__file__).resolve().parents[2]
# Starts a grandchild, says its process id, and waits.
PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
{before}
time.sleep(60)
"""
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"


def lives(pid: int) -> bool:
    """Whether the process runs; one that ended and was not collected yet does not count."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def started(tmp_path: Path, before: str = "") -> tuple[subprocess.Popen[str], int]:
    log = tmp_path / "child.log"
    child = processes.start([sys.executable, "-c", PARENT.format(before=before)], log=log)
    assert processes.wait_until(lambda: log.read_text().endswith("\n"), child=child)
    return child, int(log.read_text())


def test_stopping_a_process_stops_what_it_started(tmp_path: Path) -> None:
    child, grandchild = started(tmp_path)

    processes.stop(child)

    assert not lives(child.pid)
    assert processes.wait_until(lambda: not lives(grandchild), seconds=5)


def test_a_process_that_ignores_the_request_is_killed(tmp_path: Path) -> None:
    child, grandchild = started(tmp_path, DEAF)

    processes.stop(child, grace_s=0.3)

    assert not lives(child.pid)
    assert processes.wait_until(lambda: not lives(grandchild), seconds=5)


def test_stopping_twice_is_no_error(tmp_path: Path) -> None:
    child, _ = started(tmp_path)

    processes.stop(child)
    processes.stop(child)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_command_that_is_ended_leaves_no_child_behind(tmp_path: Path, number: int) -> None:
    code = f"""
import sys, time
from pathlib import Path
from script import processes
try:
    with processes.unwinding_on_signals():
        sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
        child = processes.start(sleeper, log=Path({str(tmp_path)!r}) / "l")
        try:
            print(child.pid, flush=True)
            time.sleep(60)
        finally:
            processes.stop(child)
except processes.Stopped as stopped:
    sys.exit(stopped.exit_code)
"""
    command = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert command.stdout is not None
    with command.stdout:
        child = int(command.stdout.readline())
    os.kill(command.pid, number)

    assert command.wait(10) == (-number if number == signal.SIGKILL else 128 + number)
    assert processes.wait_until(lambda: not lives(child), seconds=5)


def test_waiting_ends_when_the_process_has_ended(tmp_path: Path) -> None:
    child = processes.start([sys.executable, "-c", ""], log=tmp_path / "log")
    before = time.monotonic()

    assert not processes.wait_until(lambda: False, child=child, seconds=120)
    assert time.monotonic() - before < 60


def test_lines_of_a_command_arrive_with_its_code(tmp_path: Path) -> None:
    lines: list[str] = []

    code = processes.run(
        [sys.executable, "-c", "import sys; print('a'); print('b', file=sys.stderr); sys.exit(7)"],
        each_line=lines.append,
    )

    assert (code, sorted(lines)) == (7, ["a\n", "b\n"])

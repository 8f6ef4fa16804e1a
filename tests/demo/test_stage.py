"""What the demo refuses, in one sentence and with its own exit code, before it starts anything."""

from __future__ import annotations

import fcntl
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from demo import stage, story
from demo.proof import Check

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 11, 30, 15, 0, tzinfo=UTC)


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "demo", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)


def test_a_busy_port_is_one_sentence_and_a_code(tmp_path: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = str(holder.getsockname()[1])

        done = demo("--port", port, "--folder", str(tmp_path / "demo"))

    assert done.returncode == 5
    assert done.stderr.count("\n") == 1
    assert f"Port {port} is taken" in done.stderr


def test_a_second_demo_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        done = demo("--once", "--folder", str(tmp_path / "demo"))

    assert (done.returncode, done.stderr) == (5, "A demo is already running here: stop it first.\n")


def test_a_folder_with_other_files_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")

    done = demo("--once", "--folder", str(tmp_path))

    assert done.returncode == 1
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize(
    "arguments", [["--people", "3"], ["--people", "x"], ["--port", "80"], ["--cap", "0"]]
)
def test_a_wrong_argument_is_refused(arguments: list[str]) -> None:
    assert demo(*arguments).returncode == 2


def test_a_folder_of_an_earlier_demo_is_emptied(tmp_path: Path) -> None:
    stage._empty(tmp_path / "demo")
    (tmp_path / "demo" / "peyk.sqlite3").touch()

    stage._empty(tmp_path / "demo")

    assert not (tmp_path / "demo" / "peyk.sqlite3").exists()


@pytest.mark.parametrize("rows", [10, 520, 10_000])
def test_the_story_begins_on_a_saturday_before_the_window_opens(rows: int) -> None:
    start = story.starting_moment(NOW, rows, story.default_cap(rows))

    assert (start.weekday(), start.hour, start.minute) == (5, 8, 30)


def test_the_story_has_room_to_end_before_now() -> None:
    start = story.starting_moment(NOW, 520, 100)

    assert timedelta(days=72) < NOW - start < timedelta(days=100)


@pytest.mark.parametrize(("rows", "cap"), [(10, 100), (520, 100), (1999, 100), (2000, 200), (10_000, 1000)])
def test_the_limit_grows_with_the_crowd(rows: int, cap: int) -> None:
    assert story.default_cap(rows) == cap


def test_a_broken_promise_makes_the_outcome_broken() -> None:
    kept, broken = Check("kept", 3), Check("broken", 3, 1)

    assert not outcome([kept, broken]).holds
    assert outcome([kept]).holds


def outcome(checks: list[Check]) -> story.Outcome:
    return story.Outcome(
        imported={}, enrolled={}, days=[], walks={}, messages={}, checks=checks, recorded=1, busiest_day=1,
        first=NOW, last=NOW, seconds=1.0,
    )  # fmt: skip

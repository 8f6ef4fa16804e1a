"""Setting up the virtual environment: when it installs, and what it says when it cannot."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from script import bootstrap

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    folder = tmp_path / "venv"
    folder.mkdir()
    return folder


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "requirements.lock"
    path.write_text("django==5.2\n")
    return path


def pins(name: str) -> set[str]:
    return set(re.findall(r"^[\w.\[\]-]+==[^\s\\]+", (ROOT / name).read_text(), re.MULTILINE))


def without_index(folder: Path) -> dict[str, str]:
    """An environment in which pip finds no package index, whatever the machine is set to."""
    return {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "HOME": str(folder)}


def test_a_lock_is_installed_only_once(venv: Path, lock: Path) -> None:
    assert not bootstrap.is_current(venv, lock)

    bootstrap.record(venv, lock)

    assert bootstrap.is_current(venv, lock)


def test_a_changed_lock_is_installed_again(venv: Path, lock: Path) -> None:
    bootstrap.record(venv, lock)
    lock.write_text("django==5.2.1\n")

    assert not bootstrap.is_current(venv, lock)


def test_an_unreadable_stamp_means_install(venv: Path, lock: Path) -> None:
    bootstrap.stamp_path(venv).write_text("{torn")

    assert not bootstrap.is_current(venv, lock)


def test_the_test_lock_stands_in_for_the_other(venv: Path, lock: Path) -> None:
    dev = lock.with_name("requirements-dev.lock")
    dev.write_text("django==5.2\npytest==9\n")

    bootstrap.record(venv, dev)

    assert bootstrap.is_current(venv, lock)


def test_the_test_lock_pins_everything_the_other_one_pins() -> None:
    assert pins("requirements.lock") <= pins("requirements-dev.lock")


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_every_pin_has_a_hash(name: str) -> None:
    entries = re.split(r"\n(?=[\w.-]+(?:\[[\w,-]+\])?==)", (ROOT / name).read_text())

    assert all("--hash=sha256:" in entry for entry in entries if "==" in entry)


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
@pytest.mark.parametrize("python", ["3.11.0", "3.12.0", "3.13.0", "3.14.0"])
def test_a_lock_serves_every_python_it_promises(name: str, python: str) -> None:
    locked = {canonicalize_name(re.split(r"[=\[]", pin)[0]) for pin in pins(name)}
    here = {"python_full_version": python, "python_version": python.rpartition(".")[0], "extra": ""}
    missing = set()
    for package in locked:
        for line in requires(package) or []:
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate(here):
                missing |= {canonicalize_name(wanted.name)} - locked

    assert missing == set()


def requires(package: str) -> list[str] | None:
    """What an installed package needs; nothing for one that this Python does not need."""
    try:
        return metadata.requires(package)
    except metadata.PackageNotFoundError:
        return None


def test_a_folder_without_a_working_interpreter_is_not_taken_for_an_environment(venv: Path) -> None:
    (venv / "bin").mkdir()
    (venv / "bin" / "python").symlink_to("/nowhere/python3.11")

    assert not bootstrap.works(venv)


def test_no_network_is_one_sentence_and_a_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text("peyk-no-such-package==1.0 --hash=sha256:" + "0" * 64 + "\n")
    for name, value in without_index(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(bootstrap, "python_of", lambda _venv: Path(sys.executable))

    with pytest.raises(bootstrap.BootstrapError, match="could not be fetched") as caught:
        bootstrap.install(tmp_path, lock, tmp_path / "log" / "pip.log")

    assert "\n" not in str(caught.value)
    assert (tmp_path / "log" / "pip.log").read_text()


def shell(path: Path) -> dict[str, str]:
    return {"PATH": str(path), "HOME": str(path)}


def fake(folder: Path, name: str, text: str) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)


@pytest.fixture
def old_machine(tmp_path: Path) -> Path:
    """A PATH with the shell's tools and a Python that is too old."""
    for tool in ("dirname", "sh"):
        found = next(Path(folder) / tool for folder in ("/usr/bin", "/bin") if (Path(folder) / tool).exists())
        (tmp_path / tool).symlink_to(found)
    fake(tmp_path, "python3", "exit 1")
    return tmp_path


@pytest.mark.parametrize("command", ["demo", "test", "setup"])
def test_a_missing_python_is_one_sentence_and_a_code(old_machine: Path, command: str) -> None:
    done = subprocess.run(
        [ROOT / "script" / command], env=shell(old_machine), capture_output=True, text=True, check=False
    )

    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert "Python 3.11 or newer" in done.stderr


def test_an_unknown_purpose_is_refused() -> None:
    assert bootstrap.main(["nonsense"]) == 2

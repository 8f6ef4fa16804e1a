"""Make `.venv` in the checkout and install the locked packages into it.

`python -m script.bootstrap demo` installs what running Peyk needs, `... test` also what the
tests need. A lock that was installed once is not installed again until its content changes, so
every later start works without a network. Every failure is one sentence and a non-zero exit.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOG = ROOT / "var" / "log" / "bootstrap.log"
LOCKS: Mapping[str, str] = {"demo": "requirements.lock", "test": "requirements-dev.lock"}
# The lock for tests pins everything the other one pins (a test holds this), so it stands in for it.
STANDS_IN: Mapping[str, tuple[str, ...]] = {"requirements-dev.lock": ("requirements.lock",)}


class BootstrapError(Exception):
    """Set-up cannot go on; the text is one sentence for the person at the terminal."""


def digest(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def stamp_path(venv: Path) -> Path:
    """Where the digests of the locks installed in `venv` are kept."""
    return venv / ".peyk-locks.json"


def installed_locks(venv: Path) -> dict[str, str]:
    """Lock name to the digest it was installed at; empty when nothing is known."""
    try:
        known = json.loads(stamp_path(venv).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(value) for name, value in known.items()} if isinstance(known, dict) else {}


def is_current(venv: Path, lock: Path) -> bool:
    """Whether `lock`, as it is now, is what `venv` holds."""
    return installed_locks(venv).get(lock.name) == digest(lock)


def record(venv: Path, lock: Path) -> None:
    """Remember that `lock`, and each lock it stands in for, is installed."""
    names = (lock.name, *STANDS_IN.get(lock.name, ()))
    beside = {name: lock.parent / name for name in names}
    known = installed_locks(venv)
    known.update({name: digest(path) for name, path in beside.items() if path.exists()})
    stamp_path(venv).write_text(json.dumps(known, indent=1, sort_keys=True), encoding="utf-8")


def python_of(venv: Path) -> Path:
    """The interpreter inside `venv`."""
    return venv / "bin" / "python"


def works(venv: Path) -> bool:
    """Whether the interpreter in `venv` starts and brings pip.

    One that was moved, removed, or belongs to somebody whose files this user may not read does not.
    """
    question: list[str | Path] = [
        python_of(venv),
        "-c",
        "import sys, pip; sys.exit(sys.version_info < (3, 11))",
    ]
    try:
        return subprocess.run(question, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@contextmanager
def only_one_at_a_time(path: Path) -> Iterator[None]:
    """Two commands started together must not install into one folder at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def make_venv(venv: Path) -> None:
    """Create `venv` afresh with the interpreter that runs this."""
    say(f"Creating the virtual environment with Python {sys.version.split()[0]} ...")
    if venv.is_symlink() or venv.is_file():
        venv.unlink()
    elif venv.exists():
        shutil.rmtree(venv)
    made = subprocess.run([sys.executable, "-m", "venv", venv], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise BootstrapError(
            f"The virtual environment could not be created in {venv}: {last_line(made.stderr or made.stdout)}"
        )


def install(venv: Path, lock: Path, log: Path) -> None:
    """Install every package of `lock`, each checked against its hash; what pip says goes to `log`."""
    say(f"Installing the packages of {lock.name} (only when it changed) ...")
    log.parent.mkdir(parents=True, exist_ok=True)
    command: list[str | Path] = [python_of(venv), "-m", "pip", "install", "--require-hashes", "--no-input"]
    command += ["--disable-pip-version-check", "--no-warn-script-location", "-r", lock]
    environment = {**os.environ, "PIP_ROOT_USER_ACTION": "ignore"}
    with log.open("w", encoding="utf-8") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, env=environment, check=False)
    if done.returncode != 0:
        raise BootstrapError(
            f"The packages of {lock.name} could not be fetched or installed; check the network or the "
            f"package index that pip is set to (the whole story is in {log})."
        )


def last_line(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason was given"


def say(text: str) -> None:
    """Progress goes to the error stream: the output stream belongs to the command (`--json`)."""
    print(text, file=sys.stderr, flush=True)


def ensure(purpose: str) -> None:
    """Bring `.venv` up to the lock of `purpose`. Raises BootstrapError."""
    lock = ROOT / LOCKS[purpose]
    with only_one_at_a_time(ROOT / "var" / "bootstrap.lock"):
        if not works(VENV):
            make_venv(VENV)
        if not is_current(VENV, lock):
            install(VENV, lock, LOG)
            record(VENV, lock)


def main(arguments: list[str]) -> int:
    """Entry point: one argument, the purpose."""
    if len(arguments) != 1 or arguments[0] not in LOCKS:
        say(f"usage: python -m script.bootstrap {'|'.join(LOCKS)}")
        return 2
    try:
        ensure(arguments[0])
    except BootstrapError as error:
        say(str(error))
        return 4
    except PermissionError as error:
        say(f"{error.filename or ROOT} cannot be written by this user, so nothing could be set up.")
        return 4
    except KeyboardInterrupt:
        say("Stopped before the packages were installed; start again to finish.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

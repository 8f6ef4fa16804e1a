"""Throwaway PostgreSQL and Redis servers on free loopback ports, and the programs they need.

A program that is missing is installed with apt-get where that is allowed (root on a Debian
system), else named in one sentence. Each server keeps its files in a folder of its own, speaks
only on the loopback interface, asks for a password made for this one run, and is gone with it.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from script import processes

DATABASE_NAME = "peyk"
DATABASE_USER = "peyk"
# Speed for data that nobody will miss. Never for data that somebody will.
UNSAFE_BUT_FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


class ServiceError(Exception):
    """A service cannot be had; the text is one sentence for the person at the terminal."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program the machine must have: how to find it and which Debian package brings it."""

    name: str
    package: str
    find: Callable[[], Path | None]


def _on_path(*names: str) -> Path | None:
    found = next((where for name in names if (where := shutil.which(name))), None)
    return Path(found) if found else None


def postgres_folder(root: Path = Path("/usr/lib/postgresql")) -> Path | None:
    """The `bin` folder of the newest installed PostgreSQL server: Debian's layout first, then PATH."""
    candidates = [home / "bin" for home in root.iterdir()] if root.is_dir() else []
    candidates.sort(key=lambda folder: [int(part) for part in re.findall(r"\d+", folder.parent.name)])
    on_path = _on_path("initdb")
    candidates.insert(0, on_path.parent if on_path else root)
    return next((folder for folder in reversed(candidates) if _is_server(folder)), None)


def _is_server(folder: Path) -> bool:
    return (folder / "initdb").exists() and (folder / "postgres").exists()


def find_chromium() -> Path | None:
    """The Chromium that the environment names (`CHROMIUM`), else the one on PATH."""
    named = os.environ.get("CHROMIUM")
    if named:
        return Path(named) if Path(named).exists() else None
    return _on_path("chromium", "chromium-browser", "google-chrome")


POSTGRES = Program("PostgreSQL", "postgresql", postgres_folder)
REDIS = Program("Redis", "redis-server", lambda: _on_path("redis-server", "valkey-server"))
CHROMIUM = Program("Chromium", "chromium", find_chromium)


def may_install() -> bool:
    """Whether this process may install Debian packages."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def require(program: Program, *, log: Path, say: Callable[[str], None]) -> Path:
    """Where `program` is, after installing it if that is needed and allowed. Raises ServiceError."""
    found = program.find()
    if found is not None:
        return found
    if not may_install():
        raise ServiceError(
            f"{program.name} is not installed: install it (on Debian: sudo apt-get install "
            f"{program.package}) and start again."
        )
    say(f"Installing Debian's {program.package} ...")
    apt_install(program.package, log=log)
    found = program.find()
    if found is None:
        raise ServiceError(f"{program.name} was not found even after installing {program.package}.")
    return found


def apt_install(package: str, *, log: Path) -> None:
    """Install one Debian package without starting a service of it. Raises ServiceError."""
    # RUNLEVEL=1 keeps the package from starting a server of its own beside ours.
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    wait = ["-o", "DPkg::Lock::Timeout=120"]
    commands = [
        ["apt-get", *wait, "update"],
        ["apt-get", *wait, "install", "-y", "--no-install-recommends", package],
    ]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as out:
        codes = [
            subprocess.run(command, env=environment, stdout=out, stderr=out, check=False).returncode
            for command in commands
        ]
    if codes[-1] != 0:
        raise ServiceError(f"apt-get could not install {package} (the whole story is in {log}).")


def _server_user() -> str | None:
    """PostgreSQL refuses to run as root, so root lends it another user; everybody else keeps theirs."""
    if os.geteuid() != 0:
        return None
    import pwd

    names = {entry.pw_name for entry in pwd.getpwall()}
    user = next((name for name in ("postgres", "nobody") if name in names), None)
    if user is None:
        raise ServiceError(
            "PostgreSQL cannot run as root and there is no user postgres or nobody to lend it."
        )
    return user


def _open_to(user: str | None, folder: Path) -> Path:
    """Make `folder`, and give it to `user`, who may pass through the folder above it."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    if user is not None:
        shutil.chown(folder, user)
        folder.parent.chmod(folder.parent.stat().st_mode | 0o011)
    return folder


def _init_database(programs: Path, data: Path, password_file: Path, user: str | None, log: Path) -> None:
    base: list[str | Path] = [programs / "initdb", "-D", data, "-U", DATABASE_USER, "-E", "UTF8"]
    base += ["--auth=scram-sha-256", f"--pwfile={password_file}"]
    for locale in ("--locale=C.UTF-8", "--locale=C"):  # the first is not on every system
        with log.open("a", encoding="utf-8") as out:
            made = subprocess.run(
                [*base, locale], user=user, extra_groups=[] if user else None,
                cwd="/", stdout=out, stderr=out, check=False,
            )  # fmt: skip
        if made.returncode == 0:
            return
    raise ServiceError(f"PostgreSQL could not create a database cluster (the whole story is in {log}).")


def make_cluster(folder: Path, *, programs: Path, password: str) -> tuple[Path, str | None]:
    """Files of a new server under `folder`: where they are, and who must run it. Raises ServiceError."""
    user = _server_user()
    data = _open_to(user, folder / "postgres")
    password_file = folder / "postgres-password"
    password_file.write_text(password, encoding="utf-8")
    if user is not None:
        shutil.chown(password_file, user)
    password_file.chmod(0o600)
    _init_database(programs, data, password_file, user, folder / "postgres.log")
    return data, user


@contextmanager
def postgres(folder: Path, *, programs: Path, fast: bool = True) -> Iterator[str]:
    """A PostgreSQL server with its files under `folder`; yields the URL of an empty database.

    `fast`: give up durability for speed. The folder must be new. Raises ServiceError.
    """
    password, log = secrets.token_hex(16), folder / "postgres.log"
    data, user = make_cluster(folder, programs=programs, password=password)
    port = processes.free_port()
    settings = [
        f"port={port}",
        "listen_addresses=127.0.0.1",
        "unix_socket_directories=",
        "max_connections=200",
    ]
    settings += ["shared_buffers=256MB", *(UNSAFE_BUT_FAST if fast else ())]
    options = [part for setting in settings for part in ("-c", setting)]
    child = processes.start(
        [programs / "postgres", "-D", data, *options],
        log=log, user=user, cwd=Path("/"), death_signal=signal.SIGQUIT,
    )  # fmt: skip
    try:
        if not processes.wait_until(lambda: _accepts_queries(log, port), child=child):
            raise ServiceError(f"PostgreSQL did not start (the whole story is in {log}).")
        base = f"postgresql://{DATABASE_USER}:{password}@127.0.0.1:{port}"
        _create_database(programs, base, log)
        yield f"{base}/{DATABASE_NAME}"
    finally:
        processes.stop(child, first=signal.SIGINT)  # SIGTERM would wait for every client to leave


def _accepts_queries(log: Path, port: int) -> bool:
    started = "ready to accept connections" in log.read_text(encoding="utf-8", errors="replace")
    return started and processes.answers(port)


def _create_database(programs: Path, base: str, log: Path) -> None:
    with log.open("a", encoding="utf-8") as out:
        made = subprocess.run(
            [programs / "psql", "-X", "-q", "-c", f"CREATE DATABASE {DATABASE_NAME}", f"{base}/postgres"],
            stdout=out, stderr=out, check=False,
        )  # fmt: skip
    if made.returncode != 0:
        raise ServiceError(f"PostgreSQL could not create a database (the whole story is in {log}).")


def redis_settings(folder: Path, *, port: int, password: str) -> str:
    """The configuration of a Redis that keeps nothing on disk, to be read from its standard input."""
    settings = [
        f"port {port}", "bind 127.0.0.1", f"requirepass {password}", 'save ""',
        "appendonly no", "daemonize no", f'dir "{folder}"', "databases 64",
    ]  # fmt: skip
    return "\n".join(settings) + "\n"


@contextmanager
def redis(folder: Path, *, program: Path) -> Iterator[str]:
    """A Redis server that keeps nothing on disk; yields its URL. Raises ServiceError."""
    folder.mkdir(parents=True, exist_ok=True)
    password, port, log = secrets.token_hex(16), processes.free_port(), folder / "redis.log"
    settings = redis_settings(folder, port=port, password=password)
    child = processes.start([program, "-"], log=log, cwd=folder, stdin=settings)
    try:
        if not processes.wait_until(lambda: processes.answers(port), child=child):
            raise ServiceError(f"Redis did not start (the whole story is in {log}).")
        yield f"redis://default:{password}@127.0.0.1:{port}/0"
    finally:
        processes.stop(child)

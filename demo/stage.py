"""The processes of the demo: what each is started with, and that none of them stays behind.

Everything lives in one folder under `var/`: database, keys, clock, logs and the simulator's record.
"""

from __future__ import annotations

import base64
import fcntl
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from script import processes, services

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "var" / "demo"
MARK = ".peyk-demo"  # a folder without it is never emptied
SETUP_LOG = ROOT / "var" / "log" / "demo-setup.log"


class StageError(Exception):
    """The demo cannot go on; the text is one sentence for the person at the terminal."""


class TakenError(StageError):
    """Something the demo needs is in use by another program."""


@dataclass(slots=True)
class Stage:
    """One run of the demo: its folder, the environment of its processes and the processes themselves."""

    folder: Path
    env: dict[str, str]
    say: Callable[[str], None]
    server: bool = False
    running: dict[str, subprocess.Popen[str]] = field(default_factory=dict)

    @property
    def clock_file(self) -> Path:
        """The file all processes of the story read the time from."""
        return self.folder / "clock"

    @property
    def record(self) -> Path:
        """The simulator's folder: the witness's record."""
        return self.folder / "simulator"

    def log(self, name: str) -> Path:
        """Where the process called `name` writes what it has to say."""
        return self.folder / "log" / f"{name}.log"

    def manage(self, *arguments: str) -> None:
        """Run a management command to its end. Raises StageError."""
        log = self.log("setup")
        lines: list[str] = []
        command = [sys.executable, "manage.py", *arguments]
        code = processes.run(command, env=self.env, cwd=ROOT, each_line=lines.append)
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as out:
            out.writelines(lines)
        if code != 0:
            raise StageError(f"`manage.py {arguments[0]}` failed (the whole story is in {log}).")

    def start(self, name: str, command: list[str], *, accelerated: bool) -> subprocess.Popen[str]:
        """Start one process; `accelerated` ones read the shared clock file, the others the real time."""
        env = dict(self.env)
        if accelerated:
            env["PEYK_CLOCK_FILE"] = str(self.clock_file)
        child = processes.start(command, log=self.log(name), env=env, cwd=ROOT)
        self.running[name] = child
        return child

    def stop(self, *names: str) -> None:
        """Stop the named processes, or all of them, the last one started first."""
        for name in [name for name in reversed(self.running) if not names or name in names]:
            processes.stop(self.running.pop(name))

    def dead(self) -> str | None:
        """The name of a process that ended by itself, if any."""
        return next((name for name, child in self.running.items() if child.poll() is not None), None)


def start_simulator(stage: Stage, *, port: int, faults: Path, accelerated: bool) -> None:
    """The provider, as a separate process on `port`. Raises StageError."""
    command = [sys.executable, "manage.py", "sms_simulator", "--port", str(port)]
    command += ["--store", str(stage.record), "--faults", str(faults)]
    child = stage.start("simulator", command, accelerated=accelerated)
    if not processes.wait_until(lambda: processes.answers(port), child=child):
        raise StageError(f"The provider simulator did not start (see {stage.log('simulator')}).")


def start_worker(stage: Stage, *, accelerated: bool) -> None:
    """The queue's worker: django-q2's cluster, or Celery in server mode."""
    if stage.server:
        command = [sys.executable, "-m", "celery", "--app", "config.celery", "worker"]
        command += ["--queues", "automation,default", "--concurrency", "2", "--loglevel", "WARNING"]
        command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    else:
        command = [sys.executable, "manage.py", "qcluster"]
    stage.start("worker", command, accelerated=accelerated)


def start_web(stage: Stage, port: int) -> None:
    """The web application on a loopback port. Raises StageError."""
    command = [sys.executable, "-m", "gunicorn", "config.wsgi:application", "--bind", f"127.0.0.1:{port}"]
    command += ["--workers", "1", "--threads", "8", "--no-control-socket", "--log-level", "warning"]
    child = stage.start("web", command, accelerated=False)
    if not processes.wait_until(lambda: processes.answers(port), child=child):
        raise StageError(f"The web application did not start on port {port} (see {stage.log('web')}).")


def start_tick_loop(stage: Stage) -> None:
    """The scheduler, in real time."""
    stage.start("tick", [sys.executable, "manage.py", "automation_tick", "--loop"], accelerated=False)


def _environment(folder: Path, database: str, redis: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PEYK_")}
    data_key = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
    return {
        **kept,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PYTHONUNBUFFERED": "1",
        "PEYK_SECRET_KEY": secrets.token_urlsafe(48),
        "PEYK_DATA_KEYS": f"k1:{data_key}",
        "PEYK_HTTPS": "0",  # the demo answers on the loopback interface only
        "PEYK_ALLOWED_HOSTS": "localhost,127.0.0.1",
        "PEYK_PROVIDER_HOSTS": "127.0.0.1",
        "PEYK_VAR_DIR": str(folder),
        "PEYK_LOG_LEVEL": "WARNING",
        "PEYK_SMS_QUESTIONS_PER_SECOND": "1000",  # the provider is a process beside this one
        "PEYK_QUEUE": "celery" if redis else "django_q",
        "DATABASE_URL": database,
        "REDIS_URL": redis,
    }


@contextmanager
def only_demo(folder: Path) -> Iterator[None]:
    """Two demos in one folder would destroy each other: the second one is refused. Raises TakenError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise TakenError("A demo is already running here: stop it first.") from None
        yield


def _databases(
    stack: ExitStack, folder: Path, say: Callable[[str], None], *, server: bool
) -> tuple[str, str]:
    """The URLs of the database and of Redis; the latter is empty in the embedded mode."""
    if not server:
        return f"sqlite:///{folder / 'peyk.sqlite3'}", ""
    say("Starting PostgreSQL and Redis ...")
    try:
        programs = services.require(services.POSTGRES, log=SETUP_LOG, say=say)
        redis = services.require(services.REDIS, log=SETUP_LOG, say=say)
        scratch = stack.enter_context(_server_folder())
        database_url = stack.enter_context(services.postgres(scratch, programs=programs, fast=False))
        return database_url, stack.enter_context(services.redis(scratch / "redis", program=redis))
    except services.ServiceError as error:
        raise StageError(str(error)) from error


@contextmanager
def _server_folder() -> Iterator[Path]:
    """Outside the checkout: the user PostgreSQL runs as may not be allowed to look into it."""
    folder = Path(tempfile.mkdtemp(prefix="peyk-demo-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _empty(folder: Path) -> None:
    """Empty a folder that is ours by its mark, or make it. Raises StageError for anything else."""
    mark = folder / MARK
    if folder.exists() and any(folder.iterdir()) and not mark.exists():
        raise StageError(f"{folder} holds files of somebody else: name an empty folder with --folder.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    mark.touch()


@contextmanager
def build(folder: Path, say: Callable[[str], None], *, server: bool) -> Iterator[Stage]:
    """A fresh stage with an empty database; every process it started is gone when the block is left.

    `folder` is emptied first. Raises StageError when it holds other files, when another demo runs in
    it, or when a service cannot be had.
    """
    with only_demo(folder), ExitStack() as stack:
        _empty(folder)
        database, redis = _databases(stack, folder, say, server=server)
        stage = Stage(folder, _environment(folder, database, redis), say, server)
        stack.callback(stage.stop)
        say("Creating the database ...")
        stage.manage("migrate", "--noinput", "--verbosity", "0")
        yield stage


def enter(stage: Stage) -> None:
    """Let this very process be a part of the product, on the story's clock."""
    os.environ.clear()
    os.environ.update(stage.env)
    os.environ["PEYK_CLOCK_FILE"] = str(stage.clock_file)
    import django

    django.setup()

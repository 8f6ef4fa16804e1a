"""A whole installation as real processes: ticks, Celery workers and the simulated provider."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import redis
from django.conf import settings
from django.db import connection

from script import processes
from sms.simulator.record import AcceptedMessage
from tests.sms.simulator_fixture import SimulatorProcess, start_process

ROOT = Path(__file__).resolve().parents[2]
REDIS_DATABASE = 9  # of the throwaway server; emptied by each fleet


class Fleet:
    """Processes that share one database, one broker and one clock file. `stop()` ends all of them."""

    def __init__(self, folder: Path, *, redis_url: str, faults: Path | None = None) -> None:
        self.folder = folder
        self.clock_file = folder / "clock"
        self.redis_url = f"{redis_url.rstrip('/').rsplit('/', 1)[0]}/{REDIS_DATABASE}"
        redis.Redis.from_url(self.redis_url).flushdb()
        self.simulator: SimulatorProcess = start_process(
            folder / "provider", faults=faults, clock_file=self.clock_file
        )
        self.children: list[subprocess.Popen[str]] = []

    @property
    def env(self) -> dict[str, str]:
        keys = ",".join(f"{kid}:{_base64(key)}" for kid, key in settings.DATA_KEYS.items())
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith(("PEYK_", "TEST_"))},
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": _database_url(connection.settings_dict),
            "REDIS_URL": self.redis_url,
            "PEYK_SECRET_KEY": settings.SECRET_KEY,
            "PEYK_DATA_KEYS": keys,
            "PEYK_QUEUE": "celery",
            "PEYK_HTTPS": "0",
            "PEYK_DEBUG": "1",
            "PEYK_CLOCK_FILE": str(self.clock_file),
            "PEYK_LEASE_SECONDS": "60",
            "PEYK_VAR_DIR": str(self.folder / "var"),
            "PEYK_CHUNK_SIZE": "50",
        }

    def start_tick(self) -> subprocess.Popen[str]:
        return self._start(["manage.py", "automation_tick", "--loop", "--every", "0.3"], "tick.log")

    def start_worker(self, *, processes_count: int = 2) -> subprocess.Popen[str]:
        queues = ["-Q", "automation,default", "-c", str(processes_count), "-n", f"w{len(self.children)}@%h"]
        quiet = ["--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
        command = ["-m", "celery", "-A", "config.celery", "worker", *queues, *quiet]
        return self._start(command, "worker.log")

    def _start(self, command: list[str], log: str) -> subprocess.Popen[str]:
        child = processes.start([sys.executable, *command], log=self.folder / log, env=self.env, cwd=ROOT)
        self.children.append(child)
        return child

    def kill(self, child: subprocess.Popen[str]) -> None:
        """SIGKILL for the whole process group: no handler runs, nothing is cleaned up."""
        os.killpg(child.pid, signal.SIGKILL)
        child.wait(timeout=10)
        self.children.remove(child)

    def stop(self) -> None:
        for child in self.children:
            processes.stop(child)
        self.simulator.stop()

    def accepted(self) -> list[AcceptedMessage]:
        return self.simulator.accepted()


@contextmanager
def fleet(folder: Path, faults: Mapping[str, Any] | None = None) -> Iterator[Fleet]:
    """A fleet without ticks and workers yet."""
    import json

    plan = folder / "faults.json"
    plan.write_text(json.dumps(faults or {}))
    running = Fleet(folder, redis_url=os.environ["TEST_REDIS_URL"], faults=plan)
    try:
        yield running
    finally:
        running.stop()


def wait_for(condition: Callable[[], bool], *, seconds: float = 60.0, what: str = "") -> None:
    """Poll until `condition` holds; fails after `seconds`."""
    stop = time.monotonic() + seconds
    while time.monotonic() < stop:
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(f"did not happen within {seconds} s: {what}")


def _database_url(config: Mapping[str, Any]) -> str:
    user = quote(config["USER"] or "")
    password = f":{quote(config['PASSWORD'])}" if config.get("PASSWORD") else ""
    host = quote(config["HOST"] or "", safe="")
    port = f":{config['PORT']}" if config.get("PORT") else ""
    return f"postgresql://{user}{password}@{host}{port}/{config['NAME']}"


def _base64(key: bytes) -> str:
    import base64

    return base64.urlsafe_b64encode(key).decode()

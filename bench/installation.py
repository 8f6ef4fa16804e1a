"""A whole installation on loopback for a bench: database, queue, workers and a stand-in for the panel.

Everything it starts is ended by its own process id when the bench ends, however it ends.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import redis

from script import processes

ROOT = Path(__file__).resolve().parents[1]
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def redis_url() -> str:
    url = os.environ.get("BENCH_REDIS_URL", "")
    if urlsplit(url).hostname not in LOOPBACK:
        sys.exit("Set BENCH_REDIS_URL to a database of a Redis server on loopback; it is emptied.")
    return url


class Panel:
    """The stand-in panel, seen from the bench."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def counts(self) -> dict[str, int]:
        return self._get("/counts")

    def delay(self, milliseconds: int) -> None:
        self._get(f"/delay?ms={milliseconds}")

    def _get(self, path: str) -> dict[str, int]:
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            counts: dict[str, int] = json.loads(answer.read())
        return counts


class Installation:
    """The environment that all its processes share, and those processes."""

    def __init__(self, folder: Path, *, database: str, queue: str, redis_at: str = "") -> None:
        self.folder = folder
        self.children: list[subprocess.Popen[str]] = []
        key = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
        self.environment = {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": database,
            "REDIS_URL": redis_at,
            "PEYK_QUEUE": queue,
            "PEYK_SECRET_KEY": secrets.token_urlsafe(64),
            "PEYK_DATA_KEYS": f"k1:{key}",
            "PEYK_HTTPS": "0",
            "PEYK_PROVIDER_HOSTS": "127.0.0.1",
            "PEYK_VAR_DIR": str(folder / "var"),
            "PEYK_LOG_LEVEL": "WARNING",
        }
        if redis_at:
            redis.Redis.from_url(redis_at).flushdb()

    def start(self, command: Sequence[str], log: str) -> subprocess.Popen[str]:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PEYK_", "TEST_"))}
        child = processes.start(
            command, log=self.folder / log, env={**inherited, **self.environment}, cwd=ROOT
        )
        self.children.append(child)
        return child

    def start_panel(self, python: str = sys.executable) -> Panel:
        port = processes.free_port()
        child = self.start([python, "bench/provider.py", str(port)], "panel.log")
        if not processes.wait_until(lambda: processes.answers(port), child=child):
            sys.exit(f"the stand-in panel did not start: {self.folder / 'panel.log'}")
        return Panel(port)

    def start_celery(self, *, count: int) -> subprocess.Popen[str]:
        """One worker with `count` processes, as the manual tells an operator to start it."""
        options = ["-Q", "automation,default", "-c", str(count), "--loglevel", "WARNING"]
        command = [sys.executable, "-m", "celery", "-A", "config.celery", "worker", *options]
        return self.start(command, "worker.log")

    def start_django_q(self) -> subprocess.Popen[str]:
        return self.start([sys.executable, "manage.py", "qcluster"], "worker.log")

    def stop(self) -> None:
        for child in reversed(self.children):
            processes.stop(child)


@contextmanager
def installation(*, database: str, queue: str, redis_at: str = "") -> Iterator[Installation]:
    """An installation in a folder of its own; both are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="peyk-bench-") as folder, processes.unwinding_on_signals():
        made = Installation(Path(folder), database=database, queue=queue, redis_at=redis_at)
        try:
            yield made
        finally:
            made.stop()

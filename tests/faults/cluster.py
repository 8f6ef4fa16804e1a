"""A PostgreSQL server of one's own, to be killed: durable as in production, started again on its files."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from script import processes, services

STARTED = "ready to accept connections"
LEFT_BEHIND = "is still in use"  # the shared memory of the server before


@dataclass(slots=True, kw_only=True)
class Cluster:
    """`start` and `kill` as often as one likes; the files stay."""

    programs: Path
    data: Path
    log: Path
    user: str | None
    port: int
    password: str
    child: subprocess.Popen[str] | None = field(default=None)

    @property
    def url(self) -> str:
        return f"postgresql://{services.DATABASE_USER}:{self.password}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Returns when queries are answered: after crash recovery, if there was a crash."""
        tries = 20  # a backend that was in the middle of its work outlives a killed postmaster by a moment
        while not self._started() and tries and LEFT_BEHIND in self._log()[-2000:]:
            tries -= 1
            time.sleep(0.2)
        assert self.child is not None, self._log()[-2000:]

    def _started(self) -> bool:
        seen = self._log().count(STARTED)
        settings = [f"port={self.port}", "listen_addresses=127.0.0.1", "unix_socket_directories=",
                    "max_connections=60", "shared_buffers=32MB"]  # fmt: skip
        options = [part for setting in settings for part in ("-c", setting)]
        self.child = processes.start(
            [self.programs / "postgres", "-D", self.data, *options],
            log=self.log, user=self.user, cwd=Path("/"), death_signal=signal.SIGQUIT,
        )  # fmt: skip
        ready = processes.wait_until(
            lambda: self._log().count(STARTED) > seen and processes.answers(self.port), child=self.child
        )
        if not ready:
            self.stop()
        return ready

    def kill(self) -> None:
        """SIGKILL for the postmaster: no checkpoint, no farewell; its backends notice and leave."""
        assert self.child is not None
        os.kill(self.child.pid, signal.SIGKILL)
        self.child.wait(timeout=10)
        self.child = None

    def restart(self) -> None:
        """What a package update does: clients are thrown out, the files are closed in order."""
        self.stop()
        self.start()

    def stop(self) -> None:
        if self.child is not None:
            processes.stop(self.child, first=signal.SIGINT)
            self.child = None

    def backends(self) -> list[int]:
        """Processes that serve the product right now."""
        with psycopg.connect(self.url, autocommit=True) as link:
            rows = link.execute(
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'peyk' AND pid <> pg_backend_pid()"
            )
            return [row[0] for row in rows.fetchall()]

    def copy_database(self, name: str, to: str) -> None:
        """A copy within the cluster, with everything in it."""
        with psycopg.connect(self.url, autocommit=True) as link:
            link.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
            link.execute(f'CREATE DATABASE "{to}" TEMPLATE "{name}"')

    def _log(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A fresh server in `folder`, which need not exist and must be reachable by the server's user."""
    programs = services.require(services.POSTGRES, log=folder / "install.log", say=print)
    password, port = "throwaway", processes.free_port()
    data, user = services.make_cluster(folder, programs=programs, password=password)
    made = Cluster(
        programs=programs, data=data, log=folder / "postgres.log", user=user, port=port, password=password
    )
    made.start()
    try:
        yield made
    finally:
        made.stop()


def entry_of(url: str, name: str) -> dict[str, str]:
    """Django's database entry for a database of the cluster."""
    parts = urlsplit(url)
    return {
        "ENGINE": "django.db.backends.postgresql", "NAME": name, "USER": parts.username or "",
        "PASSWORD": parts.password or "", "HOST": parts.hostname or "", "PORT": str(parts.port),
    }  # fmt: skip

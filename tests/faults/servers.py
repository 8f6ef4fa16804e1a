"""The servers around the product as a soak owns them: each may be killed and comes back where it was."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import redis

from script import processes, services
from sms.simulator.record import AcceptedMessage, SeenRequest, read, read_requests

PATIENCE_S = 60.0
QUEUES = ("drain", "django_q", "celery")


class Provider(Protocol):
    """The simulated provider, in this process or in one of its own."""

    url: str

    def start(self) -> str: ...
    def stop(self) -> None: ...
    def behave(self, plan: object) -> None: ...
    def accepted(self) -> Sequence[AcceptedMessage]: ...
    def requests(self) -> list[SeenRequest]: ...


class Forks(Protocol):
    """Who starts processes and knows how they ended."""

    def start_apart(self, job: str, argument: Mapping[str, Any]) -> int: ...
    def wait(self, pid: int) -> Any: ...


@dataclass(slots=True, kw_only=True)
class ProviderProcess:
    """A simulated provider in a process of its own: its record outlives it, its orders it is told again."""

    forks: Forks
    store: Path
    plan: object
    port: int = field(default_factory=processes.free_port)
    url: str = ""
    pid: int = 0

    def start(self) -> str:
        """Returns the address once it listens."""
        argument = {"store": str(self.store), "port": self.port, "plan": self.plan}
        self.pid = self.forks.start_apart("provide", argument)
        if not processes.wait_until(lambda: processes.answers(self.port), seconds=PATIENCE_S):
            raise AssertionError("the simulated provider did not start")
        self.url = f"http://127.0.0.1:{self.port}"
        return self.url

    def stop(self) -> None:
        """SIGKILL: no answer is finished, every connection is reset."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            self.forks.wait(self.pid)
            self.pid = 0

    def behave(self, plan: object) -> None:
        self.plan = plan
        body = json.dumps(plan).encode()
        order = urllib.request.Request(f"{self.url}/_sim/faults", data=body, method="PUT")
        with urllib.request.urlopen(order, timeout=PATIENCE_S):
            pass

    def accepted(self) -> list[AcceptedMessage]:
        return read(self.store)

    def requests(self) -> list[SeenRequest]:
        return read_requests(self.store)


@dataclass(slots=True, kw_only=True)
class RedisServer:
    """A Redis that keeps nothing: whoever kills it empties it as well."""

    folder: Path
    program: Path
    port: int = field(default_factory=processes.free_port)
    password: str = field(default_factory=lambda: secrets.token_hex(16))
    child: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"redis://default:{self.password}@127.0.0.1:{self.port}/0"

    def start(self) -> None:
        settings = services.redis_settings(self.folder, port=self.port, password=self.password)
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.folder / "redis.log"
        self.child = processes.start([self.program, "-"], log=log, cwd=self.folder, stdin=settings)
        if not processes.wait_until(lambda: processes.answers(self.port), child=self.child):
            raise AssertionError(f"Redis did not start: {log.read_text(errors='replace')[-1000:]}")

    def kill(self) -> None:
        if self.child is not None:
            os.kill(self.child.pid, signal.SIGKILL)
            self.child.wait(timeout=PATIENCE_S)
            self.child = None

    def flush(self) -> None:
        """Everything in it is gone while everybody stays connected."""
        self.client().flushall()

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url)


class Database(Protocol):
    """A PostgreSQL server of one's own (`tests.faults.cluster.Cluster`)."""

    @property
    def url(self) -> str: ...
    def start(self) -> None: ...
    def kill(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one soak is to do. `queue`: who works it, one of QUEUES."""

    seed: int
    seconds: float
    queue: str = "drain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Servers:
    """What a soak may kill. A run on borrowed servers has none of them."""

    database: Database
    redis: RedisServer


def down_and_up(server: Database | RedisServer, seconds: float) -> None:
    """SIGKILL, a while without it, and back at the same address."""
    server.kill()
    time.sleep(seconds)
    server.start()

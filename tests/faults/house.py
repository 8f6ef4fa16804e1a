"""A house for one run: a clock file, a simulated provider, and processes to tick, work and be killed."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.conf import settings

from core.clock import FileClock
from sms.simulator.record import AcceptedMessage, SeenRequest
from sms.simulator.server import Simulator
from tests.faults.servers import Provider, ProviderProcess

ROOT = Path(__file__).resolve().parents[2]
WAIT_AT_MOST_S = 60.0
# Two customers of one provider: what is sent for one workspace must never go out on the other's account.
ACCOUNTS = (
    {"username": "peyk", "password": "simulator", "lines": ["50004001"]},
    {"username": "neighbour", "password": "simulator", "lines": ["50004001"]},
)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended."""

    signal: int
    code: int

    @property
    def killed(self) -> bool:
        return self.signal == signal.SIGKILL


@dataclass(slots=True, kw_only=True)
class House:
    """Open one with `open_house`. `run` starts a process and waits for its end, `start` does not wait."""

    folder: Path
    zygote: subprocess.Popen[str]
    clock: FileClock
    simulator: Provider
    provider_apart: bool = False  # in a process of its own, that may be killed
    running: set[int] = field(default_factory=set)
    restarts: int = 0

    def start(
        self,
        job: str,
        *,
        failpoints: str = "",
        mutants: Sequence[str] = (),
        settings: Mapping[str, Any] | None = None,
        database: Mapping[str, Any] | None = None,
        argument: Mapping[str, Any] | None = None,
        memory_mb: int = 0,
        clock: Path | None = None,
    ) -> int:
        """Start a tick, a worker or another job of the zygote; its process id.

        `argument` is handed to the job; with `memory_mb` it may take only so much more than it has.
        """
        order = {
            "op": "fork", "job": job, "failpoints": failpoints, "mutants": list(mutants),
            "settings": dict(settings or {}), "database": dict(database or {}),
            "argument": dict(argument or {}), "memory_mb": memory_mb,
            "clock": str(clock) if clock else "", "log": str(self.folder / "processes.log"),
        }  # fmt: skip
        pid = int(self._ask(order)["pid"])
        self.running.add(pid)
        return pid

    def start_apart(self, job: str, argument: Mapping[str, Any]) -> int:
        """A process that is none of the product's: `kill_all` spares it."""
        pid = self.start(job, argument=argument)
        self.running.discard(pid)
        return pid

    def run(self, job: str, **how: Any) -> Ended:
        return self.wait(self.start(job, **how))

    def wait(self, pid: int) -> Ended:
        """The end of a process, which comes within WAIT_AT_MOST_S."""
        stop = time.monotonic() + WAIT_AT_MOST_S
        while (ended := self.ended(pid)) is None:
            if time.monotonic() > stop:
                os.kill(pid, signal.SIGKILL)
                raise AssertionError(f"a process did not end within {WAIT_AT_MOST_S} s")
            time.sleep(0.005)
        return ended

    def ended(self, pid: int) -> Ended | None:
        """How a process ended; None while it runs."""
        status = self._ask({"op": "poll", "pid": pid})["status"]
        if status is None:
            return None
        self.running.discard(pid)
        by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        return Ended(by, os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0)

    def kill(self, pid: int, number: int = signal.SIGKILL) -> None:
        """Send a signal to a process of this house that has not been seen to end."""
        if pid in self.running:
            os.kill(pid, number)

    def below(self, pid: int) -> list[int]:
        """The processes that a process of this house has started, and those that they did."""
        found: list[int] = []
        with suppress(OSError):  # it ended while we looked
            for task in Path(f"/proc/{pid}/task").iterdir():
                for child in (task / "children").read_text().split():
                    found += [int(child), *self.below(int(child))]
        return found

    def kill_below(self, pid: int) -> None:
        """SIGKILL for one of those."""
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def kill_all(self) -> None:
        for pid in list(self.running):
            self.kill(pid)
            self.wait(pid)

    def _ask(self, order: Mapping[str, Any]) -> dict[str, Any]:
        assert self.zygote.stdin is not None
        assert self.zygote.stdout is not None
        self.zygote.stdin.write(json.dumps(order) + "\n")
        self.zygote.stdin.flush()
        answer: dict[str, Any] = json.loads(self.zygote.stdout.readline())
        return answer

    # -- the provider -----------------------------------------------------------------------------

    def provider(self, *rules: Mapping[str, Any], seed: int = 0) -> None:
        """How the provider behaves from now on."""
        self.simulator.behave({"seed": seed, "accounts": list(ACCOUNTS), "rules": list(rules)})

    def accepted(self) -> list[AcceptedMessage]:
        return list(self.simulator.accepted())

    def requests(self) -> list[SeenRequest]:
        return self.simulator.requests()

    def new_provider(self) -> str:
        """Another provider with an empty record, at another address; returns that."""
        self.simulator.stop()
        self.restarts += 1
        store, plan = self.folder / f"provider-{self.restarts}", {"accounts": list(ACCOUNTS)}
        self.simulator = (
            ProviderProcess(forks=self, store=store, plan=plan)
            if self.provider_apart
            else Simulator(store, plan, clock=self.clock.now)
        )
        return self.simulator.start()


@contextmanager
def open_house(
    folder: Path, database: Mapping[str, Any], *, environment: Mapping[str, str] | None = None
) -> Iterator[House]:
    """`database` is Django's entry of the database that all processes share."""
    clock = FileClock(folder / "clock")
    simulator = Simulator(folder / "provider-0", {"accounts": list(ACCOUNTS)}, clock=clock.now)
    simulator.start()
    with (folder / "zygote.log").open("w") as log:
        zygote = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.zygote"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**process_environment(folder, database, clock), **(environment or {})},
        )
    assert zygote.stdout is not None
    assert zygote.stdout.readline().strip() == '{"ready": true}', (folder / "zygote.log").read_text()
    house = House(folder=folder, zygote=zygote, clock=clock, simulator=simulator)
    try:
        yield house
    finally:
        house.kill_all()
        house.simulator.stop()
        assert zygote.stdin is not None
        zygote.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            zygote.wait(timeout=10)
        zygote.kill()  # on a busy machine its last seconds are long, and it holds nothing any more
        zygote.wait()
        zygote.stdout.close()


def process_environment(folder: Path, database: Mapping[str, Any], clock: FileClock) -> dict[str, str]:
    """The environment of a product process under test: this process's keys, the given database and clock."""
    keys = ",".join(
        f"{kid}:{base64.urlsafe_b64encode(key).decode()}" for kid, key in settings.DATA_KEYS.items()
    )
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PEYK_", "TEST_", "REDIS_"))}
    return {
        **inherited,
        "DJANGO_SETTINGS_MODULE": "tests.faults.settings",
        "DATABASE_URL": database_url(database),
        "PEYK_SECRET_KEY": settings.SECRET_KEY,
        "PEYK_DATA_KEYS": keys,
        "PEYK_QUEUE": "django_q",
        "PEYK_HTTPS": "0",
        "PEYK_CLOCK_FILE": str(clock.path),
        "PEYK_VAR_DIR": str(folder / "var"),
        "PEYK_CHUNK_SIZE": "4",
        # An answer that a busy machine delays by a second is no lost answer, and no doubt.
        "PEYK_HTTP_BUDGET_SECONDS": "2",
        "PEYK_LOG_LEVEL": "WARNING",
    }


def database_url(entry: Mapping[str, Any]) -> str:
    """The URL of a Django database entry."""
    if entry["ENGINE"].endswith("sqlite3"):
        return f"sqlite:///{entry['NAME']}"
    user, host = quote(entry["USER"] or ""), quote(entry["HOST"] or "", safe="")
    password = f":{quote(entry['PASSWORD'])}" if entry.get("PASSWORD") else ""
    port = f":{entry['PORT']}" if entry.get("PORT") else ""
    return f"postgresql://{user}{password}@{host}{port}/{entry['NAME']}"

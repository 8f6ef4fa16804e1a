"""The simulated provider for tests: in this process on a thread, or as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sms.providers.melipayamak import MelipayamakConfig, MelipayamakGateway
from sms.simulator.record import AcceptedMessage, read
from sms.simulator.server import PASSWORD, USERNAME, Simulator

LINE = "50004001"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def simulator(tmp_path: Path) -> Iterator[Simulator]:
    """A listening simulator without faults; `simulator.behave({...})` gives it some."""
    running = Simulator(tmp_path / "provider")
    running.start()
    yield running
    running.stop()


def gateway_to(url: str, *, password: str = PASSWORD, sender: str = LINE) -> MelipayamakGateway:
    """The Melipayamak gateway, pointed at a simulator."""
    return MelipayamakGateway(
        MelipayamakConfig(username=USERNAME, password=password, base_url=url, sender=sender)
    )


@dataclass
class SimulatorProcess:
    """A simulator in its own process: kill the product, it keeps its record."""

    url: str
    store: Path
    process: subprocess.Popen[str]

    def accepted(self) -> list[AcceptedMessage]:
        return read(self.store)

    def stop(self) -> int:
        """End it in an orderly way; returns its exit status."""
        self.process.terminate()
        status = self.process.wait(timeout=10)
        if self.process.stdout:
            self.process.stdout.close()
        return status


def start_process(
    store: Path, *, faults: Path | None = None, clock_file: Path | None = None
) -> SimulatorProcess:
    """Start `manage.py sms_simulator` on a free port and wait until it listens."""
    command = [sys.executable, "manage.py", "sms_simulator", "--port", "0", "--store", str(store)]
    if faults:
        command += ["--faults", str(faults)]
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings_test"}
    if clock_file:
        env["PEYK_CLOCK_FILE"] = str(clock_file)
    process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("listening on "), line
    return SimulatorProcess(line.removeprefix("listening on ").strip(), store, process)

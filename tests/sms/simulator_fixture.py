"""The simulated provider for tests: in this process on a thread, or as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sms.providers.generic import GenericConfig, GenericGateway
from sms.providers.melipayamak import MelipayamakConfig, MelipayamakGateway
from sms.providers.melipayamak_console import ConsoleConfig, MelipayamakConsoleGateway
from sms.providers.melipayamak_soap import MelipayamakSoapGateway
from sms.simulator.plan import Plan
from sms.simulator.record import AcceptedMessage, read
from sms.simulator.server import PASSWORD, USERNAME, Simulator

LINE = "50004001"
KEY = Plan().accounts[0].key
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


def soap_gateway_to(url: str, *, password: str = PASSWORD, sender: str = LINE) -> MelipayamakSoapGateway:
    """The same account by SOAP."""
    return MelipayamakSoapGateway(
        MelipayamakConfig(username=USERNAME, password=password, base_url=url, sender=sender)
    )


def console_gateway_to(url: str, *, password: str = KEY, sender: str = LINE) -> MelipayamakConsoleGateway:
    """The same account by the console interface, whose only secret is a key."""
    return MelipayamakConsoleGateway(ConsoleConfig(key=password, base_url=url, sender=sender))


GENERIC: Mapping[str, Any] = {
    "method": "post_json",
    "fields": {
        "user": "{username}", "secret": "{password}", "to": "{to}", "line": "{sender}", "message": "{text}",
    },
    "success_path": "status",
    "success_value": "ok",
    "id_path": "data.id",
    "code_path": "code",
    "codes": {
        "7": "refused", "18": "refused", "2": "unavailable", "0": "unavailable", "3": "throttled",
        "6": "not_sent",
    },
}  # fmt: skip


def generic_gateway_to(
    url: str, *, password: str = PASSWORD, sender: str = LINE, **changed: Any
) -> GenericGateway:
    """The simulator's generic interface, described as a customer would."""
    described = {**GENERIC, **changed}
    return GenericGateway(
        GenericConfig(
            url=url + "/generic/send", username=USERNAME, password=password, sender=sender,
            public_only=False, **described,
        )
    )  # fmt: skip


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

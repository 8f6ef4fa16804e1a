"""`manage.py sms_simulator`: a stand-in for the SMS provider, on this machine only."""

from __future__ import annotations

import json
import os
import signal
import threading
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sms.simulator.server import Simulator


class Command(BaseCommand):
    help = "Run a simulated SMS provider on this machine until it is stopped. No message leaves it."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="A loopback address (default: 127.0.0.1).")
        parser.add_argument("--port", type=int, default=0, help="0 takes a free one (default).")
        parser.add_argument("--store", required=True, help="Folder of the record of accepted messages.")
        parser.add_argument("--faults", help="JSON file of accounts, faults and delivery outcomes.")
        parser.add_argument(
            "--fsync", action="store_true", help="Every accepted message survives a power cut."
        )
        parser.add_argument("--ready-file", help="Written with the address once it listens.")

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        simulator = _simulator(options)
        try:
            url = simulator.start()
        except OSError as exc:
            raise CommandError(f"cannot listen: {exc}") from exc
        if options["ready_file"]:
            _write_whole(Path(options["ready_file"]), url)
        self.stdout.write(f"listening on {url}")
        self.stdout.flush()
        stop.wait()
        simulator.stop()


def _simulator(options: dict[str, Any]) -> Simulator:
    try:
        plan = json.loads(Path(options["faults"]).read_text("utf-8")) if options["faults"] else {}
        return Simulator(
            options["store"], plan, host=options["host"], port=options["port"], fsync=options["fsync"]
        )
    except (OSError, ValueError, TypeError) as exc:
        raise CommandError(str(exc)) from exc


def _write_whole(path: Path, text: str) -> None:
    """So that whoever waits for the file never reads half of it."""
    temporary = path.with_suffix(".new")
    temporary.write_text(text + "\n", "utf-8")
    os.replace(temporary, path)

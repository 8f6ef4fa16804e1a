"""The scheduler, from cron once a minute, or in a loop."""

from __future__ import annotations

import json
import signal
import sys
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import close_old_connections

from automation.runtime.tick import TICK_SECONDS, TickReport, run_tick
from core import installation, one_host
from core.queue import queue

DRAIN_SECONDS = 55.0


class Command(BaseCommand):
    help = (
        "Starts, claims and dispatches what is due. Exit codes: 0 done (also when another tick is running), "
        "1 an error, 3 some work could not be handed to the queue."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--loop", action="store_true", help="tick for ever, every --every seconds")
        parser.add_argument(
            "--every", type=float, default=5.0, help="seconds between ticks with --loop (default 5)"
        )
        parser.add_argument(
            "--drain",
            action="store_true",
            help="hosts without a worker: then work the queue in this process for up to 55 seconds",
        )
        parser.add_argument("--json", action="store_true", help="print one line of what was done")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["loop"] and options["drain"]:
            raise CommandError("--loop and --drain exclude each other: cron starts --drain once a minute.")
        if options["every"] < 0.2:
            raise CommandError("--every takes at least 0.2 seconds.")
        if options["loop"]:
            self._loop(options["every"], as_json=options["json"])
            return
        try:
            one_host.hold()
        except one_host.SecondHost as second:
            raise CommandError(str(second)) from second
        report = run_tick(seconds=5.0 if options["drain"] else TICK_SECONDS)
        worked = queue().drain(seconds=DRAIN_SECONDS - report.seconds) if options["drain"] else None
        self._print(report, worked, as_json=options["json"])
        if refused := installation.refusal():
            raise CommandError(f"Nothing is sent from this database ({refused}): see {installation.COMMAND}.")
        if report.undispatched:
            sys.exit(3)

    def _loop(self, every: float, *, as_json: bool) -> None:
        stop = threading.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: stop.set())
        while not stop.is_set():
            close_old_connections()
            self._tick_if_alone(as_json=as_json)
            stop.wait(every)

    def _tick_if_alone(self, *, as_json: bool) -> None:
        """The loop goes on beside another host, which may be gone in a moment, and says why it stands."""
        try:
            one_host.hold()
        except one_host.SecondHost as second:
            self.stderr.write(str(second))
        else:
            self._print(run_tick(), None, as_json=as_json)

    def _print(self, report: TickReport, worked: int | None, *, as_json: bool) -> None:
        if as_json:
            line = report.as_dict() | ({} if worked is None else {"worked": worked})
            self.stdout.write(json.dumps(line))

"""`manage.py sms_poll_deliveries`: ask providers what became of the messages they took."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from core import clock, heartbeat
from sms.delivery import PollReport, poll_due

HEARTBEAT = "sms_poll_deliveries"


class Command(BaseCommand):
    help = "Ask SMS providers for delivery reports that are due, until none is or the time is up."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--limit", type=int, default=200, help="Messages in one round (default: 200).")
        parser.add_argument("--seconds", type=float, default=50, help="Begin no round after this long.")
        parser.add_argument("--json", action="store_true", help="Print the totals as one line of JSON.")

    def handle(self, *args: Any, **options: Any) -> None:
        total = _rounds(options["limit"], options["seconds"])
        heartbeat.beat(HEARTBEAT, total.as_dict())
        if options["json"]:
            self.stdout.write(json.dumps(total.as_dict()))
        else:
            self.stdout.write(f"asked {total.asked}, answered {total.answered}, moved {total.moved}")


def _rounds(limit: int, seconds: float) -> PollReport:
    until = time.monotonic() + seconds
    rounds: list[PollReport] = []
    while (left := until - time.monotonic()) > 0:
        rounds.append(poll_due(clock.now(), limit, seconds=left))
        if rounds[-1].busy or rounds[-1].asked < limit:
            break
    return PollReport(
        asked=sum(one.asked for one in rounds),
        answered=sum(one.answered for one in rounds),
        moved=sum(one.moved for one in rounds),
        late=sum(one.late for one in rounds),
        busy=any(one.busy for one in rounds),
    )

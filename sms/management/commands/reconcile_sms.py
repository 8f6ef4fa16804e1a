"""Looks up messages whose outcome is unknown, apart from the tick."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from core import clock
from sms.reconcile import BATCH, reconcile_due


class Command(BaseCommand):
    help = (
        "Asks the providers about messages whose outcome is unknown and settles those that are proven. "
        "Sends nothing. Prints what one round did as JSON; `busy` means another round is running."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--limit", type=int, default=BATCH, help=f"messages at most (default {BATCH})")

    def handle(self, *args: Any, **options: Any) -> None:
        report = reconcile_due(clock.now(), limit=max(1, options["limit"]))
        self.stdout.write(json.dumps(report.as_dict()))

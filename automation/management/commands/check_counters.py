"""`manage.py check_counters`: do the daily counters agree with the messages?"""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from automation.counter_check import check


class Command(BaseCommand):
    help = (
        "Compares each daily counter with the messages of its day and scope; exit code 1 on any difference. "
        "--repair sets the counters to what the messages say, with an audit row each."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--days", type=int, default=2, help="how many days, today included (2)")
        parser.add_argument("--repair", action="store_true", help="set the counters that differ")

    def handle(self, *args: Any, **options: Any) -> None:
        differences = check(days=max(1, options["days"]), repair=options["repair"])
        for row in differences:
            self.stdout.write(
                f"workspace {row.workspace} {row.scope_type} {row.scope_id} on {row.day}: "
                f"counter {row.used}, messages {row.messages}"
            )
        verb = "repaired" if options["repair"] else "different"
        self.stdout.write(f"{len(differences)} {verb}")
        if differences and not options["repair"]:
            sys.exit(1)

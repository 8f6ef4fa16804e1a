"""`manage.py conservation_check`: is everybody who entered a step still accounted for?"""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from automation.conservation import Report, check

NAMED = 50


class Command(BaseCommand):
    help = (
        "For each campaign, version and step: entered = moved on + waiting + in work + held + ended. "
        "Names the executions that break it; exit code 1 when there are any."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--campaign", type=int, help="only this campaign")
        parser.add_argument("--json", action="store_true", help="everything as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        report = check(options["campaign"])
        if options["json"]:
            self.stdout.write(json.dumps(report.as_dict()))
        else:
            self._print(report)
        if not report.holds:
            sys.exit(1)

    def _print(self, report: Report) -> None:
        for step in report.steps:
            mark = "ok" if step.balanced else "BROKEN"
            self.stdout.write(
                f"campaign {step.campaign} version {step.version} step {step.key}: entered {step.entered} = "
                f"moved on {step.moved_on} + waiting {step.waiting} + in work {step.in_work} + "
                f"held {step.held} + ended {step.ended}  {mark}"
            )
        for row in report.broken[:NAMED]:
            self.stdout.write(f"execution {row.execution} (campaign {row.campaign}) {row.problem}")
        if len(report.broken) > NAMED:
            self.stdout.write(f"and {len(report.broken) - NAMED} more")
        people = sum(report.on_the_way.values())
        self.stdout.write(f"{len(report.broken)} broken, {people} on the way to a first step")

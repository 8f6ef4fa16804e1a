"""`manage.py reconcile_usage`: has every accepted message its row in the usage ledger?"""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from core.tenancy import workspace_scope
from sms.usage import ledger
from workspaces.models import Workspace

NAMED = 50


class Command(BaseCommand):
    help = (
        "Lists accepted messages without a row in the usage ledger; exit code 1 while there are any. "
        "--fix adds the rows. Messages with an unknown outcome are counted and not added."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--fix", action="store_true", help="add the missing rows")
        parser.add_argument("--workspace", help="only the workspace with this short name")
        parser.add_argument("--after", type=int, default=0, help="only messages with a higher number")

    def handle(self, *args: Any, **options: Any) -> None:
        workspaces = Workspace.objects.order_by("pk")
        if options["workspace"]:
            workspaces = workspaces.filter(slug=options["workspace"])
        left = 0
        for workspace in workspaces:
            with workspace_scope(workspace.pk):
                left += self._check(workspace, after=options["after"], fix=options["fix"])
        if left:
            sys.exit(1)

    def _check(self, workspace: Workspace, *, after: int, fix: bool) -> int:
        """Print what one workspace lacks; returns how many rows are missing now."""
        found: list[int] = []
        for piece in ledger.missing(after=after):
            found += [message.log_id for message in piece]
            if fix:
                ledger.enter(piece)
        left = sum(map(len, ledger.missing(after=after))) if fix and found else len(found)
        for log_id in found[:NAMED]:
            self.stdout.write(f"workspace {workspace.slug} message {log_id}: no usage row")
        if len(found) > NAMED:
            self.stdout.write(f"workspace {workspace.slug}: and {len(found) - NAMED} more")
        self.stdout.write(
            f"workspace {workspace.slug}: {len(found)} without a usage row, {len(found) - left} added, "
            f"{ledger.unknown_outcomes()} with an unknown outcome"
        )
        return left

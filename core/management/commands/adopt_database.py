"""Says that this deployment may send from this database: after a move, a restore or a rename."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core import installation
from core.models import Installation


class Command(BaseCommand):
    help = (
        "Without --yes: tells whether ticks and workers send from this database, and why not (exit code 1). "
        "With --yes: makes it this deployment's own. Pause the campaigns of a restored copy first."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--yes", action="store_true", help="put this deployment's stamp on the database")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["yes"]:
            self.stdout.write(f"Adopted: {installation.adopt().stamp}")
            return
        found = installation.refusal()
        row = Installation.objects.filter(pk=1).first()
        self.stdout.write(f"The database's stamp:   {row.stamp if row else 'none yet'}")
        self.stdout.write(f"This deployment's own: {installation.stamp()}")
        if found is installation.Refusal.SECOND_HOST:
            raise CommandError(
                "Another host works on this SQLite file. If it was stopped for good, wait three minutes or "
                "run this command with --yes."
            )
        if found:
            raise CommandError(
                f"Nothing is sent from this database ({found}). If it is not a copy, or everything that was "
                "sent since the copy was made is known, run this command with --yes."
            )
        self.stdout.write("Messages are sent from this database.")

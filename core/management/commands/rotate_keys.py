"""`manage.py rotate_keys`: seal every stored secret again with the newest data key."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.rotation import rotate, sealed_columns


class Command(BaseCommand):
    help = (
        "Seal every stored secret again with the first key of PEYK_DATA_KEYS. Put the new key first and keep "
        "the old one behind it, run this, then drop the old one. Can be stopped and run again; prints "
        "counts only."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        unreadable = 0
        for column in sealed_columns():
            done = rotate(column)
            unreadable += done.unreadable
            self.stdout.write(
                f"{column.name}: {done.sealed_again} sealed again, {done.current} current, "
                f"{done.unreadable} unreadable"
            )
        if unreadable:
            raise CommandError(
                f"{unreadable} secret(s) cannot be read with any configured key. Keep the old keys, or enter "
                "these credentials again."
            )

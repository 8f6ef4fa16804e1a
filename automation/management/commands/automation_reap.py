"""Takes back executions whose worker died, apart from the tick."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from automation.runtime.reaper import reap
from core import clock


class Command(BaseCommand):
    help = "Frees executions whose lease is over and prints how many."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(str(reap(clock.now())))

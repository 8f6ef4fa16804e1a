"""The permanent worker of the embedded queue: django-q2's cluster, on one host only."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.db import connections
from django_q.management.commands.qcluster import Command as Cluster

from core import one_host


class Command(Cluster):  # type: ignore[misc]
    help = "Works the queue until it is stopped. Refuses to begin while another host works on a SQLite file."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            one_host.hold()
        except one_host.SecondHost as second:
            raise CommandError(str(second)) from second
        connections.close_all()  # the processes of the cluster open their own
        super().handle(*args, **options)

"""The Celery application: one task that looks the real one up in the registry."""

import os
from typing import Any

from celery import Celery, signals
from django.db import close_old_connections, connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
app = Celery("peyk")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["core.queue"], related_name="celery_tasks")
# Celery would close every connection after every task: a new server process, and all statements parsed and
# planned anew, for each chunk. Django's own rule (`CONN_MAX_AGE`, checked before use) holds instead.
app.conf["CELERY_DB_REUSE_MAX"] = 10**9


def close_what_is_old(sender: Any = None, **_signal: Any) -> None:
    """What is broken or older than `CONN_MAX_AGE` goes, around every task of a worker."""
    if not getattr(sender.request, "is_eager", False):
        close_old_connections()


def refuse_a_second_host(**_signal: Any) -> None:
    """Where the database is a SQLite file, workers of one host only."""
    from core import one_host

    try:
        one_host.hold()
    except one_host.SecondHost as second:
        raise SystemExit(str(second)) from second
    connections.close_all()  # its processes open their own


signals.worker_init.connect(refuse_a_second_host, weak=False)
signals.task_prerun.connect(close_what_is_old, weak=False)
signals.task_postrun.connect(close_what_is_old, weak=False)

"""A Celery worker keeps its connection to the database from task to task; one that broke is given up."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from celery import signals
from celery.fixups.django import DjangoWorkerFixup
from django.db import connection

from config.celery import app

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="a test's SQLite database is never closed"),
]


class Task:
    """As much of a task as they look at."""

    request = SimpleNamespace(is_eager=False)


def after_a_task() -> None:
    """What Celery and this installation do around a task of a worker."""
    task = Task()
    fixup = DjangoWorkerFixup(app)
    for signal, theirs in (
        (signals.task_prerun, fixup.on_task_prerun),
        (signals.task_postrun, fixup.on_task_postrun),
    ):
        theirs(sender=task)
        signal.send(sender=task)


def server_process() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def test_the_next_task_finds_the_same_connection():
    before = server_process()
    connection.close_at = None  # younger than `CONN_MAX_AGE`, which is no age at all in tests
    after_a_task()
    assert server_process() == before


def test_a_connection_that_the_server_ended_is_replaced():
    before = server_process()
    connection.connection.close()  # as when the server went away in the middle of the task
    connection.errors_occurred = True
    after_a_task()
    assert server_process() != before

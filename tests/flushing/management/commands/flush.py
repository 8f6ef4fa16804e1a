"""`flush` between transactional tests: history cannot be emptied, so its triggers stand aside meanwhile.

This replaces Django's command under the test settings alone. Nothing of the product can do the same: the
database's owner takes the triggers off and puts them back in one transaction, and an architecture test
forbids the words for it everywhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.commands.flush import Command as Flush
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper


class Command(Flush):
    def handle(self, **options: Any) -> None:
        connection = connections[options["database"]]
        aside = _postgresql if connection.vendor == "postgresql" else _sqlite
        with transaction.atomic(using=options["database"]), aside(connection):
            super().handle(**options)


@contextmanager
def _postgresql(connection: BaseDatabaseWrapper) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal")
        tables = [table for (table,) in cursor.fetchall()]
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        yield
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


@contextmanager
def _sqlite(connection: BaseDatabaseWrapper) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = cursor.fetchall()
        for name, _statement in triggers:
            cursor.execute(f"DROP TRIGGER {name}")
        yield
        for _name, statement in triggers:
            cursor.execute(statement)

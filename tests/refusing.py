"""A database that takes no row of one table for a while: the disk is full, the table is locked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def refusing_rows(table: str) -> Iterator[None]:
    """Every insert into `table` fails inside the block."""
    on_postgres = connection.vendor == "postgresql"
    body = (
        "FOR EACH ROW EXECUTE FUNCTION peyk_refuse('disk full')"
        if on_postgres
        else "BEGIN SELECT RAISE(ABORT, 'disk full'); END"
    )
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TRIGGER refuse_rows BEFORE INSERT ON {table} {body}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TRIGGER refuse_rows{f' ON {table}' if on_postgres else ''}")

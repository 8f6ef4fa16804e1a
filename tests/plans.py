"""What PostgreSQL's planner can do with an index, whatever it knows of a table's size at the moment.

Beside a few rows all plans cost alike, and which one wins depends on when statistics were taken last. So the
index in question is left as the only way apart from reading everything.
"""

from __future__ import annotations

from typing import Any

from django.db import connection, models

OTHERS = """
SELECT quote_ident(other.relname), key.conname IS NOT NULL
FROM pg_index i JOIN pg_class other ON other.oid = i.indexrelid
LEFT JOIN pg_constraint key ON key.conindid = i.indexrelid AND key.conrelid = i.indrelid
WHERE i.indrelid = %s::regclass AND other.relname <> %s"""


def plan_by(index: str, model: type[models.Model], sql: str, values: Any = None) -> str:
    """The plan of `sql` when no index of the model's table but `index` is there.

    Takes the others away, keys too, and forbids other ways: until the end of the test's transaction.
    """
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with checks outstanding cannot be altered
        cursor.execute(OTHERS, [table, index])
        for name, is_key in cursor.fetchall():
            drop = f"ALTER TABLE {table} DROP CONSTRAINT {name} CASCADE" if is_key else f"DROP INDEX {name}"
            cursor.execute(drop)
        for way in ("seqscan", "bitmapscan"):
            cursor.execute(f"SET LOCAL enable_{way} = off")
        cursor.execute(f"EXPLAIN {sql}", values)
        return "\n".join(row[0] for row in cursor.fetchall())

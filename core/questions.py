"""Many yes-or-no questions to the database in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import QuerySet


def which_exist(rows: Sequence[QuerySet[Any]]) -> list[bool]:
    """For each of `rows` whether it has any. One statement, none for no questions."""
    asked: list[str] = []
    parameters: list[Any] = []
    for one in rows:
        statement, values = one.query.exists().get_compiler(connection=connection).as_sql()
        asked.append(f"EXISTS ({statement})")
        parameters += values
    if not asked:
        return []
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(asked)}", parameters)
        return [bool(answer) for answer in cursor.fetchone() or ()]

"""Many rows, one statement. The ORM's own bulk calls build a model and a parameter per cell first.

A value that is the same in every row is sent once; only columns that differ travel as arrays
(PostgreSQL `unnest`) or rows (SQLite `VALUES`). Column names come from models, values are always bound.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db import connection, models
from django.db.models import sql

from core import clock

Row = Mapping[str, Any]
Field = Any
# SQLite binds at most 32,766 values a statement.
SQLITE_VALUES = 30_000


def update_from_values(
    model: type[models.Model], rows: Sequence[Row], *, guard: Row, increment: Sequence[str] = ()
) -> list[int]:
    """Set different values on many rows in one statement; returns the ids that were changed.

    Each row holds `id` and the same columns (attribute names). `guard` are column values every row must
    still have (a sequence means "one of"); a row that does not is left alone and its id is missing from
    the answer. Columns in `increment` grow by one. No rows are no query.
    """
    if not rows:
        return []
    fields = {name: model._meta.get_field(name) for name in rows[0]}
    shared, varying = _split(rows, keep=("id",))
    table = _q(model._meta.db_table)
    source, parameters = _source(fields, varying, rows)
    sets = [f"{_column(fields[name])} = v.{_q(name)}" for name in varying if name != "id"]
    sets += [f"{_column(fields[name])} = %s" for name in shared]
    sets += [f"{_q(name)} = {table}.{_q(name)} + 1" for name in increment]
    where, guard_values = _guard(model, table, guard)
    statement = (
        f"UPDATE {table} SET {', '.join(sets)} FROM {source} "  # noqa: S608
        f"WHERE {table}.id = v.id{where} RETURNING {table}.id"
    )
    constants = [_adapter(fields[name])(rows[0][name]) for name in shared]
    # The SET clause comes before FROM in the text, so its values come first.
    return _ids(statement, [*constants, *parameters, *guard_values])


def insert_rows(
    model: type[models.Model], rows: Sequence[Row], *, skip_conflicts: bool = False
) -> list[tuple[int, Any]]:
    """Insert rows of one set of columns; returns (id, value of the first column) of those that were inserted.

    With `skip_conflicts` a row that breaks a unique key is left out, and missing from the answer: what
    is returned is ours. Fields left out take their model default, which must be a plain value.
    """
    if not rows:
        return []
    if connection.vendor == "sqlite":
        size = max(1, SQLITE_VALUES // len(rows[0]))
        parts = [rows[at : at + size] for at in range(0, len(rows), size)]
    else:
        parts = [rows]
    return [done for part in parts for done in _insert(model, part, skip_conflicts)]


def update_returning(rows: models.QuerySet[Any], **columns: Any) -> list[int]:
    """`rows.update(**columns)` that answers with the ids of the rows it changed. One statement."""
    query: Any = rows.query.chain(sql.UpdateQuery)
    query.add_update_values(columns)
    query.clear_ordering(force=True)
    statement, parameters = query.get_compiler(connection=connection).as_sql()
    if not statement:
        return []
    return _ids(f"{statement} RETURNING {_q(rows.model._meta.db_table)}.id", list(parameters))


def _insert(model: type[models.Model], rows: Sequence[Row], skip_conflicts: bool) -> list[tuple[int, Any]]:
    given = rows[0]
    fields = {field.attname: field for field in model._meta.concrete_fields if not field.primary_key}
    defaults = {name: _default(field) for name, field in fields.items() if name not in given}
    first = next(iter(given))
    shared, varying = _split(rows, keep=(first,))
    source, parameters = _source(fields, varying, rows)
    names = [*varying, *shared, *defaults]
    columns = ", ".join(_column(fields[name]) for name in names)
    picks = [f"v.{_q(name)}" for name in varying] + [_placeholder(fields[n]) for n in (*shared, *defaults)]
    constants = [_adapter(fields[n])(given[n]) for n in shared]
    constants += [_adapter(fields[n])(value) for n, value in defaults.items()]
    conflict = " ON CONFLICT DO NOTHING" if skip_conflicts else ""
    statement = (
        f"INSERT INTO {_q(model._meta.db_table)} ({columns}) SELECT {', '.join(picks)} FROM {source} "  # noqa: S608
        f"WHERE true{conflict} RETURNING id, {_column(fields[first])}"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [*constants, *parameters])
        return [(int(row[0]), row[1]) for row in cursor.fetchall()]


def _ids(statement: str, parameters: list[Any]) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return [int(row[0]) for row in cursor.fetchall()]


def _split(rows: Sequence[Row], *, keep: Sequence[str]) -> tuple[list[str], list[str]]:
    """The columns whose value is the same everywhere, and those that differ (with `keep` first)."""
    first = rows[0]
    varying = list(keep)
    shared: list[str] = []
    for name, value in first.items():
        if name in keep:
            continue
        same = all(row[name] is value or row[name] == value for row in rows)
        (shared if same else varying).append(name)
    return shared, varying


def _source(fields: Row, names: Sequence[str], rows: Sequence[Row]) -> tuple[str, list[Any]]:
    """A FROM item `v` with one row each, and its parameters."""
    adapters = [(name, _adapter(fields[name])) for name in names]
    if connection.vendor == "postgresql":
        arrays = ", ".join(f"%s::{_array_type(fields[name])}[]" for name in names)
        listed = ", ".join(_q(name) for name in names)
        return f"unnest({arrays}) AS v({listed})", [[adapt(row[n]) for row in rows] for n, adapt in adapters]
    listed = ", ".join(f"column{i + 1} AS {_q(name)}" for i, name in enumerate(names))
    places = ", ".join(["(" + ", ".join(["%s"] * len(names)) + ")"] * len(rows))
    source = f"(SELECT {listed} FROM (VALUES {places})) AS v"  # noqa: S608
    return source, [adapt(row[n]) for row in rows for n, adapt in adapters]


def _guard(model: type[models.Model], table: str, guard: Row) -> tuple[str, list[Any]]:
    clauses: list[str] = []
    parameters: list[Any] = []
    for name, wanted in guard.items():
        field = model._meta.get_field(name)
        options = list(wanted) if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]
        clauses.append(f" AND {table}.{_column(field)} IN ({', '.join(['%s'] * len(options))})")
        parameters += [_adapter(field)(option) for option in options]
    return "".join(clauses), parameters


def _q(name: str) -> str:
    return connection.ops.quote_name(name)


def _column(field: Field) -> str:
    return _q(field.column)


def _default(field: Field) -> Any:
    stamped = getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False)
    return clock.now() if stamped else field.get_default()


def _placeholder(field: Field) -> str:
    """A bound constant; PostgreSQL must be told the type of one that stands alone in a SELECT."""
    return f"%s::{_array_type(field)}" if connection.vendor == "postgresql" else "%s"


def _array_type(field: Field) -> str:
    while isinstance(field, models.ForeignKey):
        field = field.target_field
    kind = field.rel_db_type(connection) if field.primary_key else field.db_type(connection)
    return str(kind).split("(")[0]


def _adapter(field: Field) -> Callable[[Any], Any]:
    """How a value of this field is bound. psycopg takes Python's own types; SQLite needs Django's."""
    if isinstance(field, models.JSONField):
        return _json
    if connection.vendor == "postgresql":
        return _text if isinstance(field, (models.CharField, models.TextField)) else _as_is
    return lambda value: field.get_db_prep_save(value, connection)


def _as_is(value: Any) -> Any:
    return value


def _text(value: Any) -> Any:
    """A choice is its word: an enum member would be bound by its type."""
    return value if value is None or type(value) is str else str(value)


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, default=str)

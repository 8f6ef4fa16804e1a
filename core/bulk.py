"""Many rows, one statement. The ORM's own bulk calls build a model and a parameter per cell first.

A value that is the same in every row is sent once; only columns that differ travel as arrays
(PostgreSQL `unnest`) or rows (SQLite `VALUES`). Column names come from models, values are always bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from django.db import connection, models
from django.db.models import sql

from core import clock
from core.statements import Among, array, binder, column, placeholder, quote, run, type_name, vendor

Row = Mapping[str, Any]
Columns = dict[str, list[Any]]
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
    shared, varying = _split(_columns(rows), keep="id")
    wanted = {name: _options(value) for name, value in guard.items()}
    shape = tuple((name, len(options)) for name, options in wanted.items())
    sets, where = _update_text(model, tuple(shared), tuple(varying), shape, tuple(increment), vendor())
    source, parameters = _source(model, varying, len(rows))
    bind = partial(_binder, model, of=vendor())
    constants = [bind(name)(value) for name, value in shared.items()]
    options = [bind(name)(option) for name, given in wanted.items() for option in given]
    # The SET clause comes before FROM in the text, so its values come first.
    return [pk for (pk,) in run(f"{sets} FROM {source} {where}", [*constants, *parameters, *options])]


@lru_cache(maxsize=256)
def _update_text(
    model: type[models.Model],
    shared: tuple[str, ...],
    varying: tuple[str, ...],
    guard: tuple[tuple[str, int], ...],
    increment: tuple[str, ...],
    _vendor: str,
) -> tuple[str, str]:
    """The text before and after the FROM item."""
    table = quote(model._meta.db_table)
    sets = [f"{column(_field(model, name))} = v.{quote(name)}" for name in varying if name != "id"]
    sets += [f"{column(_field(model, name))} = {placeholder(_field(model, name))}" for name in shared]
    sets += [f"{quote(name)} = {table}.{quote(name)} + 1" for name in increment]
    clauses = [f"{table}.id = v.id"]
    for name, count in guard:
        field = _field(model, name)
        # "Is true" keeps the guard out of the choice of an index: a state that was rare when statistics were
        # taken would draw the planner away from the key, to all rows of that state.
        options = ", ".join([placeholder(field)] * count)
        clauses.append(f"({table}.{column(field)} IN ({options})) IS TRUE")
    return (
        f"UPDATE {table} SET {', '.join(sets)}",  # noqa: S608
        f"WHERE {' AND '.join(clauses)} RETURNING {table}.id",
    )


def insert_rows(
    model: type[models.Model], rows: Sequence[Row], *, skip_conflicts: bool = False, answer: bool = True
) -> list[tuple[int, Any]]:
    """Insert rows of one set of columns; returns (id, value of the first column) of those that were inserted.

    With `skip_conflicts` a row that breaks a unique key is left out, and missing from the answer: what
    is returned is ours. Fields left out take their model default, which must be a plain value. Without
    `answer` nothing is returned, for rows that nobody asks about.
    """
    if not rows:
        return []
    if vendor() == "sqlite":
        size = max(1, SQLITE_VALUES // len(rows[0]))
        parts = [rows[at : at + size] for at in range(0, len(rows), size)]
    else:
        parts = [rows]
    return [
        done
        for part in parts
        for done in _insert(model, _columns(part), skip_conflicts=skip_conflicts, answer=answer)
    ]


def insert_tuples(model: type[models.Model], names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """`insert_rows` for rows that are tuples of the columns `names`, and that nobody asks about."""
    size = len(rows) if vendor() == "postgresql" else max(1, SQLITE_VALUES // len(names))
    for at in range(0, len(rows), size or 1):
        columns = zip(*rows[at : at + size], strict=True)
        _insert(model, dict(zip(names, map(list, columns), strict=True)), skip_conflicts=False, answer=False)


def update_returning(
    rows: models.QuerySet[Any], *, order_by: Sequence[str] = (), **columns: Any
) -> list[int]:
    """`rows.update(**columns)` that answers with the ids of the rows it changed. One statement.

    `order_by` names columns (none of them null, none changed) by which the ids are sorted; ids decide
    between equals.
    """
    changed = update_answering(rows, (*order_by, "id"), **columns)
    return [int(row[-1]) for row in (sorted(changed) if order_by else changed)]


def update_answering(
    rows: models.QuerySet[Any], names: Sequence[str], **columns: Any
) -> list[tuple[Any, ...]]:
    """`rows.update(**columns)` that answers with columns `names` (as the database has them then) of the rows
    it changed, in no order. One statement."""
    query: Any = rows.query.chain(sql.UpdateQuery)
    query.add_update_values(columns)
    query.clear_ordering(force=True)
    statement, parameters = query.get_compiler(connection=connection).as_sql()
    if not statement:
        return []
    model: type[models.Model] = rows.model
    with connection.cursor() as cursor:
        table = quote(model._meta.db_table)
        answer = ", ".join(f"{table}.{column(_field(model, name))}" for name in names)
        cursor.execute(f"{statement} RETURNING {answer}", list(parameters))
        changed: list[tuple[Any, ...]] = cursor.fetchall()
        return changed


def _insert(
    model: type[models.Model], columns: Columns, *, skip_conflicts: bool, answer: bool
) -> list[tuple[int, Any]]:
    first = next(iter(columns))
    count = len(columns[first])
    shared, varying = _split(columns, keep=first)
    defaults = {field.attname: _default(field) for field in _defaulted(model, tuple(columns))}
    source, parameters = _source(model, varying, count)
    constants = {**shared, **defaults}
    head, tail = _insert_text(model, tuple(varying), tuple(constants), skip_conflicts, answer, vendor())
    bind = partial(_binder, model, of=vendor())
    bound = [bind(name)(value) for name, value in constants.items()]
    return [(pk, value) for pk, value in run(f"{head} FROM {source} {tail}", [*bound, *parameters])]


@lru_cache(maxsize=256)
def _insert_text(
    model: type[models.Model],
    varying: tuple[str, ...],
    constants: tuple[str, ...],
    skip_conflicts: bool,
    answer: bool,
    _vendor: str,
) -> tuple[str, str]:
    """The text before and after the FROM item."""
    columns = ", ".join(column(_field(model, name)) for name in (*varying, *constants))
    picks = [f"v.{quote(name)}" for name in varying] + [placeholder(_field(model, n)) for n in constants]
    conflict = " ON CONFLICT DO NOTHING" if skip_conflicts else ""
    returning = f" RETURNING id, {column(_field(model, varying[0]))}" if answer else ""
    head = f"INSERT INTO {quote(model._meta.db_table)} ({columns}) SELECT {', '.join(picks)}"
    return head, f"WHERE true{conflict}{returning}"


@lru_cache(maxsize=64)
def _defaulted(model: type[models.Model], given: tuple[str, ...]) -> tuple[Field, ...]:
    fields = (field for field in model._meta.concrete_fields if not field.primary_key)
    return tuple(field for field in fields if field.attname not in given)


def _columns(rows: Sequence[Row]) -> Columns:
    return {name: [row[name] for row in rows] for name in rows[0]}


def _split(columns: Columns, *, keep: str) -> tuple[dict[str, Any], Columns]:
    """The columns whose value is the same everywhere with that value, and those that differ, `keep` first."""
    varying = {keep: columns[keep]}
    shared: dict[str, Any] = {}
    for name, values in columns.items():
        if name == keep:
            continue
        if values.count(values[0]) == len(values):
            shared[name] = values[0]
        else:
            varying[name] = values
    return shared, varying


def _source(model: type[models.Model], varying: Columns, count: int) -> tuple[str, list[Any]]:
    """A FROM item `v` with one row each, and its parameters."""
    if vendor() == "postgresql":
        text = _unnest(model, tuple(varying))
        return text, [array(_field(model, name), values) for name, values in varying.items()]
    listed = ", ".join(f"column{i + 1} AS {quote(name)}" for i, name in enumerate(varying))
    places = ", ".join(["(" + ", ".join(["%s"] * len(varying)) + ")"] * count)
    source = f"(SELECT {listed} FROM (VALUES {places})) AS v"  # noqa: S608
    bound = [list(map(_bind(model, name), values)) for name, values in varying.items()]
    return source, [value for row in zip(*bound, strict=True) for value in row]


@lru_cache(maxsize=256)
def _unnest(model: type[models.Model], names: tuple[str, ...]) -> str:
    arrays = ", ".join(f"%s::{type_name(_field(model, name))}[]" for name in names)
    return f"unnest({arrays}) AS v({', '.join(map(quote, names))})"


def _options(value: Any) -> list[Any]:
    return list(value) if isinstance(value, Among) else [value]


def _bind(model: type[models.Model], name: str) -> Any:
    return _binder(model, name, vendor())


@lru_cache(maxsize=1024)
def _binder(model: type[models.Model], name: str, of: str) -> Any:
    return binder(_field(model, name), of)


@lru_cache(maxsize=1024)
def _field(model: type[models.Model], name: str) -> Field:
    return model._meta.get_field(name)


def _default(field: Field) -> Any:
    stamped = getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False)
    return clock.now() if stamped else field.get_default()

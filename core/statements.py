"""Statements of the hot path: written once, bound and prepared by the server, answered in binary.

The ORM writes its SQL anew for each call and binds it as text; a hundred ids are a hundred placeholders. Here
the text depends on the shape alone, so that the driver prepares it (`prepare_threshold` in the settings), a
list travels as one array, and whatever counts or watches statements on the connection sees these too.

Every value is bound as text beside a cast that names its type: one text is one prepared statement.
"""

from __future__ import annotations

import json
import json.encoder
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from enum import Enum
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple, TypeVar

import psycopg
from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from psycopg.adapt import Loader
from psycopg.pq import Format

Field = Any
M = TypeVar("M", bound=models.Model)
Bind = Callable[[Any], str | None]
Among = (list, tuple, set, frozenset)
_KEPT = "_peyk_cursors"
MAX_KEPT = 512  # texts of a connection; there are some dozens
# The C parts of the standard library's JSON without what it does around them for every document.
_json: Any = json.JSONDecoder(), json.encoder
_decode = _json[0].scan_once


def run(statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Execute one statement and return its rows. On PostgreSQL values come as Python's own types."""
    wrapper = connections[DEFAULT_DB_ALIAS]
    if wrapper.vendor != "postgresql":
        with wrapper.cursor() as cursor:
            cursor.execute(statement, parameters)
            return cursor.fetchall() if cursor.description else []
    wrapper.ensure_connection()
    wrapper.validate_thread_sharing()
    statement, raw = _kept_cursor(wrapper.connection, statement)
    cursor = wrapper.make_debug_cursor(raw) if wrapper.queries_logged else wrapper.make_cursor(raw)
    cursor.execute(statement, parameters)
    answer = raw.pgresult  # asking for the cursor's description would build one
    return cursor.fetchall() if answer is not None and answer.nfields else []


def _kept_cursor(open_connection: Any, statement: str) -> tuple[str, Any]:
    """The cursor that ran this very text before: what it learnt of the types of the answer is worth more than
    the cursor. They go with their connection."""
    kept: dict[str, tuple[str, Any]] | None = getattr(open_connection, _KEPT, None)
    if kept is None or len(kept) >= MAX_KEPT:
        kept = {}
        setattr(open_connection, _KEPT, kept)
    found = kept.get(statement)
    if found is None:
        raw: Any = psycopg.Cursor(open_connection)
        raw.format = Format.BINARY
        raw.adapters.register_loader("jsonb", _JsonLoader)
        found = kept[statement] = (statement, raw)
    return found


class _JsonLoader(Loader):
    """A document of a column: whole, since the server writes it, and behind the version of its format."""

    format = Format.BINARY

    def load(self, data: Any) -> Any:
        text = bytes(data[1:])
        return {} if text == b"{}" else _decode(text.decode(), 0)[0]


def read(
    model: type[models.Model],
    names: Sequence[str],
    where: Mapping[str, Any],
    *,
    workspace_id: int | None = None,
    order: Sequence[str] = (),
) -> list[tuple[Any, ...]]:
    """Columns `names` (attribute names) of the rows that match `where`. One statement.

    In `where` a list or set means "one of", None "is null". A choice (an enum's member) becomes part of the
    text, since a partial index is found by constants only. `order` are names, "-" before one turns it round.
    Values are those the model would hold.

    `workspace_id` limits the answer to one workspace in a way that no index serves: for questions by ids,
    which the planner would else answer from an index of the whole workspace while it takes a table for small.
    """
    fields = tuple(model._meta.get_field(name) for name in names)
    shape = _shape(where)
    if workspace_id is not None:
        where, shape = {**where, "workspace_id": workspace_id}, (*shape, ("workspace_id", "filter"))
    return _read(_Question(model, (), fields, shape, tuple(order)), where)


def load(
    model: type[M], where: Mapping[str, Any], *, order: Sequence[str] = (), related: Sequence[str] = ()
) -> list[M]:
    """`read` for whole rows, as model objects; `related` are foreign keys whose rows come along."""
    parents = [model._meta.get_field(name) for name in related]
    kinds: list[Any] = [model, *(parent.related_model for parent in parents)]
    fields = tuple(field for kind in kinds for field in kind._meta.concrete_fields)
    question = _Question(model, tuple(parents), fields, _shape(where), tuple(order))
    return [_objects(kinds, related, row) for row in _read(question, where)]


def _objects(kinds: Sequence[Any], related: Sequence[str], row: Sequence[Any]) -> Any:
    made, at = [], 0
    for kind in kinds:
        names = [field.attname for field in kind._meta.concrete_fields]
        made.append(kind.from_db(connection.alias, names, row[at : at + len(names)]))
        at += len(names)
    for name, parent in zip(related, made[1:], strict=True):
        setattr(made[0], name, parent)
    return made[0]


class _Question(NamedTuple):
    """All that the text of a SELECT depends on."""

    model: type[models.Model]
    parents: tuple[Field, ...]
    fields: tuple[Field, ...]
    where: tuple[tuple[str, str], ...]
    order: tuple[str, ...]


def _shape(where: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, _kind(value)) for name, value in where.items())


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, Enum):
        return f"={value.value}"
    return "many" if isinstance(value, Among) else "one"


def _read(question: _Question, where: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    model, parameters = question.model, []
    for (name, kind), value in zip(question.where, where.values(), strict=True):
        if kind == "many":
            parameters.append(bind_many(model, name)(list(value)))
        elif kind in ("one", "filter"):
            parameters.append(bind_one(model, name)(value))
    rows = run(_select(question, vendor()), parameters)
    return rows if vendor() == "postgresql" else _converted(rows, question.fields)


@lru_cache(maxsize=256)
def _select(question: _Question, of: str) -> str:
    model = question.model
    clauses = [_clause(model._meta.get_field(name), kind, of) for name, kind in question.where]
    joins = [
        f" JOIN {_table(parent.related_model)} ON {_full(parent.target_field)} = {_full(parent)}"
        for parent in question.parents
    ]
    order = [
        _full(model._meta.get_field(name.lstrip("-"))) + (" DESC" if name.startswith("-") else "")
        for name in question.order
    ]
    return (
        f"SELECT {', '.join(map(_full, question.fields))} FROM {_table(model)}{''.join(joins)} "  # noqa: S608
        f"WHERE {' AND '.join(clauses)}" + (f" ORDER BY {', '.join(order)}" if order else "")
    )


def _clause(field: Field, kind: str, of: str) -> str:
    left = _full(field)
    if kind.startswith("="):
        return f"{left} = '{kind[1:].replace(chr(39), chr(39) * 2)}'"
    if kind == "null":
        return f"{left} IS NULL"
    if kind == "filter":
        return f"{left} {'IS NOT DISTINCT FROM' if of == 'postgresql' else 'IS'} {placeholder(field)}"
    if kind == "one":
        return f"{left} = {placeholder(field)}"
    if of == "postgresql":
        return f"{left} = ANY(%s::{type_name(field)}[])"
    return f"{left} IN (SELECT value FROM json_each(%s))"  # noqa: S608


def _full(field: Field) -> str:
    return f"{_table(field.model)}.{column(field)}"


def _table(model: type[models.Model]) -> str:
    return quote(model._meta.db_table)


def _converted(rows: list[tuple[Any, ...]], fields: Sequence[Field]) -> list[tuple[Any, ...]]:
    """What other databases return as numbers and text, as the model would hold it."""
    converters = []
    for field in fields:
        source = field.get_col(field.model._meta.db_table)
        steps = [*connection.ops.get_db_converters(source), *field.get_db_converters(connection)]
        converters.append([partial(_convert, step, source) for step in steps])
    converted = []
    for row in rows:
        values = list(row)
        for place, steps in enumerate(converters):
            for step in steps:
                values[place] = step(values[place])
        converted.append(tuple(values))
    return converted


def _convert(step: Callable[[Any, Any, Any], Any], source: Any, value: Any) -> Any:
    return step(value, source, connection)


@cache
def vendor() -> str:
    """Which database this is; asking the connection costs more than some of the work that depends on it."""
    return connection.vendor


def bind_one(model: type[models.Model], name: str) -> Callable[[Any], Any]:
    """How one value of this column is bound."""
    return binder(model._meta.get_field(name), vendor())


def bind_many(model: type[models.Model], name: str) -> Callable[[Sequence[Any]], str]:
    """How values of this column are bound together: an array, or a list that SQLite takes apart."""
    field = model._meta.get_field(name)
    if vendor() == "postgresql":
        return partial(array, field)
    bind = binder(field, vendor())
    return lambda values: json.dumps([bind(value) for value in values])


@lru_cache(maxsize=512)
def binder(field: Field, of: str) -> Callable[[Any], Any]:
    if isinstance(field, models.JSONField):
        return json_text
    if of == "postgresql":
        return _text
    return lambda value: field.get_db_prep_save(value, connection)


def array(field: Field, values: Iterable[Any]) -> str:
    """A PostgreSQL array literal. Only text and JSON need quotes."""
    bind = binder(field, "postgresql")
    if not _is_quoted(field):
        if _is_whole(field):
            return "{" + ",".join(["NULL" if v is None else str(v) for v in values]) + "}"
        return "{" + ",".join(["NULL" if v is None else bind(v) for v in values]) + "}"
    bound: list[Any]
    if bind is _text:
        bound = [value if type(value) is str else _text(value) for value in values]
    else:
        bound = [bind(value) for value in values]
    if None in bound:
        return "{" + ",".join(["NULL" if v is None else _quoted(v) for v in bound]) + "}"
    plain = '","'.join(bound)
    if "\\" in plain or plain.count('"') != 2 * max(0, len(bound) - 1):
        plain = '","'.join([v.replace("\\", "\\\\").replace('"', '\\"') for v in bound])
    return '{"' + plain + '"}' if bound else "{}"


@lru_cache(maxsize=512)
def _is_whole(field: Field) -> bool:
    """Whether its values are numbers, which need no look at their type."""
    return isinstance(_target(field), models.IntegerField)


@lru_cache(maxsize=512)
def _is_quoted(field: Field) -> bool:
    return isinstance(_target(field), (models.CharField, models.TextField, models.JSONField))


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _text(value: Any) -> str | None:
    """Any value as PostgreSQL reads it back. A choice is its word, not its name."""
    if value is None or type(value) is str:
        return value
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    return str(value)


# Made once, not for each document; what is stored holds no circles.
_encode = _json[1].c_make_encoder(
    None, str, json.encoder.encode_basestring, None, ": ", ", ", False, False, True
)


def json_text(value: Any) -> str | None:
    if value is None:
        return None
    return "{}" if value == {} else "".join(_encode(value, 0))


def quote(name: str) -> str:
    return connection.ops.quote_name(name)


def column(field: Field) -> str:
    return quote(field.column)


def placeholder(field: Field) -> str:
    """A bound value; PostgreSQL is told its type."""
    return f"%s::{type_name(field)}" if vendor() == "postgresql" else "%s"


@lru_cache(maxsize=512)
def type_name(field: Field) -> str:
    """PostgreSQL's name of the type of this column's values."""
    field = _target(field)
    kind = field.rel_db_type(connection) if field.primary_key else field.db_type(connection)
    return str(kind).split("(")[0]


def _target(field: Field) -> Field:
    while isinstance(field, models.ForeignKey):
        field = field.target_field
    return field

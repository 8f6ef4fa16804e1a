"""Values of a person as SQL: columns, lists and traits (JSON), on PostgreSQL and SQLite.

The small readings here are what `automation.conditions_sql` is put together from. Every one of them means
exactly what its namesake in `engine.comparing` means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    BigIntegerField,
    BooleanField,
    Case,
    CharField,
    Expression,
    ExpressionWrapper,
    F,
    FloatField,
    Func,
    Q,
    TextField,
    Value,
    When,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Concat, Length, Lower, Right, Substr
from django.db.models.lookups import Exact, Regex
from django.db.models.sql.compiler import SQLCompiler

from engine.comparing import DIGITS, LOCAL, OFFSET, RELATIVE, SPACES, ZULU

Compiled = tuple[str, list[str | int]]
Readable = Expression | F

TEXT_KINDS = ("string", "text")
NUMBER_KINDS = ("number", "integer", "real")
BOOL_KINDS = ("boolean", "true", "false")

MICROS = 1_000_000
MOMENT = f"{LOCAL}|{ZULU}|{OFFSET}|{RELATIVE}"


class _PerVendor(Func):
    """An expression written once for each database; `{0}`, `{1}`, ... are its compiled arguments."""

    on_sqlite: ClassVar[str]
    on_postgresql: ClassVar[str]

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any) -> Compiled:  # noqa: ARG002
        return self._written(self.on_sqlite, compiler)

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any) -> Compiled:  # noqa: ARG002
        return self._written(self.on_postgresql, compiler)

    def _written(self, template: str, compiler: SQLCompiler) -> Compiled:
        """Arguments appear in the template in their own order, each once."""
        parts: list[str] = []
        params: list[str | int] = []
        for source in self.get_source_expressions():
            sql, given = compiler.compile(source)
            parts.append(sql)
            params += given
        return template.format(*parts), params


# -- traits: one key of a JSON object ---------------------------------------------------------------


class TraitKind(_PerVendor):
    """Which kind of JSON value a trait is (both databases' words: `TEXT_KINDS` ...); NULL when missing."""

    output_field = CharField()
    on_sqlite = "(SELECT entry.type FROM json_each({0}) AS entry WHERE entry.key = {1})"
    on_postgresql = "jsonb_typeof({0} -> {1})"


class TraitText(_PerVendor):
    """A text, number or truth value as text."""

    output_field = TextField()
    on_sqlite = (
        "(SELECT CASE entry.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'"
        " ELSE CAST(entry.value AS TEXT) END FROM json_each({0}) AS entry WHERE entry.key = {1})"
    )
    on_postgresql = "({0} ->> {1})"


class TraitNumber(_PerVendor):
    """A number; only to be read where the kind says so."""

    output_field = FloatField()
    on_sqlite = "(SELECT CAST(entry.value AS REAL) FROM json_each({0}) AS entry WHERE entry.key = {1})"
    on_postgresql = "({0} ->> {1})::double precision"


class AnyElement(_PerVendor):
    """Whether an element of a trait that is a list fulfils a condition about `ELEMENT`."""

    output_field = BooleanField()
    on_sqlite = (
        "EXISTS(SELECT 1 FROM json_each({0}) AS entry, json_each(CASE entry.type WHEN 'array'"
        " THEN entry.value ELSE '[]' END) AS element WHERE entry.key = {1} AND {2})"
    )
    on_postgresql = (
        "EXISTS(SELECT 1 FROM (SELECT {0} -> {1} AS list) AS entry, jsonb_array_elements("
        "CASE jsonb_typeof(entry.list) WHEN 'array' THEN entry.list ELSE '[]'::jsonb END)"
        " AS element(value) WHERE {2})"
    )


class _ElementKind(_PerVendor):
    output_field = CharField()
    on_sqlite = "element.type"
    on_postgresql = "jsonb_typeof(element.value)"


class _ElementText(_PerVendor):
    output_field = TextField()
    on_sqlite = (
        "CASE element.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'"
        " ELSE CAST(element.value AS TEXT) END"
    )
    on_postgresql = "(element.value #>> '{{}}')"


class _ElementNumber(_PerVendor):
    output_field = FloatField()
    on_sqlite = "CAST(element.value AS REAL)"
    on_postgresql = "(element.value #>> '{{}}')::double precision"


class JsonValue:
    """The three readings of one JSON value."""

    def __init__(self, kind: Expression, text: Expression, number: Expression) -> None:
        self.kind, self.text, self.number = kind, text, number

    @classmethod
    def trait(cls, key: str) -> JsonValue:
        name = Value(key, output_field=TextField())
        column = F("traits")
        return cls(TraitKind(column, name), TraitText(column, name), TraitNumber(column, name))


ELEMENT = JsonValue(_ElementKind(), _ElementText(), _ElementNumber())


def any_element(key: str, condition: Q) -> Q:
    """Whether an element of the list in the trait `key` fulfils `condition`."""
    test = Case(When(condition, then=True), default=False, output_field=BooleanField())
    return Q(Exact(AnyElement(F("traits"), Value(key, output_field=TextField()), test), True))


# -- texts that spell something ---------------------------------------------------------------------


class _Latin(Func):
    """Persian and Arabic digits as 0 to 9."""

    function = "TRANSLATE"
    output_field = TextField()

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **kwargs: Any) -> Compiled:
        """SQLite has no TRANSLATE: each new connection is given one."""
        connection.ensure_connection()
        raw = connection.connection
        if getattr(connection, "_peyk_translates", None) is not raw:
            raw.create_function("TRANSLATE", 3, _translate, deterministic=True)
            connection._peyk_translates = raw  # type: ignore[attr-defined]
        sql, params = self.as_sql(compiler, connection, **kwargs)
        return sql, list(params)


def _translate(text: str | None, old: str, new: str) -> str | None:
    return None if text is None else text.translate(str.maketrans(old, new))


def trimmed(text: Readable) -> Expression:
    """`text` without the spaces around it."""
    return Func(text, Value(SPACES), function="TRIM", output_field=TextField())


def lower_trimmed(text: Readable) -> Expression:
    return Lower(trimmed(text))


def number_text(text: Readable) -> Expression:
    """`text` as a number would be spelled in it; read it with `as_double` once it matches the pattern."""
    return _Latin(trimmed(text), Value(DIGITS), Value("0123456789" * 2))


def as_double(text: Expression) -> Expression:
    return Cast(text, FloatField())


def spells(text: Readable, pattern: str) -> Q:
    """Whether the whole of `text` matches `pattern`."""
    return Q(Regex(text, rf"\A(?:{pattern})\Z"))


class _Seconds(_PerVendor):
    """Seconds since 1970 of `YYYY-MM-DD[ HH:MM[:SS]]`, the clock taken as UTC."""

    output_field = BigIntegerField()
    on_sqlite = "CAST(strftime('%%s', {0}) AS INTEGER)"
    on_postgresql = "EXTRACT(EPOCH FROM ({0})::timestamp)::bigint"


def clock_micros(text: Readable, *, zone_length: int = 0) -> Expression:
    """Microseconds since 1970 of a date or date-time, its clock taken as UTC.

    zone_length: so many characters at the end name the zone and are passed over.
    """
    body: Readable = text
    if zone_length:
        body = Substr(text, 1, Length(text) - zone_length)
    fraction = Substr(Concat(Substr(body, 21), Value("000000"), output_field=TextField()), 1, 6)
    seconds = _Seconds(Substr(body, 1, 19))
    return _big(_big(seconds * Value(MICROS)) + Cast(fraction, BigIntegerField()))


def offset_micros(text: Readable) -> Expression:
    """The offset at the end of a moment (`+03:30`), in microseconds."""
    sign = Case(
        When(Exact(Substr(Right(text, 6), 1, 1), Value("-")), then=-MICROS),
        default=MICROS,
        output_field=BigIntegerField(),
    )
    hours = Cast(Substr(Right(text, 5), 1, 2), BigIntegerField())
    minutes = Cast(Right(text, 2), BigIntegerField())
    return _big(_big(_big(hours * Value(3600)) + _big(minutes * Value(60))) * sign)


def shift_micros(text: Readable) -> Expression:
    """How far `now+3d` is from now, in microseconds; 0 for `now`."""
    amount = Cast(Substr(text, 4, Length(text) - 4), BigIntegerField())
    units: Callable[[str], Exact[Any]] = lambda unit: Exact(Right(text, 1), Value(unit))  # noqa: E731
    unit = Case(
        When(units("d"), then=86_400 * MICROS),
        When(units("h"), then=3_600 * MICROS),
        default=60 * MICROS,
        output_field=BigIntegerField(),
    )
    return Case(
        When(Exact(text, Value("now")), then=0),
        default=_big(amount * unit),
        output_field=BigIntegerField(),
    )


def _big(expression: Combinable) -> Expression:
    return ExpressionWrapper(expression, output_field=BigIntegerField())

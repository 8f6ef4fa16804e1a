"""Rules that the database itself keeps, for every client of it: history stays, what was published stays.

Migration operations for PostgreSQL and SQLite. They make triggers and touch no model state, so they stand in
hand-written migrations beside the generated ones. A later migration that rebuilds a table on SQLite drops
the table's triggers: repeat the operation after it (a test compares the triggers with the tables).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation

POSTGRESQL_FUNCTION: Final = """
CREATE OR REPLACE FUNCTION peyk_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'restrict_violation';
END
$$
"""


class TriggerOperation(Operation):
    """Base: `rules` yields (name, event, condition) of one table; a rule refuses what it matches.

    event is INSERT, UPDATE, DELETE or TRUNCATE (PostgreSQL only); condition is SQL over OLD and NEW, or "".
    """

    reversible = True
    reduces_to_sql = True
    table: str
    message: str

    def rules(self, vendor: str) -> Iterator[tuple[str, str, str]]:
        raise NotImplementedError

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Nothing that models know of changes."""

    def database_forwards(
        self, _app_label: str, schema_editor: BaseDatabaseSchemaEditor, _from_state: Any, _to_state: Any
    ) -> None:
        vendor = schema_editor.connection.vendor
        if vendor == "postgresql":
            schema_editor.execute(POSTGRESQL_FUNCTION, params=None)
        for name, event, condition in self.rules(vendor):
            schema_editor.execute(self._create(vendor, name, event, condition), params=None)

    def database_backwards(
        self, _app_label: str, schema_editor: BaseDatabaseSchemaEditor, _from_state: Any, _to_state: Any
    ) -> None:
        vendor = schema_editor.connection.vendor
        on_table = f" ON {self.table}" if vendor == "postgresql" else ""
        for name, _event, _condition in self.rules(vendor):
            schema_editor.execute(f"DROP TRIGGER {name}{on_table}", params=None)

    def describe(self) -> str:
        return f"{type(self).__name__} on {self.table}"

    def _create(self, vendor: str, name: str, event: str, condition: str) -> str:
        when = f" WHEN ({condition})" if condition else ""
        if vendor == "postgresql":
            each = "STATEMENT" if event == "TRUNCATE" else "ROW"
            return (
                f"CREATE TRIGGER {name} BEFORE {event} ON {self.table} FOR EACH {each}{when} "
                f"EXECUTE FUNCTION peyk_refuse('{self.message}')"
            )
        return (
            f"CREATE TRIGGER {name} BEFORE {event} ON {self.table} FOR EACH ROW{when} "
            f"BEGIN SELECT RAISE(ABORT, '{self.message}'); END"
        )


class Undeletable(TriggerOperation):
    """Rows of `table` are never deleted, nor is the table emptied."""

    refused: Sequence[str] = ("DELETE",)

    def __init__(self, table: str) -> None:
        self.table = table
        self.message = f"{table}: rows are never deleted"

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        return type(self).__name__, [self.table], {}

    def rules(self, vendor: str) -> Iterator[tuple[str, str, str]]:
        for event in self.refused:
            yield f"{self.table}_no_{event.lower()}", event, ""
        if vendor == "postgresql":
            yield f"{self.table}_no_truncate", "TRUNCATE", ""


class AppendOnly(Undeletable):
    """Rows of `table` are written once: neither changed nor deleted."""

    refused = ("UPDATE", "DELETE")

    def __init__(self, table: str) -> None:
        super().__init__(table)
        self.message = f"{table}: history is append-only"


class GuardedAgain(Operation):
    """SQLite: put a guard back that the rebuilding of its table took away. Elsewhere nothing is missing."""

    reversible = True
    reduces_to_sql = True

    def __init__(self, guard: TriggerOperation) -> None:
        self.guard = guard

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        return type(self).__name__, [self.guard], {}

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Nothing that models know of changes."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        if schema_editor.connection.vendor == "sqlite":
            for name, _event, _condition in self.guard.rules("sqlite"):
                schema_editor.execute(f"DROP TRIGGER IF EXISTS {name}", params=None)
            self.guard.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        """The guard stays. Undoing what stands behind this in the migration rebuilt the table too."""
        self.database_forwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return f"{self.guard.describe()}, again where its table was rebuilt"


class FrozenColumns(TriggerOperation):
    """While `when` holds of the old row, its `columns` keep their values and it is not deleted.

    `when` is SQL over OLD; `never` is SQL over NEW that such a row may not come to satisfy.
    """

    def __init__(self, table: str, *, when: str, columns: Sequence[str], never: str) -> None:
        self.table, self.when, self.columns, self.never = table, when, tuple(columns), never
        self.message = f"{table}: what was published never changes"

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        kwargs = {"when": self.when, "columns": self.columns, "never": self.never}
        return type(self).__name__, [self.table], kwargs

    def rules(self, vendor: str) -> Iterator[tuple[str, str, str]]:
        differs = "IS DISTINCT FROM" if vendor == "postgresql" else "IS NOT"
        changes = [f"NEW.{column} {differs} OLD.{column}" for column in self.columns]
        yield f"{self.table}_frozen", "UPDATE", f"{self.when} AND ({' OR '.join([*changes, self.never])})"
        yield f"{self.table}_frozen_delete", "DELETE", self.when


class Unchangeable(TriggerOperation):
    """`columns` of a row of `table` keep the values they came with. Updates of other columns cost nothing."""

    def __init__(self, table: str, *, columns: Sequence[str]) -> None:
        self.table, self.columns = table, tuple(columns)
        self.message = f"{table}: {', '.join(columns)} never change"

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        return type(self).__name__, [self.table], {"columns": self.columns}

    def rules(self, vendor: str) -> Iterator[tuple[str, str, str]]:
        differs = "IS DISTINCT FROM" if vendor == "postgresql" else "IS NOT"
        changes = " OR ".join(f"NEW.{column} {differs} OLD.{column}" for column in self.columns)
        yield f"{self.table}_kept", f"UPDATE OF {', '.join(self.columns)}", changes


class FrozenWithParent(TriggerOperation):
    """Rows of `table` neither come, change nor go while their parent satisfies `when` (SQL over parent p).

    On PostgreSQL the parent is locked against a change at the same moment.
    """

    def __init__(self, table: str, *, parent: str, column: str, when: str) -> None:
        self.table, self.parent, self.column, self.when = table, parent, column, when
        self.message = f"{table}: what was published never changes"

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        kwargs = {"parent": self.parent, "column": self.column, "when": self.when}
        return type(self).__name__, [self.table], kwargs

    def rules(self, vendor: str) -> Iterator[tuple[str, str, str]]:  # noqa: ARG002
        for event, rows in (("INSERT", ("NEW",)), ("UPDATE", ("OLD", "NEW")), ("DELETE", ("OLD",))):
            yield f"{self.table}_frozen_{event.lower()}", event, " OR ".join(map(self._frozen, rows))

    def _frozen(self, row: str) -> str:
        return f"EXISTS (SELECT 1 FROM {self.parent} p WHERE p.id = {row}.{self.column} AND {self.when})"  # noqa: S608

    def _create(self, vendor: str, name: str, event: str, condition: str) -> str:
        """PostgreSQL allows no subquery in WHEN: the question moves into a function of the table."""
        if vendor != "postgresql":
            return super()._create(vendor, name, event, condition)
        return (
            f"CREATE TRIGGER {name} BEFORE {event} ON {self.table} FOR EACH ROW "
            f"EXECUTE FUNCTION {self.table}_frozen()"
        )

    def database_forwards(
        self, _app_label: str, schema_editor: BaseDatabaseSchemaEditor, _from_state: Any, _to_state: Any
    ) -> None:
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(self._function(), params=None)
        super().database_forwards(_app_label, schema_editor, _from_state, _to_state)

    def database_backwards(
        self, _app_label: str, schema_editor: BaseDatabaseSchemaEditor, _from_state: Any, _to_state: Any
    ) -> None:
        super().database_backwards(_app_label, schema_editor, _from_state, _to_state)
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(f"DROP FUNCTION {self.table}_frozen()", params=None)

    def _function(self) -> str:
        return f"""
CREATE OR REPLACE FUNCTION {self.table}_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    parents bigint[] := ARRAY[]::bigint[];
BEGIN
    IF TG_OP <> 'INSERT' THEN parents := parents || OLD.{self.column}; END IF;
    IF TG_OP <> 'DELETE' THEN parents := parents || NEW.{self.column}; END IF;
    PERFORM 1 FROM {self.parent} p WHERE p.id = ANY(parents) ORDER BY p.id FOR SHARE;
    IF EXISTS (SELECT 1 FROM {self.parent} p WHERE p.id = ANY(parents) AND {self.when}) THEN
        RAISE EXCEPTION '{self.message}' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
END
$$
"""  # noqa: S608  # names come from migrations


class PostgreSQLOnly(Operation):
    """Statements for PostgreSQL that models and other databases know nothing of."""

    reversible = True
    reduces_to_sql = True

    def __init__(self, forwards: Sequence[str], backwards: Sequence[str], *, why: str) -> None:
        self.forwards, self.backwards, self.why = tuple(forwards), tuple(backwards), why

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        return type(self).__name__, [self.forwards, self.backwards], {"why": self.why}

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Nothing that models know of changes."""

    def database_forwards(
        self, _app_label: str, schema_editor: BaseDatabaseSchemaEditor, _from_state: Any, _to_state: Any
    ) -> None:
        self._run(schema_editor, self.forwards)

    def database_backwards(
        self, _app_label: str, schema_editor: BaseDatabaseSchemaEditor, _from_state: Any, _to_state: Any
    ) -> None:
        self._run(schema_editor, self.backwards)

    def describe(self) -> str:
        return self.why

    def _run(self, schema_editor: BaseDatabaseSchemaEditor, statements: Sequence[str]) -> None:
        if schema_editor.connection.vendor == "postgresql":
            for statement in statements:
                schema_editor.execute(statement, params=None)


class CheckedTogether(PostgreSQLOnly):
    """PostgreSQL: rows that one INSERT adds to `table` are checked together, by `body`, as `fresh`."""

    def __init__(self, table: str, body: str, *, why: str) -> None:
        self.table, self.body, name = table, body, f"{table}_belongs"
        function = f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql {body}"
        trigger = (
            f"CREATE TRIGGER {name} AFTER INSERT ON {table} REFERENCING NEW TABLE AS fresh "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {name}()"
        )
        undo = [f"DROP TRIGGER {name} ON {table}", f"DROP FUNCTION {name}()"]
        super().__init__([function, trigger], undo, why=why)

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        return type(self).__name__, [self.table, self.body], {"why": self.why}

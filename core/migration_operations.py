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


class WorkspaceKey(Operation):
    """PostgreSQL: rows of `table` can be named by workspace and id, as `SameWorkspace` does.

    The plain index on the workspace is a prefix of the new one and goes.
    """

    reversible = True
    reduces_to_sql = True

    def __init__(self, table: str) -> None:
        self.table = table

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        return type(self).__name__, [self.table], {}

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Nothing that models know of changes."""

    def database_forwards(
        self, _app_label: str, schema_editor: BaseDatabaseSchemaEditor, _from_state: Any, _to_state: Any
    ) -> None:
        if schema_editor.connection.vendor != "postgresql":
            return
        for name in _names(schema_editor, self.table, ["workspace_id"], kind="index"):
            schema_editor.execute(f"DROP INDEX {name}", params=None)
        schema_editor.execute(
            f"ALTER TABLE {self.table} ADD CONSTRAINT {self.table}_of_workspace UNIQUE (workspace_id, id)",
            params=None,
        )

    def database_backwards(
        self, _app_label: str, schema_editor: BaseDatabaseSchemaEditor, _from_state: Any, _to_state: Any
    ) -> None:
        if schema_editor.connection.vendor != "postgresql":
            return
        schema_editor.execute(
            f"ALTER TABLE {self.table} DROP CONSTRAINT {self.table}_of_workspace", params=None
        )
        schema_editor.execute(
            f"CREATE INDEX {self.table}_workspace ON {self.table} (workspace_id)", params=None
        )

    def describe(self) -> str:
        return f"Key of workspace and id on {self.table}"


class SameWorkspace(Operation):
    """PostgreSQL: what `table.column` names lies in the row's own workspace.

    A foreign key over (workspace, column) takes the place of the one over the column alone, which it
    implies: an insert costs one look-up as before. `parent` has a `WorkspaceKey`.
    """

    reversible = True
    reduces_to_sql = True

    def __init__(self, table: str, column: str, parent: str) -> None:
        self.table, self.column, self.parent = table, column, parent

    @property
    def name(self) -> str:
        return f"{self.table}_{self.column}_in_workspace"[-63:]

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        return type(self).__name__, [self.table, self.column, self.parent], {}

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Nothing that models know of changes."""

    def database_forwards(
        self, _app_label: str, schema_editor: BaseDatabaseSchemaEditor, _from_state: Any, _to_state: Any
    ) -> None:
        if schema_editor.connection.vendor == "postgresql":
            self._replace(schema_editor, [self.column], ["workspace_id", self.column], self.name)

    def database_backwards(
        self, _app_label: str, schema_editor: BaseDatabaseSchemaEditor, _from_state: Any, _to_state: Any
    ) -> None:
        if schema_editor.connection.vendor == "postgresql":
            plain = f"{self.table}_{self.column}_fk"[-63:]
            self._replace(schema_editor, ["workspace_id", self.column], [self.column], plain)

    def describe(self) -> str:
        return f"{self.table}.{self.column} stays in its workspace"

    def _replace(
        self, schema_editor: BaseDatabaseSchemaEditor, old: list[str], new: list[str], name: str
    ) -> None:
        for found in _names(schema_editor, self.table, old, kind="foreign_key"):
            schema_editor.execute(f"ALTER TABLE {self.table} DROP CONSTRAINT {found}", params=None)
        target = ", ".join("id" if column == self.column else column for column in new)
        schema_editor.execute(
            f"ALTER TABLE {self.table} ADD CONSTRAINT {name} FOREIGN KEY ({', '.join(new)}) "
            f"REFERENCES {self.parent} ({target}) DEFERRABLE INITIALLY DEFERRED",
            params=None,
        )


def _names(
    schema_editor: BaseDatabaseSchemaEditor, table: str, columns: list[str], *, kind: str
) -> list[str]:
    """Plain indexes or foreign keys over exactly these columns."""
    kinds = {"index": "i", "foreign_key": "f"}
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(_LOOKUP[kinds[kind]], [table, columns])
        return [name for (name,) in cursor.fetchall()]


_LOOKUP: Final = {
    "f": """
SELECT quote_ident(conname) FROM pg_constraint c WHERE contype = 'f' AND conrelid = %s::regclass
AND ARRAY(SELECT attname::text FROM unnest(c.conkey) WITH ORDINALITY AS k(number, place)
          JOIN pg_attribute ON attrelid = c.conrelid AND attnum = k.number ORDER BY place) = %s::text[]
""",
    "i": """
SELECT i.indexrelid::regclass::text FROM pg_index i WHERE i.indrelid = %s::regclass
AND NOT i.indisunique AND i.indpred IS NULL
AND ARRAY(SELECT attname::text FROM unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(number, place)
          JOIN pg_attribute ON attrelid = i.indrelid AND attnum = k.number ORDER BY place) = %s::text[]
""",
}

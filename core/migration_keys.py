"""Keys that name a workspace with every row, on PostgreSQL: a row cannot point into another workspace.

Migration operations beside those of `core.migration_operations`; they touch no model state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation


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


class ImpliedWorkspace(Operation):
    """PostgreSQL: `table` names a parent by workspace and id (`SameWorkspace`), and the parent's workspace
    exists. Its own foreign key on the workspace says nothing more and costs a look-up a row: it goes.
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
        if schema_editor.connection.vendor == "postgresql":
            for name in _names(schema_editor, self.table, ["workspace_id"], kind="foreign_key"):
                schema_editor.execute(f"ALTER TABLE {self.table} DROP CONSTRAINT {name}", params=None)

    def database_backwards(
        self, _app_label: str, schema_editor: BaseDatabaseSchemaEditor, _from_state: Any, _to_state: Any
    ) -> None:
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(
                f"ALTER TABLE {self.table} ADD CONSTRAINT {self.table}_workspace_fk "
                "FOREIGN KEY (workspace_id) REFERENCES workspaces_workspace (id) "
                "DEFERRABLE INITIALLY DEFERRED",
                params=None,
            )

    def describe(self) -> str:
        return f"The workspace of {self.table} follows from what it names"


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

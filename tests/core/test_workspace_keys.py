"""PostgreSQL itself refuses a row that names another workspace's row; SQLite leaves it to the models."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Model

from automation.models import (
    Workflow,
    WorkflowEdge,
    WorkflowExecution,
    WorkflowExecutionEvent,
    WorkflowNode,
    WorkflowVersion,
)
from campaigns.models import Campaign, EnrollmentBatch
from sms.models import InboundOutcome, InboundPending, InboundSms, SmsLog, SmsLogEvent, SmsUsage
from targets.models import Activity, Target, TargetEvent, TargetEventPending, TargetList, TargetListMember
from tests.factories import make
from workspaces.models import Workspace

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.postgres,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="composite keys are PostgreSQL's"),
]
PAIRS: list[tuple[type[Model], str, type[Model]]] = [
    (WorkflowExecution, "campaign", Campaign),
    (WorkflowExecution, "workflow_version", WorkflowVersion),
    (WorkflowExecution, "current_node", WorkflowNode),
    (WorkflowNode, "version", WorkflowVersion),
    (WorkflowEdge, "from_node", WorkflowNode),
    (WorkflowEdge, "to_node", WorkflowNode),
    (WorkflowExecutionEvent, "execution", WorkflowExecution),
    (WorkflowVersion, "workflow", Workflow),
    (Workflow, "published_version", WorkflowVersion),
    (SmsLogEvent, "sms_log", SmsLog),
    (SmsUsage, "sms_log", SmsLog),
    (InboundPending, "inbound", InboundSms),
    (InboundOutcome, "inbound", InboundSms),
    (InboundOutcome, "reply", SmsLog),
    (TargetListMember, "list", TargetList),
    (TargetListMember, "target", Target),
    (Activity, "target", Target),
    (TargetEvent, "target", Target),
    (TargetEventPending, "event", TargetEvent),
    (Campaign, "workflow", Workflow),
    (EnrollmentBatch, "campaign", Campaign),
]


def check_now() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def insert_copy(row: Model, **changed: Any) -> None:
    """The row once more by plain SQL, with some columns changed and its unique ones made new."""
    table, fresh = row._meta.db_table, {"idempotency_key", "node_key", "version_number", "port", "dedupe_key"}
    columns = [field.column for field in row._meta.concrete_fields if not field.primary_key]
    shown = ["%s" if column in changed else "'9'" if column in fresh else f'"{column}"' for column in columns]
    values = [changed[column] for column in columns if column in changed]
    with connection.cursor() as cursor:
        names = ", ".join(f'"{column}"' for column in columns)
        cursor.execute(
            f"INSERT INTO {table} ({names}) SELECT {', '.join(shown)} FROM {table} WHERE id = %s",
            [*values, row.pk],
        )
    check_now()


@pytest.mark.parametrize(
    ("child", "field", "parent"), PAIRS, ids=lambda value: getattr(value, "__name__", value)
)
def test_a_row_cannot_name_another_workspace_s(
    workspace: Workspace, other_workspace: Workspace, child: type[Model], field: str, parent: type[Model]
):
    theirs: Any = make(parent, other_workspace)
    ours: Any = make(child, workspace)
    check_now()
    column = str(child._meta.get_field(field).column)
    changed: dict[str, Any] = {**_apart(child, workspace, other_workspace), column: theirs.pk}
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        insert_copy(ours, **changed)
    assert isinstance(caught.value.__cause__, psycopg.errors.ForeignKeyViolation)
    assert re.search(f"{column}_in_workspace", str(caught.value))


def _apart(child: type[Model], ours: Workspace, other: Workspace) -> dict[str, Any]:
    """What else must differ from the copied row for it to be a row of its own."""
    if child is WorkflowExecution:
        return {"subject_id": make(Target, other).pk}
    if child is InboundOutcome:
        return {"inbound_id": make(InboundSms, ours).pk}
    return {}


def test_a_row_of_the_same_workspace_is_taken(workspace: Workspace):
    row: Any = make(WorkflowExecution, workspace)
    insert_copy(row, subject_id=make(Target, workspace).pk)
    assert WorkflowExecution.objects.count() == 2


@pytest.mark.parametrize(
    ("child", "field", "parent"), PAIRS, ids=lambda value: getattr(value, "__name__", value)
)
def test_each_key_is_checked_once(child: type[Model], field: str, parent: type[Model]):
    """Row by row by one composite foreign key, or all rows of a statement together: never twice."""
    table, column = child._meta.db_table, child._meta.get_field(field).column
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT count(*) FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid"
            " AND a.attnum = ANY(c.conkey)"
            " WHERE c.contype = 'f' AND c.conrelid = %(table)s::regclass AND a.attname = %(column)s)"
            " + (SELECT count(*) FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid"
            " WHERE t.tgrelid = %(table)s::regclass AND p.prosrc LIKE %(says)s)",
            {"table": table, "column": column, "says": f"%{table}_{column}_in_workspace%"},
        )
        assert cursor.fetchone() == (1,)

"""The database itself keeps history and published versions as they are, for every client of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from automation.models import WorkflowEdge, WorkflowNode, WorkflowVersion
from automation.models.frozen import PublishedVersionIsFrozen
from campaigns.models import SendingStop
from core.tenancy import AppendOnlyModel, UndeletableModel
from sms.models import InboundOutcome, SmsLog, SmsLogEvent
from targets.models import TargetEvent
from tests.clocks import MovableClock
from tests.factories import make
from tests.scenario import Scenario
from workspaces import audit
from workspaces.models import ApiToken, AuditRecord, Workspace

HISTORY = [
    "workspaces_auditrecord",
    "automation_workflowexecutionevent",
    "sms_smslogevent",
    "sms_smsusage",
    "sms_inboundsms",
    "sms_inboundoutcome",
    "targets_targetevent",
]
KEPT = ["automation_workflowexecution", "sms_smslog", "campaigns_sendingstop", "workspaces_apitoken"]
ROOT = Path(settings.BASE_DIR)
PRODUCT = (
    "core",
    "workspaces",
    "blacklist",
    "targets",
    "sms",
    "automation",
    "campaigns",
    "config",
    "engine",
    "demo",
)


@pytest.fixture
def scenario(workspace: Workspace, clock: MovableClock) -> Scenario:
    """One message was sent and reported on, one came in; each table of history has a row."""
    made = Scenario()
    made.settle()
    make(SmsLogEvent, workspace, sms_log=SmsLog.objects.get())
    make(InboundOutcome, workspace)
    make(TargetEvent, workspace)
    make(SendingStop, workspace)
    make(ApiToken, workspace)
    audit.record("workspace.changed", entity=workspace, user=None)
    return made


def refused(statement: str) -> None:
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.django_db
@pytest.mark.parametrize("table", HISTORY)
def test_history_is_neither_changed_nor_deleted(scenario: Scenario, table: str):
    refused(f"UPDATE {table} SET created_at = created_at")
    refused(f"DELETE FROM {table}")


@pytest.mark.django_db
@pytest.mark.parametrize("table", KEPT)
def test_executions_and_messages_move_but_are_not_deleted(scenario: Scenario, table: str):
    refused(f"DELETE FROM {table}")
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET updated_at = updated_at")
        assert cursor.rowcount == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    [
        "campaign_id = campaign_id + 1",
        "workspace_id = workspace_id + 1",
        "subject_id = subject_id + 1",
        "subject_type = 'lead'",
    ],
)
def test_a_walk_stays_its_person_s_and_its_campaign_s(scenario: Scenario, change: str):
    refused(f"UPDATE automation_workflowexecution SET {change}")


@pytest.mark.django_db
@pytest.mark.postgres
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no TRUNCATE")
@pytest.mark.parametrize("table", [*HISTORY, *KEPT, "workspaces_workspace"])
def test_no_table_of_history_is_emptied_not_even_by_cascade(scenario: Scenario, table: str):
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    refused(f"TRUNCATE {table} CASCADE")


@pytest.mark.django_db
def test_history_is_not_replaced_by_an_upsert(scenario: Scenario):
    row = AuditRecord.objects.get()
    columns = "id, workspace_id, event, entity_type, entity_id, old, new, created_at, updated_at"
    values = f"SELECT {columns} FROM workspaces_auditrecord WHERE id = {row.pk}"
    if connection.vendor == "postgresql":
        on_conflict = "ON CONFLICT (id) DO UPDATE SET event = 'other'"
        refused(f"INSERT INTO workspaces_auditrecord ({columns}) {values} {on_conflict}")
    else:
        refused(f"REPLACE INTO workspaces_auditrecord ({columns}) {values}")


@pytest.mark.django_db
def test_every_append_only_model_is_guarded_in_the_database():
    guarded = {model._meta.db_table for model in apps.get_models() if issubclass(model, AppendOnlyModel)}
    kept = {model._meta.db_table for model in apps.get_models() if issubclass(model, UndeletableModel)}
    assert (guarded, kept) == (set(HISTORY), set(KEPT))
    found = triggers()
    for table in HISTORY:
        assert {f"{table}_no_update", f"{table}_no_delete"} <= found
    for table in KEPT:
        assert f"{table}_no_delete" in found
    assert "automation_workflowexecution_kept" in found
    if connection.vendor == "postgresql":
        assert {f"{table}_no_truncate" for table in [*HISTORY, *KEPT]} <= found


def triggers() -> set[str]:
    sql = (
        "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
        if connection.vendor == "postgresql"
        else "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return {name for (name,) in cursor.fetchall()}


# -- published versions -------------------------------------------------------------------------------

STEP = (
    "workspace_id, version_id, type, subtype, name, config, consumes_budget, is_enabled, created_at,"
    " updated_at"
)
NODE, EDGE, VERSION = "automation_workflownode", "automation_workflowedge", "automation_workflowversion"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "statement",
    [
        f"UPDATE {NODE} SET name = 'other'",
        f"DELETE FROM {EDGE}",
        f"UPDATE {EDGE} SET port = 'yes'",
        f"INSERT INTO {NODE} (node_key, {STEP}) SELECT 'new', {STEP} FROM {NODE} LIMIT 1",
        f"UPDATE {VERSION} SET settings = '[]'",
        f"UPDATE {VERSION} SET status = 'draft'",
        f"UPDATE {VERSION} SET version_number = 9",
        f"DELETE FROM {VERSION}",
    ],
)
def test_what_was_published_never_changes(scenario: Scenario, statement: str):
    refused(statement)


@pytest.mark.django_db
def test_a_published_version_makes_way_for_the_next(scenario: Scenario):
    scenario.version.status = "superseded"
    scenario.version.save()
    scenario.version.refresh_from_db()
    assert scenario.version.status == "superseded"


@pytest.mark.django_db
def test_a_draft_changes_and_goes(workspace: Workspace):
    edge = make(WorkflowEdge, workspace)
    version = edge.version
    WorkflowNode.objects.filter(version=version).update(name="other")
    WorkflowEdge.objects.filter(version=version).delete()
    WorkflowNode.objects.filter(version=version).delete()
    version.delete()
    assert not WorkflowVersion.objects.exists()


@pytest.mark.django_db
def test_a_draft_s_step_cannot_be_moved_into_a_published_version(scenario: Scenario, workspace: Workspace):
    node = make(WorkflowNode, workspace)
    refused(f"UPDATE {NODE} SET version_id = {scenario.version.pk} WHERE id = {node.pk}")


@pytest.mark.django_db
def test_the_models_say_it_in_words(scenario: Scenario):
    version = scenario.version
    node = version.nodes.first()
    assert node is not None
    attempts: list[Callable[[], object]] = [
        node.save,
        node.delete,
        version.nodes.all().delete,
        lambda: version.nodes.update(name="x"),
        lambda: WorkflowVersion.objects.update(settings={}),
        lambda: WorkflowVersion.objects.update(status="draft"),
        WorkflowVersion.objects.all().delete,
    ]
    for attempt in attempts:
        with pytest.raises(PublishedVersionIsFrozen):
            attempt()


# -- emptying the test database -----------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_the_test_runner_can_empty_its_database_and_the_guards_are_back(clock: MovableClock):
    from core.tenancy import workspace_scope
    from tests.people import make_workspace

    before = triggers()
    home = make_workspace("flushed")
    with workspace_scope(home.pk):
        Scenario().settle()
    call_command("flush", interactive=False, verbosity=0)
    assert (Workspace.objects.count(), triggers()) == (0, before)
    home = make_workspace("flushed")
    with workspace_scope(home.pk):
        Scenario().settle()
    refused("DELETE FROM automation_workflowexecutionevent")


def test_nothing_of_the_product_takes_a_guard_away():
    words = ("DISABLE TRIGGER", "session_replication_role", "DROP TRIGGER", "tests.flushing")
    allowed = {"core/migration_operations.py", "config/settings_test.py"}
    found = {
        str(path.relative_to(ROOT))
        for folder in PRODUCT
        for path in (ROOT / folder).rglob("*.py")
        if any(word.lower() in path.read_text(encoding="utf-8").lower() for word in words)
    }
    assert found == allowed

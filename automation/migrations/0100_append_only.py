"""Executions are never deleted, their history is append-only, and a published version never changes."""

from django.db import migrations

from core.migration_operations import AppendOnly, FrozenColumns, FrozenWithParent, Undeletable

VERSION = "automation_workflowversion"
PUBLISHED = "p.status <> 'draft'"


class Migration(migrations.Migration):
    dependencies = [("automation", "0002_initial")]

    operations = [
        AppendOnly("automation_workflowexecutionevent"),
        Undeletable("automation_workflowexecution"),
        FrozenColumns(
            VERSION,
            when="OLD.status <> 'draft'",
            columns=["workspace_id", "workflow_id", "version_number", "settings", "note", "published_at"],
            never="NEW.status = 'draft'",
        ),
        FrozenWithParent("automation_workflownode", parent=VERSION, column="version_id", when=PUBLISHED),
        FrozenWithParent("automation_workflowedge", parent=VERSION, column="version_id", when=PUBLISHED),
    ]

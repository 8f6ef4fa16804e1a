"""A list and its people belong to one workspace, in the database too."""

from django.db import migrations

from core.migration_keys import SameWorkspace, WorkspaceKey


class Migration(migrations.Migration):
    dependencies = [("targets", "0001_initial")]

    operations = [
        WorkspaceKey("targets_target"),
        WorkspaceKey("targets_targetlist"),
        SameWorkspace("targets_targetlistmember", "target_id", "targets_target"),
        SameWorkspace("targets_targetlistmember", "list_id", "targets_targetlist"),
    ]

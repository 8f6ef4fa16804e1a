"""Events are append-only, and what they name lies in their own workspace.

Apart from the tables themselves, whose plain foreign keys are made last of all in their migration.
"""

from django.db import migrations

from core.migration_keys import SameWorkspace, WorkspaceKey
from core.migration_operations import AppendOnly


class Migration(migrations.Migration):
    dependencies = [("targets", "0104_events")]

    operations = [
        AppendOnly("targets_targetevent"),
        WorkspaceKey("targets_targetevent"),
        SameWorkspace("targets_targetevent", "target_id", "targets_target"),
        SameWorkspace("targets_targeteventpending", "event_id", "targets_targetevent"),
    ]

"""An activity and its person belong to one workspace, in the database too.

Apart from the table itself, whose plain foreign keys are made last of all in its migration.
"""

from django.db import migrations

from core.migration_keys import SameWorkspace


class Migration(migrations.Migration):
    dependencies = [("targets", "0101_activities")]

    operations = [SameWorkspace("targets_activity", "target_id", "targets_target")]

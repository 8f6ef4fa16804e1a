"""A walk is one person's, in one campaign of one workspace, for as long as it exists.

The history is checked against it when it is written (`0106`); so what it was checked against must stay.
"""

from django.db import migrations

from core.migration_operations import Unchangeable


class Migration(migrations.Migration):
    dependencies = [("automation", "0108_guards_again")]

    operations = [
        Unchangeable(
            "automation_workflowexecution",
            columns=["workspace_id", "campaign_id", "subject_type", "subject_id"],
        ),
    ]

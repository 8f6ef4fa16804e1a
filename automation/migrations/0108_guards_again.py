"""On SQLite a new column may rebuild the table, and its triggers go with the old one."""

from django.db import migrations

from core.migration_operations import GuardedAgain, Undeletable


class Migration(migrations.Migration):
    dependencies = [("automation", "0107_vacuum_sooner")]

    operations = [GuardedAgain(Undeletable("automation_workflowexecution"))]

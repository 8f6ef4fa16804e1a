"""The audit log is append-only for every client of the database."""

from django.db import migrations

from core.migration_operations import AppendOnly


class Migration(migrations.Migration):
    dependencies = [("workspaces", "0001_initial")]

    operations = [AppendOnly("workspaces_auditrecord")]

"""Executions are vacuumed after two in a hundred changed, not after twenty.

A claim looks for the first rows of an index. What was claimed and moved on leaves dead entries in front of
them, which every later look passes until the table is vacuumed. PostgreSQL only.
"""

from django.db import migrations

from core.migration_operations import PostgreSQLOnly

EXECUTION = "automation_workflowexecution"


class Migration(migrations.Migration):
    dependencies = [
        ("automation", "0106_set_wise_history"),
    ]

    operations = [
        PostgreSQLOnly(
            [
                f"ALTER TABLE {EXECUTION} SET (autovacuum_vacuum_scale_factor = 0.02, "
                "autovacuum_analyze_scale_factor = 0.02)"
            ],
            [
                f"ALTER TABLE {EXECUTION} RESET (autovacuum_vacuum_scale_factor, "
                "autovacuum_analyze_scale_factor)"
            ],
            why="Vacuum executions sooner",
        ),
    ]

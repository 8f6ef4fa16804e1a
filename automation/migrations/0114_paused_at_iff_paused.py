"""A walk has a moment of its pause exactly while it is paused. SQLite rebuilds the table for it."""

from django.db import migrations, models
from django.db.models import Q

from core.migration_operations import GuardedAgain, Unchangeable, Undeletable

EXECUTION = "automation_workflowexecution"
GUARDS = [
    Undeletable(EXECUTION),
    Unchangeable(EXECUTION, columns=["workspace_id", "campaign_id", "subject_type", "subject_id"]),
]


class Migration(migrations.Migration):
    dependencies = [("automation", "0113_archived_versions")]

    operations = [
        *(GuardedAgain(guard) for guard in GUARDS),  # for the way back
        migrations.AddConstraint(
            model_name="workflowexecution",
            constraint=models.CheckConstraint(
                condition=Q(status="paused", paused_at__isnull=False)
                | (~Q(status="paused") & Q(paused_at__isnull=True)),
                name="execution_paused_at_iff_paused",
            ),
        ),
        *(GuardedAgain(guard) for guard in GUARDS),
    ]

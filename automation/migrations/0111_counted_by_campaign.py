"""A campaign's people are counted by state and step from the index alone: it names all that a count asks for."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("automation", "0110_followup_recorded")]

    operations = [
        migrations.AddIndex(
            model_name="workflowexecution",
            index=models.Index(
                fields=["campaign", "status", "workspace", "current_node"], name="execution_counted"
            ),
        ),
        migrations.RemoveIndex(model_name="workflowexecution", name="execution_by_status"),
    ]

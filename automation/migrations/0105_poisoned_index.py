"""The people who were given up lately, found without reading everybody."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("automation", "0104_journey_state"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="workflowexecution",
            index=models.Index(
                condition=models.Q(("end_reason", "poison")),
                fields=["workspace", "completed_at"],
                name="execution_poisoned",
            ),
        ),
    ]

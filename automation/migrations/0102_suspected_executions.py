"""A mark for executions that were claimed and, as far as anybody can see, never begun."""

from django.db import migrations

import core.tenancy


class Migration(migrations.Migration):
    dependencies = [
        ("automation", "0101_workspace_keys"),
    ]

    operations = [
        migrations.AddField(
            model_name="workflowexecution",
            name="suspected_at",
            field=core.tenancy.UTCDateTimeField(null=True),
        ),
    ]

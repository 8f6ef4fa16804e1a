"""A superseded version can be put away."""

from django.db import migrations

import core.tenancy


class Migration(migrations.Migration):
    dependencies = [
        ("automation", "0112_walks_checked_together"),
    ]

    operations = [
        migrations.AddField(
            model_name="workflowversion",
            name="archived_at",
            field=core.tenancy.UTCDateTimeField(null=True),
        ),
    ]

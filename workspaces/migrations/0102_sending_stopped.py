"""A workspace in which nothing is sent for the time being."""

from django.db import migrations

import core.tenancy


class Migration(migrations.Migration):
    dependencies = [
        ("workspaces", "0101_api_tokens"),
    ]

    operations = [
        migrations.AddField(
            model_name="workspace",
            name="sending_stopped_at",
            field=core.tenancy.UTCDateTimeField(null=True),
        ),
    ]

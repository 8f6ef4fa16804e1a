"""The stamp that tells a database from its copies."""

from django.db import migrations, models

import core.tenancy


class Migration(migrations.Migration):
    dependencies = [
        ("core", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Installation",
            fields=[
                ("id", models.PositiveSmallIntegerField(primary_key=True, serialize=False)),
                ("uid", models.UUIDField()),
                ("stamp", models.CharField(max_length=200)),
                ("adopted_at", core.tenancy.UTCDateTimeField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="installation_one_row")
                ],
            },
        ),
    ]

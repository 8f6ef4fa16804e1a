"""By which zone rules the moments that people wait for were computed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("core", "0002_installation"),
    ]

    operations = [
        migrations.CreateModel(
            name="ZoneRules",
            fields=[
                ("id", models.PositiveSmallIntegerField(primary_key=True, serialize=False)),
                ("edition", models.CharField(blank=True, max_length=20)),
                ("cursor", models.BigIntegerField(null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="zone_rules_one_row")
                ],
            },
        ),
    ]

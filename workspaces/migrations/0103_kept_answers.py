"""Answers of the JSON interface, kept under the keys that programs send."""

import django.db.models.deletion
from django.db import migrations, models

import core.tenancy


class Migration(migrations.Migration):
    dependencies = [
        ("workspaces", "0102_sending_stopped"),
    ]

    operations = [
        migrations.CreateModel(
            name="KeptAnswer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created_at", core.tenancy.UTCDateTimeField(auto_now_add=True)),
                ("updated_at", core.tenancy.UTCDateTimeField(auto_now=True)),
                ("key", models.CharField(max_length=200)),
                ("fingerprint", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("headers", models.JSONField(default=dict)),
                ("body", models.TextField(blank=True)),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="workspaces.workspace",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["created_at"], name="kept_answer_oldest")],
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "key"), name="kept_answer_once")
                ],
            },
        ),
    ]

"""What happens to people: the events themselves, and which of them nobody was told of yet."""

import django.db.models.deletion
from django.db import migrations, models

import core.tenancy


class Migration(migrations.Migration):
    dependencies = [
        ("targets", "0103_open_activities_by_index"),
        ("workspaces", "0102_sending_stopped"),
    ]

    operations = [
        migrations.CreateModel(
            name="TargetEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created_at", core.tenancy.UTCDateTimeField(auto_now_add=True)),
                ("updated_at", core.tenancy.UTCDateTimeField(auto_now=True)),
                ("name", models.CharField(max_length=100)),
                ("occurred_at", core.tenancy.UTCDateTimeField()),
                ("received_at", core.tenancy.UTCDateTimeField()),
                ("properties", models.JSONField(default=dict)),
                ("source", models.CharField(max_length=30)),
                ("dedupe_key", models.CharField(max_length=100)),
                (
                    "target",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="targets.target",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="workspaces.workspace",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="TargetEventPending",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created_at", core.tenancy.UTCDateTimeField(auto_now_add=True)),
                ("updated_at", core.tenancy.UTCDateTimeField(auto_now=True)),
                ("due_at", core.tenancy.UTCDateTimeField()),
                (
                    "event",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="pending",
                        to="targets.targetevent",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="workspaces.workspace",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="targetevent",
            index=models.Index(
                fields=["workspace", "target", "name", "occurred_at"], name="target_event_of_person"
            ),
        ),
        migrations.AddConstraint(
            model_name="targetevent",
            constraint=models.UniqueConstraint(fields=("workspace", "dedupe_key"), name="target_event_once"),
        ),
        migrations.AddConstraint(
            model_name="targetevent",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("name", ""), _negated=True), models.Q(("dedupe_key", ""), _negated=True)
                ),
                name="target_event_is_named",
            ),
        ),
        migrations.AddIndex(
            model_name="targeteventpending",
            index=models.Index(fields=["due_at"], name="target_event_due"),
        ),
    ]

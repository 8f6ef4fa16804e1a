"""What colleagues do with a person, and what workflows ask them to do."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import core.tenancy


class Migration(migrations.Migration):
    dependencies = [
        ("targets", "0100_workspace_keys"),
        ("workspaces", "0100_append_only"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Activity",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created_at", core.tenancy.UTCDateTimeField(auto_now_add=True)),
                ("updated_at", core.tenancy.UTCDateTimeField(auto_now=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("call", "Call"),
                            ("meeting", "Meeting"),
                            ("visit", "Visit"),
                            ("sms", "SMS by hand"),
                            ("email", "E-mail by hand"),
                            ("note", "Note"),
                            ("task", "Task"),
                        ],
                        max_length=8,
                    ),
                ),
                ("title", models.CharField(blank=True, max_length=200)),
                ("description", models.TextField(blank=True)),
                ("due_at", core.tenancy.UTCDateTimeField()),
                ("done_at", core.tenancy.UTCDateTimeField(null=True)),
                ("source", models.CharField(blank=True, max_length=80)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "done_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="activities",
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
            options={
                "indexes": [
                    models.Index(fields=["workspace", "target", "-due_at"], name="activity_of_target"),
                    models.Index(
                        condition=models.Q(("done_at__isnull", True)),
                        fields=["workspace", "owner", "due_at", "id"],
                        name="activity_open_of_owner",
                    ),
                    models.Index(
                        condition=models.Q(("done_at__isnull", True)),
                        fields=["workspace", "due_at", "id"],
                        name="activity_open",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("source", ""), _negated=True),
                        fields=("workspace", "source"),
                        name="activity_source_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind__in", ["call", "meeting", "visit", "sms", "email", "note", "task"])
                        ),
                        name="activity_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("done_by__isnull", True), ("done_at__isnull", False), _connector="OR"
                        ),
                        name="activity_done_by_only_when_done",
                    ),
                ],
            },
        ),
    ]

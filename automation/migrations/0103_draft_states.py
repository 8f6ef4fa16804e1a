"""Undo and redo of drafts."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import core.tenancy
from core.migration_keys import SameWorkspace


class Migration(migrations.Migration):
    dependencies = [
        ("automation", "0102_suspected_executions"),
        ("workspaces", "0100_append_only"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="DraftState",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created_at", core.tenancy.UTCDateTimeField(auto_now_add=True)),
                ("updated_at", core.tenancy.UTCDateTimeField(auto_now=True)),
                ("stack", models.CharField(choices=[("undo", "Undo"), ("redo", "Redo")], max_length=4)),
                ("position", models.PositiveIntegerField()),
                ("definition", models.JSONField()),
                ("label", models.CharField(max_length=60)),
                (
                    "made_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="states",
                        to="automation.workflowversion",
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
                "constraints": [
                    models.UniqueConstraint(
                        fields=("version", "stack", "position"), name="draft_state_position_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("stack__in", ["undo", "redo"])), name="draft_state_stack_known"
                    ),
                ],
            },
        ),
        SameWorkspace("automation_draftstate", "version_id", "automation_workflowversion"),
    ]

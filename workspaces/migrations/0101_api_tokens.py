"""API tokens. A row is never deleted: what a token did stays explainable after it is revoked."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import core.tenancy
from core.migration_operations import Undeletable


class Migration(migrations.Migration):
    dependencies = [
        ("workspaces", "0100_append_only"),
    ]

    operations = [
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created_at", core.tenancy.UTCDateTimeField(auto_now_add=True)),
                ("updated_at", core.tenancy.UTCDateTimeField(auto_now=True)),
                ("name", models.CharField(max_length=80)),
                ("prefix", models.CharField(max_length=12)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("permissions", models.JSONField(default=list)),
                ("expires_at", core.tenancy.UTCDateTimeField(null=True)),
                ("last_used_at", core.tenancy.UTCDateTimeField(null=True)),
                ("revoked_at", core.tenancy.UTCDateTimeField(null=True)),
                ("minute", models.PositiveBigIntegerField(default=0)),
                ("used", models.PositiveIntegerField(default=0)),
                (
                    "revoked_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
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
                "indexes": [models.Index(fields=["workspace", "-id"], name="api_token_newest")],
            },
        ),
        Undeletable("workspaces_apitoken"),
    ]

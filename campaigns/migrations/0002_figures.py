"""The figures of large campaigns, kept with their moment."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import core.tenancy
from core.migration_keys import SameWorkspace


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0001_initial"),
        ("workspaces", "0100_append_only"),
        ("automation", "0101_workspace_keys"),  # the key of a campaign with its workspace
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="CampaignFigures",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created_at", core.tenancy.UTCDateTimeField(auto_now_add=True)),
                ("updated_at", core.tenancy.UTCDateTimeField(auto_now=True)),
                ("asked_at", core.tenancy.UTCDateTimeField(null=True)),
                ("counted_at", core.tenancy.UTCDateTimeField(null=True)),
                ("took_ms", models.PositiveIntegerField(default=0)),
                ("data", models.JSONField(default=dict)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="campaigns.campaign",
                    ),
                ),
                (
                    "viewer",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
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
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("viewer__isnull", True)),
                        fields=("campaign",),
                        name="figures_once_for_all",
                    ),
                    models.UniqueConstraint(fields=("campaign", "viewer"), name="figures_once_a_viewer"),
                ],
            },
        ),
        SameWorkspace("campaigns_campaignfigures", "campaign_id", "campaigns_campaign"),
    ]

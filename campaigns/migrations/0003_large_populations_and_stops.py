"""Work on large populations a part at a time, looks for new people, and stopping everything at once."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import core.tenancy
from core.migration_keys import SameWorkspace, WorkspaceKey
from core.migration_operations import Undeletable


class Migration(migrations.Migration):
    dependencies = [
        ("automation", "0111_counted_by_campaign"),
        ("campaigns", "0002_figures"),
        ("targets", "0101_activities"),
        ("workspaces", "0102_sending_stopped"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="CampaignJob",
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
                        choices=[("enrol", "Adding people"), ("change", "Changing people")], max_length=8
                    ),
                ),
                ("order", models.JSONField(default=dict)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("working", "Under way"),
                            ("done", "Done"),
                            ("cancelled", "Stopped by hand"),
                            ("failed", "Failed"),
                        ],
                        default="working",
                        max_length=10,
                    ),
                ),
                ("revision", models.PositiveIntegerField(default=0)),
                ("cursor", models.BigIntegerField(default=0)),
                ("last_id", models.BigIntegerField(default=0)),
                ("total", models.PositiveIntegerField(default=0)),
                ("done", models.PositiveIntegerField(default=0)),
                ("counts", models.JSONField(default=dict)),
                ("error", models.CharField(blank=True, max_length=40)),
                ("finished_at", core.tenancy.UTCDateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="SendingStop",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created_at", core.tenancy.UTCDateTimeField(auto_now_add=True)),
                ("updated_at", core.tenancy.UTCDateTimeField(auto_now=True)),
                ("stopped_at", core.tenancy.UTCDateTimeField()),
                ("reason", models.CharField(max_length=500)),
                ("on_the_way", models.JSONField(default=list)),
                ("resumed_at", core.tenancy.UTCDateTimeField(null=True)),
                ("resume_reason", models.CharField(blank=True, max_length=500)),
            ],
        ),
        migrations.AddField(
            model_name="campaign",
            name="auto_enrol_at",
            field=core.tenancy.UTCDateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="campaign",
            name="starting",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name="campaign",
            index=models.Index(
                condition=models.Q(("starting", True)), fields=["id"], name="campaign_starting"
            ),
        ),
        migrations.AddIndex(
            model_name="campaign",
            index=models.Index(
                condition=models.Q(("auto_enrol_at__isnull", False)),
                fields=["auto_enrol_at"],
                name="campaign_auto_enrol",
            ),
        ),
        migrations.AddField(
            model_name="campaignjob",
            name="campaign",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="jobs", to="campaigns.campaign"
            ),
        ),
        migrations.AddField(
            model_name="campaignjob",
            name="created_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="campaignjob",
            name="workspace",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="workspaces.workspace"
            ),
        ),
        migrations.AddField(
            model_name="enrollmentbatch",
            name="job",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="batches",
                to="campaigns.campaignjob",
            ),
        ),
        migrations.AddField(
            model_name="sendingstop",
            name="resumed_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="sendingstop",
            name="stopped_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="sendingstop",
            name="workspace",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="workspaces.workspace"
            ),
        ),
        migrations.AddIndex(
            model_name="campaignjob",
            index=models.Index(
                condition=models.Q(("status", "working")), fields=["updated_at"], name="job_working"
            ),
        ),
        migrations.AddIndex(
            model_name="campaignjob",
            index=models.Index(fields=["campaign", "-id"], name="job_newest"),
        ),
        migrations.AddConstraint(
            model_name="campaignjob",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["working", "done", "cancelled", "failed"])),
                name="job_status_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaignjob",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("finished_at__isnull", True), ("status", "working")),
                    models.Q(models.Q(("status", "working"), _negated=True), ("finished_at__isnull", False)),
                    _connector="OR",
                ),
                name="job_finished_at_iff_over",
            ),
        ),
        migrations.AddIndex(
            model_name="sendingstop",
            index=models.Index(fields=["workspace", "-id"], name="stop_newest"),
        ),
        migrations.AddConstraint(
            model_name="sendingstop",
            constraint=models.UniqueConstraint(
                condition=models.Q(("resumed_at__isnull", True)),
                fields=("workspace",),
                name="stop_one_at_a_time",
            ),
        ),
        WorkspaceKey("campaigns_campaignjob"),
        SameWorkspace("campaigns_campaignjob", "campaign_id", "campaigns_campaign"),
        SameWorkspace("campaigns_enrollmentbatch", "job_id", "campaigns_campaignjob"),
        Undeletable("campaigns_sendingstop"),
    ]

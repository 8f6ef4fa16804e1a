"""Who gets in, when, and how many a day."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from automation.models.definition import Workflow, WorkflowVersion
from core.tenancy import UTCDateTimeField, WorkspaceModel
from core.transitions import Edges
from targets.models import TargetList

USER = settings.AUTH_USER_MODEL


class CampaignKind(models.TextChoices):
    LIST = "list", _("List campaign")
    JOURNEY = "journey", _("Journey")


class CampaignStatus(models.TextChoices):
    DRAFT = "draft", _("Draft")
    SCHEDULED = "scheduled", _("Scheduled")
    ACTIVE = "active", _("Running")
    PAUSED = "paused", _("Paused")
    COMPLETED = "completed", _("Completed")
    CANCELLED = "cancelled", _("Cancelled")


C = CampaignStatus
CAMPAIGN_EDGES: Edges = {
    C.DRAFT: frozenset({C.SCHEDULED, C.ACTIVE, C.CANCELLED}),
    C.SCHEDULED: frozenset({C.ACTIVE, C.PAUSED, C.CANCELLED}),
    C.ACTIVE: frozenset({C.PAUSED, C.COMPLETED, C.CANCELLED}),
    C.PAUSED: frozenset({C.SCHEDULED, C.ACTIVE, C.COMPLETED, C.CANCELLED}),
    C.COMPLETED: frozenset(),
    C.CANCELLED: frozenset(),
}
OVER = frozenset({C.COMPLETED, C.CANCELLED})


class Campaign(WorkspaceModel):
    """A workflow at work. A list campaign pins the version that was published when it was created."""

    name = models.CharField(max_length=120)
    description = models.TextField(blank=True, max_length=2000)
    kind = models.CharField(max_length=8, choices=CampaignKind, default=CampaignKind.LIST)
    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, related_name="campaigns")
    workflow_version = models.ForeignKey(WorkflowVersion, on_delete=models.PROTECT, related_name="campaigns")
    source_target_list = models.ForeignKey(
        TargetList, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    status = models.CharField(max_length=10, choices=CampaignStatus, default=CampaignStatus.DRAFT)
    revision = models.PositiveIntegerField(default=0)
    intake_open = models.BooleanField(default=True)
    starts_at = UTCDateTimeField(null=True)
    ends_at = UTCDateTimeField(null=True)
    activated_at = UTCDateTimeField(null=True)
    daily_limit = models.PositiveIntegerField(null=True)
    send_window = models.JSONField(null=True)
    settings = models.JSONField(default=dict)
    paused_at = UTCDateTimeField(null=True)
    paused_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    finished_at = UTCDateTimeField(null=True)
    draining = models.BooleanField(default=False)  # over, but walks may still come back from their workers
    created_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    deleted_at = UTCDateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=CampaignStatus.values), name="campaign_status_known"
            ),
            models.CheckConstraint(
                condition=Q(starts_at__isnull=True) | Q(ends_at__isnull=True) | Q(ends_at__gt=F("starts_at")),
                name="campaign_ends_after_start",
            ),
            models.CheckConstraint(
                condition=Q(status="paused", paused_at__isnull=False)
                | (~Q(status="paused") & Q(paused_at__isnull=True)),
                name="campaign_paused_at_iff_paused",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="campaign_newest"),
            models.Index(
                fields=["status"], condition=Q(status__in=["scheduled", "active"]), name="campaign_running"
            ),
            models.Index(fields=["id"], condition=Q(draining=True), name="campaign_draining"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_over(self) -> bool:
        """Completed or cancelled: it will never run again."""
        return self.status in OVER

    @property
    def has_started(self) -> bool:
        """It was running at some time; people who enter now begin at once."""
        return self.status == CampaignStatus.ACTIVE or self.activated_at is not None


class BatchStatus(models.TextChoices):
    DRAFT = "draft", _("In review")
    COMMITTING = "committing", _("Being added")
    COMMITTED = "committed", _("Added")
    DISCARDED = "discarded", _("Discarded")
    FAILED = "failed", _("Failed")


BATCH_EDGES: Edges = {
    BatchStatus.DRAFT: frozenset({BatchStatus.COMMITTING, BatchStatus.DISCARDED}),
    BatchStatus.COMMITTING: frozenset({BatchStatus.COMMITTED, BatchStatus.FAILED, BatchStatus.DRAFT}),
    BatchStatus.COMMITTED: frozenset(),
    BatchStatus.DISCARDED: frozenset(),
    BatchStatus.FAILED: frozenset(),
}


class EnrollmentBatch(WorkspaceModel):
    """One selection of people on its way into a campaign; the review happens on it."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="batches")
    subject_type = models.CharField(max_length=20, default="target")
    subject_ids = models.JSONField(default=list)
    status = models.CharField(max_length=10, choices=BatchStatus, default=BatchStatus.DRAFT)
    revision = models.PositiveIntegerField(default=0)
    decisions = models.JSONField(
        default=dict
    )  # {"default": null|"skip"|"add", "overrides": {id: "add"|"skip"}}
    plan = models.JSONField(default=dict)  # group -> ids, as of the review; who is in none of them is ready
    counts = models.JSONField(default=dict)  # group -> how many; while and after adding also the outcome
    created_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(status__in=BatchStatus.values), name="batch_status_known"),
        ]
        indexes = [
            models.Index(  # those whose worker may have died
                fields=["updated_at"], condition=Q(status="committing"), name="batch_committing"
            ),
            models.Index(fields=["campaign", "-id"], name="batch_newest"),
        ]

    def __str__(self) -> str:
        return f"batch {self.pk}"

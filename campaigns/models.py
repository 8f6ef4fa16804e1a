"""Who gets in, when, and how many a day."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from automation.models.definition import Workflow, WorkflowVersion
from core.tenancy import UndeletableModel, UTCDateTimeField, WorkspaceModel
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
    # Started, but not everybody enrolled before has been let go yet.
    starting = models.BooleanField(default=False, db_default=False)
    draining = models.BooleanField(default=False)  # over, but not everybody inside has been stopped yet
    auto_enrol_at = UTCDateTimeField(null=True)  # next look for new people; null: the rule is off
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
            models.Index(fields=["id"], condition=Q(starting=True), name="campaign_starting"),
            models.Index(
                fields=["auto_enrol_at"], condition=Q(auto_enrol_at__isnull=False), name="campaign_auto_enrol"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_over(self) -> bool:
        """Completed or cancelled: it will never run again."""
        return self.status in OVER

    @property
    def open_jobs(self) -> models.QuerySet[CampaignJob]:
        """Work on many of its people that is still under way, newest first."""
        return CampaignJob.objects.filter(campaign=self, status=JobStatus.WORKING).order_by("-pk")

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


class JobKind(models.TextChoices):
    ENROL = "enrol", _("Adding people")
    CHANGE = "change", _("Changing people")


class JobStatus(models.TextChoices):
    WORKING = "working", _("Under way")
    DONE = "done", _("Done")
    CANCELLED = "cancelled", _("Stopped by hand")
    FAILED = "failed", _("Failed")


JOB_EDGES: Edges = {
    JobStatus.WORKING: frozenset({JobStatus.DONE, JobStatus.CANCELLED, JobStatus.FAILED}),
    JobStatus.DONE: frozenset(),
    JobStatus.CANCELLED: frozenset(),
    JobStatus.FAILED: frozenset(),
}


class CampaignJob(WorkspaceModel):
    """Work on more people of a campaign than one request or one selection may hold, a part at a time.

    `cursor` is the last id that is done with, `last_id` the last one that was there when it was asked
    for: whoever comes later is not meant. Killed anywhere, it goes on from the cursor.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="jobs")
    kind = models.CharField(max_length=8, choices=JobKind)
    order = models.JSONField(default=dict)  # what was asked for: campaigns/jobs/
    status = models.CharField(max_length=10, choices=JobStatus, default=JobStatus.WORKING)
    revision = models.PositiveIntegerField(default=0)
    cursor = models.BigIntegerField(default=0)
    last_id = models.BigIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    counts = models.JSONField(default=dict)  # outcome -> how many
    error = models.CharField(max_length=40, blank=True)
    finished_at = UTCDateTimeField(null=True)
    created_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(status__in=JobStatus.values), name="job_status_known"),
            models.CheckConstraint(
                condition=Q(status="working", finished_at__isnull=True)
                | (~Q(status="working") & Q(finished_at__isnull=False)),
                name="job_finished_at_iff_over",
            ),
        ]
        indexes = [
            models.Index(  # those whose worker may have died
                fields=["updated_at"], condition=Q(status="working"), name="job_working"
            ),
            models.Index(fields=["campaign", "-id"], name="job_newest"),
        ]

    def __str__(self) -> str:
        return f"job {self.pk}"


class EnrollmentBatch(WorkspaceModel):
    """One selection of people on its way into a campaign; the review happens on it."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="batches")
    job = models.ForeignKey(  # it is one part of a larger selection
        CampaignJob, null=True, on_delete=models.PROTECT, related_name="batches"
    )
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


class CampaignFigures(WorkspaceModel):
    """What takes long to count of a large campaign, as it was at one moment: its page shows it with the time.

    One row for everybody's people, and one for each member who sees only some. It may be dropped at any
    time; the next visit makes it anew.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="+")
    viewer = models.ForeignKey(USER, null=True, on_delete=models.CASCADE, related_name="+")  # null: everybody
    asked_at = UTCDateTimeField(null=True)  # when somebody last asked for a new count
    counted_at = UTCDateTimeField(null=True)  # null: never yet
    took_ms = models.PositiveIntegerField(default=0)
    data = models.JSONField(default=dict)  # campaigns/figures.py

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign"], condition=Q(viewer__isnull=True), name="figures_once_for_all"
            ),
            models.UniqueConstraint(fields=["campaign", "viewer"], name="figures_once_a_viewer"),
        ]

    def __str__(self) -> str:
        return f"figures of campaign {self.campaign_id}"


class SendingStop(UndeletableModel):
    """One time when everything was stopped in the workspace; `Workspace.sending_stopped_at` says it is now.

    `on_the_way` are the messages that had left for a provider, or were about to, at that moment.
    """

    stopped_at = UTCDateTimeField()
    stopped_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=500)
    on_the_way = models.JSONField(default=list)
    resumed_at = UTCDateTimeField(null=True)
    resumed_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    resume_reason = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace"], condition=Q(resumed_at__isnull=True), name="stop_one_at_a_time"
            )
        ]
        indexes = [models.Index(fields=["workspace", "-id"], name="stop_newest")]

    def __str__(self) -> str:
        return f"stop {self.pk}"

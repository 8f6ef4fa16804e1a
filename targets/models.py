"""People and companies, the lists they are on, and the files they came from."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from core.tenancy import UTCDateTimeField, WorkspaceModel
from core.text import search_key
from targets.models_events import TargetEvent, TargetEventPending

__all__ = [
    "Activity",
    "ActivityKind",
    "ImportJob",
    "ImportRow",
    "ImportStatus",
    "Priority",
    "RowOutcome",
    "Target",
    "TargetEvent",
    "TargetEventPending",
    "TargetList",
    "TargetListMember",
    "TargetStatus",
]


class TargetStatus(models.TextChoices):
    NEW = "new", _("New")
    CONTACTED = "contacted", _("Contacted")
    INTERESTED = "interested", _("Interested")
    CONVERTED = "converted", _("Converted")
    UNWILLING = "unwilling", _("Unwilling")
    INVALID_NUMBER = "invalid_number", _("Invalid number")


class Priority(models.TextChoices):
    LOW = "low", _("Low")
    NORMAL = "normal", _("Normal")
    HIGH = "high", _("High")


class Target(WorkspaceModel):
    """A person (or company). Mobile and landline are canonical (`core.phones`); one of them is set."""

    external_id = models.CharField(max_length=64, blank=True)
    name = models.CharField(max_length=160, blank=True)
    first_name = models.CharField(max_length=80, blank=True)
    last_name = models.CharField(max_length=80, blank=True)
    mobile = models.CharField(max_length=11, blank=True)
    landline = models.CharField(max_length=11, blank=True)
    email = models.EmailField(blank=True)
    province = models.CharField(max_length=60, blank=True)
    city = models.CharField(max_length=60, blank=True)
    status = models.CharField(max_length=20, choices=TargetStatus, default=TargetStatus.NEW)
    priority = models.CharField(max_length=8, choices=Priority, default=Priority.NORMAL)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    traits = models.JSONField(default=dict)
    search_text = models.TextField(
        blank=True
    )  # core.text.search_key of names, numbers, city: written on save
    deleted_at = UTCDateTimeField(null=True)
    lists: models.ManyToManyField[TargetList, TargetListMember] = models.ManyToManyField(
        "TargetList", through="TargetListMember", related_name="targets"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(mobile="") | ~models.Q(landline=""), name="target_has_a_number"
            ),
            models.UniqueConstraint(
                fields=["workspace", "mobile"],
                condition=~models.Q(mobile="") & models.Q(deleted_at__isnull=True),
                name="target_mobile_once",
            ),
            models.UniqueConstraint(
                fields=["workspace", "landline"],
                condition=~models.Q(landline="") & models.Q(deleted_at__isnull=True),
                name="target_landline_once",
            ),
            models.UniqueConstraint(
                fields=["workspace", "external_id"],
                condition=~models.Q(external_id="") & models.Q(deleted_at__isnull=True),
                name="target_external_id_once",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="target_newest"),
            models.Index(fields=["workspace", "status", "-id"], name="target_by_status"),
            models.Index(fields=["workspace", "owner", "-id"], name="target_by_owner"),
        ]

    def __str__(self) -> str:
        return self.display_name or f"#{self.pk}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.fill_search_text()
        fields = kwargs.get("update_fields")
        if fields is not None:
            kwargs["update_fields"] = {*fields, "search_text"}
        super().save(*args, **kwargs)

    def fill_search_text(self) -> None:
        """Bulk writes call this themselves: what the search box looks in follows from the other columns."""
        self.search_text = search_key(
            " ".join(
                (
                    self.name, self.first_name, self.last_name, self.mobile, self.landline, self.external_id,
                    self.email, self.province, self.city,
                )
            )
        )  # fmt: skip

    @property
    def display_name(self) -> str:
        return self.name or " ".join(part for part in (self.first_name, self.last_name) if part)


class TargetList(WorkspaceModel):
    name = models.CharField(max_length=120)
    description = models.CharField(max_length=500, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "name"], name="target_list_name_once")]

    def __str__(self) -> str:
        return self.name


class TargetListMember(WorkspaceModel):
    list = models.ForeignKey(TargetList, on_delete=models.CASCADE, related_name="+")
    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["list", "target"], name="target_list_member_once")]

    def __str__(self) -> str:
        return f"{self.list_id}:{self.target_id}"


class ImportStatus(models.TextChoices):
    UPLOADED = "uploaded", _("Uploaded")
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")


class ImportJob(WorkspaceModel):
    """One uploaded file on its way to becoming targets."""

    file_name = models.CharField(max_length=200)
    stored_as = models.CharField(max_length=100)  # random name in the upload storage
    size = models.PositiveBigIntegerField()
    row_count = models.PositiveIntegerField(default=0)
    columns = models.JSONField(default=list)  # header texts as found
    mapping = models.JSONField(default=dict)  # column index (text) -> field key
    list = models.ForeignKey(TargetList, null=True, on_delete=models.SET_NULL, related_name="+")
    status = models.CharField(max_length=10, choices=ImportStatus, default=ImportStatus.UPLOADED)
    error = models.CharField(max_length=500, blank=True)
    counts = models.JSONField(default=dict)  # created, updated, same, refused, empty
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    finished_at = UTCDateTimeField(null=True)

    def __str__(self) -> str:
        return self.file_name


class RowOutcome(models.TextChoices):
    CREATED = "created", _("Created")
    UPDATED = "updated", _("Updated")
    SAME = "same", _("Unchanged")
    REFUSED = "refused", _("Refused")


class ImportRow(WorkspaceModel):
    """What became of one row of the file. Refused rows keep their cells so that they can be mended."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="rows")
    row_number = models.PositiveIntegerField()  # as the spreadsheet counts, the header is row 1
    outcome = models.CharField(max_length=8, choices=RowOutcome)
    target = models.ForeignKey(Target, null=True, on_delete=models.SET_NULL, related_name="+")
    column = models.CharField(max_length=100, blank=True)
    reason = models.CharField(max_length=40, blank=True)  # stable code; the sentence is made when shown
    fields = models.JSONField(default=dict)  # values of the sentence
    cells = models.JSONField(default=list)  # the row as read, only when refused

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "row_number"], name="import_row_once")]
        indexes = [models.Index(fields=["job", "outcome", "row_number"], name="import_row_by_outcome")]

    def __str__(self) -> str:
        return f"{self.job_id}:{self.row_number}"


class ActivityKind(models.TextChoices):
    CALL = "call", _("Call")
    MEETING = "meeting", _("Meeting")
    VISIT = "visit", _("Visit")
    SMS = "sms", _("SMS by hand")
    EMAIL = "email", _("E-mail by hand")
    NOTE = "note", _("Note")
    TASK = "task", _("Task")


class Activity(WorkspaceModel):
    """Something a colleague does, or did, with a person. Nothing in Peyk does it for them.

    Without `created_by` it was recorded by a workflow; `source` then names the very step and visit, so
    that the same visit never records a second one. Open is what has no `done_at`.
    """

    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="activities")
    kind = models.CharField(max_length=8, choices=ActivityKind)
    title = models.CharField(max_length=200, blank=True)
    description = models.TextField(blank=True)
    due_at = UTCDateTimeField()
    done_at = UTCDateTimeField(null=True)
    done_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    source = models.CharField(max_length=80, blank=True)
    hidden_at = UTCDateTimeField(null=True)  # the person was removed: lists are asked without the people

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "source"], condition=~models.Q(source=""), name="activity_source_once"
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=ActivityKind.values), name="activity_kind_known"
            ),
            models.CheckConstraint(
                condition=models.Q(done_by__isnull=True) | models.Q(done_at__isnull=False),
                name="activity_done_by_only_when_done",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "target", "-due_at"], name="activity_of_target"),
            models.Index(  # what a colleague has to do, the earliest first
                fields=["workspace", "owner", "due_at", "id"],
                condition=models.Q(done_at__isnull=True, hidden_at__isnull=True),
                name="activity_open_of_one",
            ),
            models.Index(
                fields=["workspace", "due_at", "id"],
                condition=models.Q(done_at__isnull=True, hidden_at__isnull=True),
                name="activity_open_of_all",
            ),
            models.Index(
                fields=["workspace", "-done_at", "-id"],
                condition=models.Q(done_at__isnull=False, hidden_at__isnull=True),
                name="activity_done",
            ),
        ]

    def __str__(self) -> str:
        return self.title or str(self.get_kind_display())

    @property
    def is_automatic(self) -> bool:
        return bool(self.source)

    @property
    def is_done(self) -> bool:
        return self.done_at is not None

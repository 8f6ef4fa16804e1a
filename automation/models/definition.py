"""Workflows as data: versions, nodes, edges, templates and the workspace's automation settings."""

from __future__ import annotations

from typing import ClassVar, Self

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from automation.models.frozen import PartOfVersion, ScopedVersionManager, VersionManager
from core.tenancy import UTCDateTimeField, WorkspaceModel

USER = settings.AUTH_USER_MODEL


class WorkflowKind(models.TextChoices):
    LIST = "list", _("Campaign workflow")
    JOURNEY = "journey", _("Journey")


class WorkflowStatus(models.TextChoices):
    DRAFT = "draft", _("Draft")
    ACTIVE = "active", _("Published")
    PAUSED = "paused", _("Paused")
    ARCHIVED = "archived", _("Archived")


class VersionStatus(models.TextChoices):
    DRAFT = "draft", _("Draft")
    PUBLISHED = "published", _("Published")
    SUPERSEDED = "superseded", _("Replaced")


class NodeKind(models.TextChoices):
    START = "start", _("Start")
    ACTION = "action", _("Action")
    WAIT = "wait", _("Wait")
    CONDITION = "condition", _("Condition")
    SWITCH = "switch", _("Switch")
    SPLIT = "split", _("Split")
    GOAL = "goal", _("Goal")
    END = "end", _("End")


class Workflow(WorkspaceModel):
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True, max_length=2000)
    category = models.CharField(max_length=30, blank=True)
    kind = models.CharField(max_length=8, choices=WorkflowKind, default=WorkflowKind.LIST)
    status = models.CharField(max_length=10, choices=WorkflowStatus, default=WorkflowStatus.DRAFT)
    published_version = models.ForeignKey(
        "WorkflowVersion", null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    updated_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    deleted_at = UTCDateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=WorkflowStatus.values), name="workflow_status_known"
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=WorkflowKind.values), name="workflow_kind_known"
            ),
        ]
        indexes = [models.Index(fields=["workspace", "-id"], name="workflow_newest")]

    def __str__(self) -> str:
        return self.name


class WorkflowVersion(WorkspaceModel):
    """One recipe. Only a draft may change; published and superseded versions are immutable."""

    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, related_name="versions")
    version_number = models.PositiveIntegerField()
    status = models.CharField(max_length=10, choices=VersionStatus, default=VersionStatus.DRAFT)
    settings = models.JSONField(default=dict)
    note = models.CharField(max_length=500, blank=True)
    revision = models.PositiveIntegerField(default=0)  # grows with every saved change of a draft
    published_at = UTCDateTimeField(null=True)
    published_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    archived_at = UTCDateTimeField(null=True)  # put away; only once it is superseded

    objects: ClassVar[ScopedVersionManager[Self]] = ScopedVersionManager()
    unscoped: ClassVar[VersionManager[Self]] = VersionManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workflow", "version_number"], name="version_number_once"),
            models.UniqueConstraint(
                fields=["workflow"], condition=models.Q(status="draft"), name="workflow_one_draft"
            ),
            models.UniqueConstraint(
                fields=["workflow"], condition=models.Q(status="published"), name="workflow_one_published"
            ),
            models.CheckConstraint(
                condition=models.Q(status__in=VersionStatus.values), name="version_status_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.workflow_id} v{self.version_number}"


class WorkflowNode(PartOfVersion):
    version = models.ForeignKey(WorkflowVersion, on_delete=models.PROTECT, related_name="nodes")
    node_key = models.CharField(max_length=40)
    type = models.CharField(max_length=10, choices=NodeKind)
    subtype = models.CharField(max_length=50)
    name = models.CharField(max_length=120, blank=True)
    config = models.JSONField(default=dict)
    consumes_budget = models.BooleanField(default=False)  # computed at publication
    is_enabled = models.BooleanField(default=True)
    position_x = models.IntegerField(null=True)
    position_y = models.IntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "node_key"], name="node_key_once"),
            models.CheckConstraint(condition=models.Q(type__in=NodeKind.values), name="node_type_known"),
        ]

    def __str__(self) -> str:
        return self.node_key


class WorkflowEdge(PartOfVersion):
    version = models.ForeignKey(WorkflowVersion, on_delete=models.PROTECT, related_name="edges")
    from_node = models.ForeignKey(WorkflowNode, on_delete=models.PROTECT, related_name="edges_out")
    to_node = models.ForeignKey(WorkflowNode, on_delete=models.PROTECT, related_name="edges_in")
    port = models.CharField(max_length=30, default="default")
    label = models.CharField(max_length=120, null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["from_node", "port"], name="edge_port_once")]

    def __str__(self) -> str:
        return f"{self.from_node_id}:{self.port}"


class WorkflowTemplate(WorkspaceModel):
    """A workspace's own template. Built-in templates live in code (`automation/catalogue.py`)."""

    name = models.CharField(max_length=120)
    description = models.TextField(blank=True, max_length=2000)
    definition = models.JSONField()
    created_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    deleted_at = UTCDateTimeField(null=True)

    def __str__(self) -> str:
        return self.name


class AutomationSettings(WorkspaceModel):
    """One row a workspace. Channel settings live with the channel (`sms.SmsSettings`)."""

    enabled = models.BooleanField(default=True)
    timezone = models.CharField(max_length=64, blank=True)  # "" follows the workspace
    default_send_window = models.JSONField(null=True)
    global_daily_limit = models.PositiveIntegerField(null=True)
    frequency_cap_per_day = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace"], name="automation_settings_once")]

    def __str__(self) -> str:
        return f"automation settings {self.workspace_id}"

"""Walks: one execution a person and campaign, its append-only history, and the daily counters."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from automation.models.definition import Workflow, WorkflowNode, WorkflowVersion
from automation.states import CLAIMABLE, CLAIMED, ENDED, LIVE, EndReason, ExecutionEventType, ExecutionStatus
from core.tenancy import AppendOnlyModel, UndeletableModel, UTCDateTimeField, WorkspaceModel

_live, _claimable, _claimed, _ended = (sorted(s) for s in (LIVE, CLAIMABLE, CLAIMED, ENDED))


class WorkflowExecution(UndeletableModel):
    """One subject's walk through one version in one campaign. Moved by `automation.transitions` only."""

    campaign = models.ForeignKey("campaigns.Campaign", on_delete=models.PROTECT, related_name="executions")
    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, related_name="+")
    workflow_version = models.ForeignKey(WorkflowVersion, on_delete=models.PROTECT, related_name="executions")
    subject_type = models.CharField(max_length=20, default="target")
    subject_id = models.BigIntegerField()
    current_node = models.ForeignKey(WorkflowNode, on_delete=models.PROTECT, related_name="+")
    status = models.CharField(max_length=12, choices=ExecutionStatus)
    active_key = models.PositiveSmallIntegerField(null=True)  # 1 while live: at most one live walk a subject
    cycle = models.PositiveIntegerField(default=1)
    consumes_budget = models.BooleanField(default=False)  # of the current step, for the scheduler
    entered = models.BooleanField(default=False)  # the current step was begun
    eligible_at = UTCDateTimeField(null=True)
    next_run_at = UTCDateTimeField(null=True)
    wake_at = UTCDateTimeField(null=True)  # end of the wait being waited
    retry_count = models.PositiveIntegerField(default=0)
    steps_since_wait = models.PositiveIntegerField(default=0)
    last_action = models.CharField(max_length=16, blank=True)
    # Defaults of the database too: while a new release rolls out, the old one still inserts rows.
    variant = models.CharField(max_length=100, blank=True, default="", db_default="")  # of the last split
    is_holdout = models.BooleanField(default=False, db_default=False)  # nothing reaches out to them
    waiting_event = models.CharField(max_length=100, blank=True, default="", db_default="")  # ends the wait
    entry_count = models.PositiveIntegerField(default=1, db_default=1)  # this time counts
    revision = models.PositiveIntegerField(default=0)
    lock_token = models.UUIDField(null=True)
    locked_at = UTCDateTimeField(null=True)
    failures = models.PositiveSmallIntegerField(default=0)  # claims in a row that ended in an error
    # Claimed and, for all we know, never begun; with `failures`: the first of them may be a chunk mate's.
    suspected_at = UTCDateTimeField(null=True)
    started_at = UTCDateTimeField(null=True)
    last_run_at = UTCDateTimeField(null=True)
    completed_at = UTCDateTimeField(null=True)
    paused_at = UTCDateTimeField(null=True)
    paused_from_status = models.CharField(max_length=12, blank=True)
    end_reason = models.CharField(max_length=30, blank=True, choices=EndReason)
    last_error = models.CharField(max_length=500, blank=True)
    metadata = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "subject_type", "subject_id"],
                condition=Q(active_key=1),
                name="execution_one_live_per_subject",
            ),
            models.CheckConstraint(
                condition=Q(status__in=ExecutionStatus.values), name="execution_status_known"
            ),
            models.CheckConstraint(  # NULL = 1 is NULL, and a CHECK lets NULL pass: ask for both
                condition=Q(status__in=_live, active_key__isnull=False, active_key=1)
                | (~Q(status__in=_live) & Q(active_key__isnull=True)),
                name="execution_active_key_iff_live",
            ),
            models.CheckConstraint(
                condition=Q(status__in=_claimed, lock_token__isnull=False, locked_at__isnull=False)
                | (~Q(status__in=_claimed) & Q(lock_token__isnull=True, locked_at__isnull=True)),
                name="execution_locked_iff_claimed",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=_claimable) | Q(next_run_at__isnull=False, eligible_at__isnull=False),
                name="execution_due_when_claimable",
            ),
            models.CheckConstraint(
                condition=Q(status__in=_ended, completed_at__isnull=False)
                | (~Q(status__in=_ended) & Q(completed_at__isnull=True)),
                name="execution_completed_at_iff_ended",
            ),
            models.CheckConstraint(
                condition=Q(status=ExecutionStatus.PAUSED, paused_at__isnull=False)
                | (~Q(status=ExecutionStatus.PAUSED) & Q(paused_at__isnull=True)),
                name="execution_paused_at_iff_paused",
            ),
        ]
        indexes = [
            models.Index(  # the scheduler's claim: due steps of one campaign, oldest first
                fields=["campaign", "consumes_budget", "next_run_at", "eligible_at", "id"],
                condition=Q(status__in=_claimable),
                name="execution_due",
            ),
            models.Index(  # the reaper; not on status, or the planner scans it for every guarded write
                fields=["locked_at"], condition=Q(locked_at__isnull=False), name="execution_locked"
            ),
            models.Index(  # an event comes in: who is waiting for it
                fields=["workspace", "waiting_event", "subject_type", "subject_id"],
                condition=Q(status=ExecutionStatus.WAITING) & ~Q(waiting_event=""),
                name="execution_waits_for",
            ),
            models.Index(  # who is in which state, also counted by step without reading the rows
                fields=["campaign", "status", "workspace", "current_node"], name="execution_counted"
            ),
            models.Index(  # the banner that names those who were given up
                fields=["workspace", "completed_at"],
                condition=Q(end_reason=EndReason.POISON),
                name="execution_poisoned",
            ),
            models.Index(fields=["workspace", "subject_type", "subject_id"], name="execution_of_subject"),
        ]

    def __str__(self) -> str:
        return f"execution {self.pk}"


class WorkflowExecutionEvent(AppendOnlyModel):
    """One line of an execution's history, with its reason."""

    execution = models.ForeignKey(WorkflowExecution, on_delete=models.PROTECT, related_name="events")
    campaign = models.ForeignKey("campaigns.Campaign", on_delete=models.PROTECT, related_name="+")
    subject_type = models.CharField(max_length=20, default="target")
    subject_id = models.BigIntegerField()
    node = models.ForeignKey(WorkflowNode, null=True, on_delete=models.PROTECT, related_name="+")
    type = models.CharField(max_length=24, choices=ExecutionEventType)
    message = models.CharField(max_length=300, blank=True)
    data = models.JSONField(default=dict)
    actor_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    occurred_at = UTCDateTimeField()

    class Meta:
        indexes = [
            models.Index(  # of one walk; a person's history is that of their walks
                fields=["execution", "occurred_at"], name="event_of_execution"
            ),
            models.Index(fields=["campaign", "-id"], name="event_of_campaign"),
        ]

    def __str__(self) -> str:
        return self.type


class CounterScope(models.TextChoices):
    CAMPAIGN = "campaign", _("Campaign")
    WORKFLOW = "workflow", _("Workflow")
    WORKSPACE = "workspace", _("Workspace")


class DailyCounter(WorkspaceModel):
    """Units used of one daily limit on one calendar day of the workspace."""

    scope_type = models.CharField(max_length=10, choices=CounterScope)
    scope_id = models.BigIntegerField()
    channel = models.CharField(max_length=10, default="sms")
    day = models.DateField()
    used = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "scope_type", "scope_id", "channel", "day"], name="counter_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.scope_type} {self.scope_id} {self.day}"

"""Reads of the workflow pages. Each returns rows of the active workspace only."""

from __future__ import annotations

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from automation.models.definition import VersionStatus, Workflow, WorkflowStatus, WorkflowVersion
from core.errors import NotFound


def workflows(*, status: str = "", category: str = "") -> QuerySet[Workflow]:
    """Newest first, each with `active_campaigns` and `has_draft`; archived ones only when asked for."""
    drafts = WorkflowVersion.objects.filter(workflow=OuterRef("pk"), status=VersionStatus.DRAFT)
    rows = Workflow.objects.filter(deleted_at__isnull=True).select_related("published_version")
    rows = rows.filter(status=status) if status else rows.exclude(status=WorkflowStatus.ARCHIVED)
    if category:
        rows = rows.filter(category=category)
    running = Q(campaigns__status="active", campaigns__deleted_at__isnull=True)
    return rows.annotate(
        active_campaigns=Count("campaigns", filter=running, distinct=True), has_draft=Exists(drafts)
    ).order_by("-id")


def categories() -> list[str]:
    """The categories in use."""
    rows = Workflow.objects.filter(deleted_at__isnull=True).exclude(category="")
    return list(rows.order_by("category").values_list("category", flat=True).distinct())


def workflow_for(pk: int) -> Workflow:
    """The workflow. Raises NotFound for one that is deleted or another workspace's."""
    row = (
        Workflow.objects.filter(pk=pk, deleted_at__isnull=True)
        .select_related("published_version", "created_by")
        .first()
    )
    if row is None:
        raise NotFound(_("This workflow does not exist."))
    return row


def versions_of(workflow: Workflow) -> list[WorkflowVersion]:
    """Its versions, newest first."""
    rows = WorkflowVersion.objects.filter(workflow=workflow).select_related("published_by")
    return list(rows.order_by("-version_number"))


def version_for(workflow: Workflow, number: int) -> WorkflowVersion:
    """The version with that number. Raises NotFound."""
    row = WorkflowVersion.objects.filter(workflow=workflow, version_number=number).first()
    if row is None:
        raise NotFound(_("This version does not exist."))
    return row


def draft_of(workflow: Workflow) -> WorkflowVersion | None:
    return WorkflowVersion.objects.filter(workflow=workflow, status=VersionStatus.DRAFT).first()

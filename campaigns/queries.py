"""Reads of campaigns; every function works inside the active workspace."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Count, QuerySet
from django.utils.translation import gettext as _

from automation.control_moves import TEXTS, Reason
from automation.models import Workflow, WorkflowExecution, WorkflowKind, WorkflowStatus
from campaigns.enrollment import selection
from campaigns.models import Campaign, CampaignStatus, EnrollmentBatch
from core.errors import NotFound
from targets.queries import Visibility
from workspaces.models import User


def campaigns() -> QuerySet[Campaign]:
    """The campaigns that were not deleted, newest first."""
    return Campaign.objects.filter(deleted_at__isnull=True).order_by("-pk")


def campaign_for(campaign_id: int) -> Campaign:
    """One campaign with its workflow, version and creator. Raises NotFound, also for another workspace's."""
    rows = campaigns().select_related(
        "workflow", "workflow_version", "created_by", "paused_by", "source_target_list"
    )
    campaign = rows.filter(pk=campaign_id).first()
    if campaign is None:
        raise NotFound(_("There is no such campaign."))
    return campaign


def names_for(ids: Iterable[int]) -> dict[int, str]:
    """What these campaigns are called, deleted ones too. One query; missing ones are missing."""
    return dict(Campaign.objects.filter(pk__in=set(ids)).values_list("pk", "name"))


def newest_names(limit: int) -> list[tuple[int, str]]:
    """Number and name of the newest campaigns. One query."""
    return list(campaigns().values_list("pk", "name")[:limit])


def campaign_list(status: str = "") -> QuerySet[Campaign]:
    """Campaigns for the list page, of one status or all."""
    rows = campaigns().select_related("workflow")
    return rows.filter(status=status) if status in CampaignStatus.values else rows


def status_counts() -> dict[str, int]:
    """Campaigns by status; absent ones are missing."""
    return dict(campaigns().order_by().values_list("status").annotate(Count("pk")))


def has_active_campaign() -> bool:
    return campaigns().filter(status=CampaignStatus.ACTIVE).exists()


def startable_workflows() -> QuerySet[Workflow]:
    """Workflows a list campaign can be made of: published, of that kind, neither paused nor archived."""
    return Workflow.objects.filter(
        kind=WorkflowKind.LIST,
        status=WorkflowStatus.ACTIVE,
        published_version__isnull=False,
        deleted_at__isnull=True,
    ).order_by("name", "pk")


def batch_for(batch_id: int) -> EnrollmentBatch:
    """One selection with its campaign. Raises NotFound, also for another workspace's."""
    rows = EnrollmentBatch.objects.filter(pk=batch_id, campaign__deleted_at__isnull=True)
    batch = rows.select_related("campaign", "campaign__workflow").first()
    if batch is None:
        raise NotFound(_("There is no such selection."))
    return batch


def batch_seen_by(user: User, visibility: Visibility, batch_id: int) -> EnrollmentBatch:
    """A selection; who does not see everybody sees only those they made of people they see. Raises NotFound.

    Both count: a token acts in the name of the maker of a selection and may see fewer people than they do.
    """
    batch = batch_for(batch_id)
    if visibility.limited and (
        batch.created_by_id != user.pk or selection.hidden(batch.subject_ids, visibility)
    ):
        raise NotFound(_("There is no such selection."))
    return batch


def campaign_of_execution(execution_id: int, visibility: Visibility) -> int:
    """The campaign of an execution whose person may be seen. Raises NotFound for any other."""
    row = WorkflowExecution.objects.filter(pk=execution_id).values("campaign_id", "subject_id").first()
    if row is None:
        raise NotFound(TEXTS[Reason.NOT_FOUND])
    if visibility.limited and not visibility.people().filter(pk=row["subject_id"]).exists():
        raise NotFound(TEXTS[Reason.NOT_FOUND])
    campaign_for(row["campaign_id"])
    return int(row["campaign_id"])

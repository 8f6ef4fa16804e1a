"""What support looks at: what stands still, what was given up, and whether the books agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.utils.translation import gettext as _

from automation import conservation, counter_check
from automation.models import WorkflowExecution
from automation.states import CLAIMED, EndReason, ExecutionStatus
from campaigns.health import POISONED_SHOWN_FOR
from campaigns.models import BatchStatus, Campaign, EnrollmentBatch
from core.errors import Refused
from core.tenancy import current_workspace_id
from sms.models import SmsLog, SmsStatus
from targets.models import Target
from targets.queries import subjects_for
from workspaces.models import Workspace

SHOWN: Final = 10
MOST_PEOPLE: Final = 20_000  # a check reads their whole history while somebody waits
COUNTED_DAYS: Final = 3


@dataclass(frozen=True, slots=True)
class Walk:
    row: WorkflowExecution
    target: Target | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Everything of the active workspace that wants a look, at most ten of a kind."""

    stuck: list[Walk]
    poisoned: list[Walk]
    batches: list[EnrollmentBatch]
    unknown: list[SmsLog]


def desk(now: datetime) -> Desk:
    """A constant number of queries."""
    lease = timedelta(seconds=settings.LEASE_SECONDS)
    walks = WorkflowExecution.objects.select_related("campaign", "current_node")
    stuck = walks.filter(locked_at__lt=now - lease, status__in=sorted(CLAIMED)).order_by("locked_at", "pk")
    poisoned = walks.filter(
        status=ExecutionStatus.FAILED, end_reason=EndReason.POISON, completed_at__gte=now - POISONED_SHOWN_FOR
    ).order_by("-completed_at", "-pk")
    rows = [list(stuck[:SHOWN]), list(poisoned[:SHOWN])]
    people = subjects_for(current_workspace_id(), [row.subject_id for found in rows for row in found])
    batches = EnrollmentBatch.objects.filter(status__in=[BatchStatus.COMMITTING, BatchStatus.FAILED])
    batches = batches.select_related("campaign", "created_by").defer("subject_ids", "plan")
    unknown = SmsLog.objects.filter(status=SmsStatus.UNKNOWN)
    unknown = unknown.defer("provider_response", "message_template", "final_message")
    return Desk(
        stuck=[Walk(row, people.get(row.subject_id)) for row in rows[0]],
        poisoned=[Walk(row, people.get(row.subject_id)) for row in rows[1]],
        batches=list(batches.order_by("-pk")[:SHOWN]),
        unknown=list(unknown.order_by("-pk")[:SHOWN]),
    )  # fmt: skip


def conserved(campaign: Campaign) -> conservation.Report:
    """Does every step's arithmetic hold? Raises Refused for a campaign that is too large to wait for."""
    rows = WorkflowExecution.objects.filter(campaign_id=campaign.pk)
    if rows.order_by("pk")[MOST_PEOPLE : MOST_PEOPLE + 1].exists():
        text = _(
            "This campaign is too large for the page. Run “manage.py conservation_check --campaign %(pk)s”."
        )
        raise Refused(text % {"pk": campaign.pk}, code="too_many_people")
    return conservation.check(campaign.pk)


def counted(workspace: Workspace) -> Sequence[counter_check.Difference]:
    """The daily counters of the last days that differ from the messages; nothing is changed."""
    return counter_check.check_workspace(workspace, days=COUNTED_DAYS)

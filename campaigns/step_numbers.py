"""The numbers that the chart of a workflow shows at its steps: of one campaign, or of all of one version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Count, QuerySet
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from automation.builder.step_numbers import Choice, Numbers, StepNumbers
from automation.models import Workflow, WorkflowExecution, WorkflowExecutionEvent, WorkflowNode
from automation.states import ExecutionEventType
from campaigns.dashboard import seen_executions
from campaigns.figures import Figures
from campaigns.funnel import Grouped, StepRow, steps_of
from campaigns.kept_figures import SMALL, figures_for, read
from campaigns.models import Campaign, CampaignFigures
from campaigns.policy import policy_of
from core import clock
from core.dates import format_number
from targets.queries import Visibility
from workspaces.models import Membership

MOST_CAMPAIGNS: Final = 50
CAMPAIGN, VERSION = "c", "v"  # a choice is `c12` (a campaign's id) or `v3` (a version's number)


@dataclass(frozen=True, slots=True)
class _Counted:
    """Where people stand, what the history says (None: not counted yet), and when that was."""

    grouped: Grouped
    figures: Figures | None
    counted_at: datetime | None


class CampaignNumbers:
    """`automation.builder.step_numbers.Source`."""

    def choices(self, workflow: Workflow, version: int | None = None) -> Sequence[Choice]:
        """The newest campaigns, then the versions that more than one of them runs. One query."""
        rows = Campaign.objects.filter(workflow=workflow, deleted_at__isnull=True)
        if version is not None:
            rows = rows.filter(workflow_version__version_number=version)
        newest = list(rows.select_related("workflow_version").order_by("-pk")[:MOST_CAMPAIGNS])
        versions = [row.workflow_version.version_number for row in newest]
        single = [Choice(value=f"{CAMPAIGN}{row.pk}", label=_campaign_label(row)) for row in newest]
        shared = [number for number in dict.fromkeys(versions) if versions.count(number) > 1]
        return [*single, *(Choice(value=f"{VERSION}{one}", label=_version_label(one)) for one in shared)]

    def numbers(self, workflow: Workflow, value: str, membership: Membership) -> Numbers | None:
        kind, wanted = value[:1], value[1:]
        if kind not in (CAMPAIGN, VERSION) or not wanted.isdecimal() or len(wanted) > 18:
            return None
        rows = Campaign.objects.filter(workflow=workflow, deleted_at__isnull=True)
        name = "pk" if kind == CAMPAIGN else "workflow_version__version_number"
        rows = rows.filter(**{name: int(wanted)}).select_related("workflow_version")
        campaigns = list(rows.order_by("-pk")[: 1 if kind == CAMPAIGN else None])
        if not campaigns:
            return None
        one = kind == CAMPAIGN
        counted = _of_campaign(campaigns[0], membership) if one else _of_all(campaigns, membership)
        return _told(campaigns[0], counted)


def _campaign_label(row: Campaign) -> str:
    values = {"name": row.name, "number": _number(row.workflow_version.version_number)}
    return _("%(name)s (version %(number)s)") % values


def _version_label(number: int) -> str:
    return _("All campaigns of version %(number)s") % {"number": _number(number)}


def _number(value: int) -> str:
    return format_number(value, get_language() or "fa")


def _grouped(walks: QuerySet[WorkflowExecution]) -> Grouped:
    return list(walks.values_list("current_node_id", "status").annotate(number=Count("*")).order_by())


def _of_campaign(campaign: Campaign, membership: Membership) -> _Counted:
    grouped = _grouped(seen_executions(campaign, Visibility(membership)))
    people, zone = sum(number for _node, _status, number in grouped), policy_of(campaign).timezone
    kept = figures_for(campaign, membership, people=people, zone=zone, now=clock.now())
    return _Counted(grouped, kept.figures, kept.counted_at)


def _of_all(campaigns: Sequence[Campaign], membership: Membership) -> _Counted:
    """The sum over all of them: what is kept of the large ones, and the small ones counted now."""
    visibility, ids = Visibility(membership), [campaign.pk for campaign in campaigns]
    walks = WorkflowExecution.objects.filter(campaign_id__in=ids)
    events = WorkflowExecutionEvent.objects.filter(node_id__isnull=False)
    if visibility.limited:
        people = visibility.people().values("pk")
        walks, events = walks.filter(subject_id__in=people), events.filter(subject_id__in=people)
    viewer = membership.user_id if visibility.limited else None
    rows = CampaignFigures.objects.filter(campaign_id__in=ids, viewer_id=viewer, counted_at__isnull=False)
    kept, grouped = [row for row in rows if read(row)], _grouped(walks)
    rest = sorted(set(ids) - {row.campaign_id for row in kept})
    if walks.filter(campaign_id__in=rest)[: SMALL + 1].count() > SMALL:
        return _Counted(grouped, None, None)
    oldest = min((row.counted_at for row in kept if row.counted_at), default=None)
    return _Counted(grouped, _sum(kept, events.filter(campaign_id__in=rest)), oldest)


def _sum(kept: Sequence[CampaignFigures], events: QuerySet[WorkflowExecutionEvent]) -> Figures:
    total = Figures()
    of = {ExecutionEventType.NODE_ENTERED: total.entered, ExecutionEventType.SUPPRESSED: total.suppressed}
    rows = events.filter(type__in=list(of)).values_list("type", "node_id").annotate(number=Count("*"))
    found = [(of[ExecutionEventType(kind)], node or 0, number) for kind, node, number in rows.order_by()]
    for row in kept:
        one = read(row) or Figures()
        found += [(total.entered, *pair) for pair in one.entered.items()]
        found += [(total.suppressed, *pair) for pair in one.suppressed.items()]
    for sums, node, number in found:
        sums[node] = sums.get(node, 0) + number
    return total


def _told(campaign: Campaign, counted: _Counted) -> Numbers:
    people = sum(number for _node, _status, number in counted.grouped)
    rows = steps_of(campaign, counted.grouped, counted.figures, people)
    nodes = WorkflowNode.objects.filter(pk__in=[row.node_id for row in rows])
    keys = dict(nodes.values_list("pk", "node_key"))
    return Numbers(
        steps=[_step(keys[row.node_id], row) for row in rows],
        counted_at=counted.counted_at,
        counting=counted.figures is None,
    )


def _step(key: str, row: StepRow) -> StepNumbers:
    return StepNumbers(
        key=key,
        name=row.name,
        entered=row.entered,
        waiting=row.waiting + row.active,
        left=None if row.went_on is None else row.went_on + row.ended,
        failed=row.failed,
        held=row.held,
        suppressed=row.suppressed,
    )

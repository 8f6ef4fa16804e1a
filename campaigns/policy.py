"""What the scheduler and the workers are told of campaigns: may they run, and within which limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery

from automation.models import AutomationSettings, WorkflowExecution
from automation.runtime.policy import DueCampaign, RunPolicy
from automation.states import CLAIMABLE, EndReason
from campaigns.models import Campaign, CampaignStatus
from core import clock
from core.statements import load

ENDED_REASONS: Mapping[str, EndReason] = {
    CampaignStatus.CANCELLED: EndReason.CAMPAIGN_CANCELLED,
    CampaignStatus.COMPLETED: EndReason.CAMPAIGN_ENDED,
}
STOP_STATUSES = "stop_when_target_status_in"
ONE_PER_PHONE = "one_per_phone"


class CampaignPolicies:
    """The policy source of campaigns: a constant number of queries, however many campaigns there are."""

    def due(self, now: datetime) -> list[DueCampaign]:
        """Every running campaign of every open workspace with somebody due, by workspace and id."""
        running = Campaign.unscoped.filter(
            Q(ends_at__isnull=True) | Q(ends_at__gt=now),
            status=CampaignStatus.ACTIVE,
            deleted_at__isnull=True,
        )
        firsts = running.values_list("pk", first_due(sends=False), first_due(sends=True))
        due = {
            pk: (_is_due(light_at, now), _is_due(sends_at, now))
            for pk, light_at, sends_at in firsts
            if _is_due(light_at, now) or _is_due(sends_at, now)
        }
        if not due:
            return []
        rows = _with_settings(running).filter(
            pk__in=due, workspace__is_active=True, workspace__sending_stopped_at__isnull=True
        )
        policies = _policies(rows.order_by("workspace_id", "id"), now)
        return [DueCampaign(policy, *due[policy.campaign_id]) for policy in policies]

    def for_campaigns(self, workspace_id: int, campaign_ids: Iterable[int]) -> dict[int, RunPolicy]:
        """The named campaigns of one workspace as they stand at this moment, running or not."""
        named = {"workspace_id": workspace_id, "id": set(campaign_ids)}
        rows = load(Campaign, named, related=("workflow_version", "workspace"))
        return {policy.campaign_id: policy for policy in _policies(rows, clock.now())}


def policy_of(campaign: Campaign) -> RunPolicy:
    """The policy of one campaign as it stands now."""
    return CampaignPolicies().for_campaigns(campaign.workspace_id, [campaign.pk])[campaign.pk]


def _with_settings(rows: QuerySet[Campaign]) -> QuerySet[Campaign]:
    return rows.select_related("workflow_version", "workspace")


def first_due(*, sends: bool) -> Subquery:
    """The first moment of the claim's index for the outer campaign: one look, whatever else waits."""
    waiting = WorkflowExecution.unscoped.filter(
        campaign=OuterRef("pk"), consumes_budget=sends, status__in=sorted(CLAIMABLE)
    )
    return Subquery(waiting.order_by("next_run_at").values("next_run_at")[:1])


def _is_due(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment <= now


def _policies(campaigns: Iterable[Campaign], now: datetime) -> list[RunPolicy]:
    campaigns = list(campaigns)
    workspace_ids = {campaign.workspace_id for campaign in campaigns}
    found = load(AutomationSettings, {"workspace_id": workspace_ids}) if campaigns else []
    by_workspace = {row.workspace_id: row for row in found}
    return [_policy(c, by_workspace.get(c.workspace_id) or AutomationSettings(), now) for c in campaigns]


def _policy(campaign: Campaign, automation: AutomationSettings, now: datetime) -> RunPolicy:
    version: Mapping[str, Any] = campaign.workflow_version.settings
    zone = automation.timezone or campaign.workspace.timezone
    over = campaign.ends_at is not None and campaign.ends_at <= now
    running = campaign.status == CampaignStatus.ACTIVE and not over and campaign.deleted_at is None
    return RunPolicy(
        campaign_id=campaign.pk,
        workspace_id=campaign.workspace_id,
        workflow_id=campaign.workflow_id,
        version_id=campaign.workflow_version_id,
        campaign_name=campaign.name,
        workspace_name=campaign.workspace.name,
        kind=campaign.kind,
        running=running and campaign.workspace.is_active and not campaign.workspace.sending_stopped_at,
        ended_reason=_ended_reason(campaign, over=over),
        automation_enabled=automation.enabled,
        timezone=zone,
        send_window=effective_window(campaign, automation, zone),
        campaign_limit=campaign.daily_limit,
        workflow_limit=version.get("daily_limit"),
        workspace_limit=automation.global_daily_limit,
        on_unknown=version.get("on_unknown_outcome") or "reconcile",
        expire_after_minutes=version.get("expire_after_minutes"),
        one_per_phone=campaign.settings.get(ONE_PER_PHONE) is True,
        stop_statuses=frozenset(campaign.settings.get(STOP_STATUSES, ())),
    )


def _ended_reason(campaign: Campaign, *, over: bool) -> str:
    """Why it will never run again; "" while it may. A running campaign is over from its very end on."""
    if campaign.status == CampaignStatus.ACTIVE and over:
        return EndReason.CAMPAIGN_ENDED
    return ENDED_REASONS.get(campaign.status, "")


def effective_window(campaign: Campaign, automation: AutomationSettings, zone: str) -> dict[str, Any] | None:
    """The campaign's hours, else the version's, else the workspace's; None is no restriction."""
    window = (
        campaign.send_window
        or campaign.workflow_version.settings.get("send_window")
        or automation.default_send_window
    )
    return None if window is None else {**window, "timezone": window.get("timezone") or zone}

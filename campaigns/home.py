"""What the start page says of campaigns."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from automation.models import WorkflowExecution
from automation.states import LIVE
from campaigns import health, queries
from campaigns.models import CampaignStatus
from core import clock
from workspaces import home
from workspaces.home import Card, Notice, Step
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


def register() -> None:
    """Called once when the app is ready."""
    home.register_card("campaigns.running", cards, permission=Perm.CAMPAIGNS_VIEW, order=30)
    home.register_step("campaigns.create", create_step, permission=Perm.CAMPAIGNS_MANAGE, order=40)
    home.register_step("campaigns.start", start_step, permission=Perm.CAMPAIGNS_MANAGE, order=50)
    home.register_notice("campaigns.health", notices, permission=Perm.CAMPAIGNS_VIEW, order=10)


def cards(request: MemberRequest) -> list[Card]:
    """Running campaigns; for those who see everybody also the people inside."""
    counts = queries.status_counts()
    running = counts.get(CampaignStatus.ACTIVE, 0)
    url = reverse("campaigns:list")
    found = [Card(label=_("Running campaigns"), value=running, url=f"{url}?status=active", icon="campaign")]
    if Perm.TARGETS_VIEW in request.permissions:
        inside = WorkflowExecution.objects.filter(
            status__in=sorted(LIVE), campaign__status=CampaignStatus.ACTIVE, campaign__deleted_at__isnull=True
        )
        found.append(Card(label=_("People in running campaigns"), value=inside.count(), icon="users"))
    return found


def create_step(_request: MemberRequest) -> Step:
    return Step(
        title=_("Create a campaign"),
        text=_("Choose a workflow, the sending hours and how many messages may leave a day."),
        action=_("Create"),
        url=reverse("campaigns:create"),
        icon="campaign",
        done=queries.campaigns().exists(),
    )


def start_step(_request: MemberRequest) -> Step:
    """Leads to the newest draft, where people are added too."""
    draft = queries.campaigns().filter(status=CampaignStatus.DRAFT).first()
    return Step(
        title=_("Add people and start"),
        text=_("Everybody is checked before they enter; nothing leaves before you press start."),
        action=_("Open"),
        url=reverse("campaigns:detail", args=[draft.pk]) if draft else reverse("campaigns:list"),
        icon="play",
        done=queries.campaigns().filter(activated_at__isnull=False).exists(),
    )


def notices(_request: MemberRequest) -> list[Notice]:
    return [
        Notice(title=health.TITLES[word], text=health.TEXTS[word], tone="danger")
        for word in health.warnings(clock.now())
    ]

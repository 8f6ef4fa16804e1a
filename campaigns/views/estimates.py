"""What a campaign's messages will look like and cost, before they are sent."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from campaigns import queries
from campaigns.estimate import estimate
from campaigns.views.gate import automation_page
from core import clock
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


@require_safe
@permission_required(Perm.CAMPAIGNS_MANAGE)
@automation_page
def estimate_page(request: MemberRequest, pk: int) -> HttpResponse:
    """For those who may write to everybody: the texts hold people's names."""
    campaign = queries.campaign_for(pk)
    context = {"campaign": campaign, "found": estimate(campaign, clock.now())}
    return render(request, "campaigns/estimate.html", context)

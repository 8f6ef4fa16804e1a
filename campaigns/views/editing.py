"""The form of a campaign: new, and changed later."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from campaigns import actions, queries
from campaigns.forms import CampaignForm, EditCampaignForm, NewCampaignForm
from campaigns.views.gate import automation_page
from core.errors import DomainError
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

FORM_METHODS = ["GET", "HEAD", "POST"]


@require_http_methods(FORM_METHODS)
@permission_required(Perm.CAMPAIGNS_MANAGE)
@automation_page
def create(request: MemberRequest) -> HttpResponse:
    workflow = request.GET.get("workflow", "")
    initial = {"workflow": workflow} if workflow.isdecimal() else None
    form = NewCampaignForm(request.POST or None, initial=initial)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                campaign = actions.create_campaign(
                    workflow_id=form.cleaned_data["workflow"], details=form.details(), user=request.user
                )
            except DomainError as exc:
                form.add_problems(exc)
                status = exc.status
            else:
                messages.success(request, _("The campaign was created. Now add its people."))
                return redirect("campaigns:detail", campaign.pk)
    context = {"form": form, "has_workflow": queries.startable_workflows().exists()}
    return render(request, "campaigns/create.html", context, status=status)


@require_http_methods(FORM_METHODS)
@permission_required(Perm.CAMPAIGNS_MANAGE)
@automation_page
def edit(request: MemberRequest, pk: int) -> HttpResponse:
    """A change made on an older state is not saved: the page keeps what was typed and says so."""
    campaign = queries.campaign_for(pk)
    if campaign.is_over:
        messages.error(request, _("This campaign is over."))
        return redirect("campaigns:detail", pk)
    form = EditCampaignForm(request.POST or None, campaign=campaign)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                actions.update_campaign(
                    pk, details=form.details(), revision=form.cleaned_data["revision"], user=request.user
                )
            except DomainError as exc:
                form.add_problems(exc)
                status = exc.status
            else:
                messages.success(request, _("Saved."))
                return redirect("campaigns:detail", pk)
    context: dict[str, CampaignForm | object] = {"form": form, "campaign": campaign}
    return render(request, "campaigns/edit.html", context, status=status)

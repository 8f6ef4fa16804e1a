"""The buttons of a campaign. A page goes back to the campaign; a JSON caller gets the new status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from campaigns import actions, queries
from campaigns.models import Campaign, CampaignStatus
from campaigns.settling import progress as settling_progress
from core.dates import format_number
from core.errors import Refused
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest, wants_json
from workspaces.models import User
from workspaces.permissions import Perm

CANCEL_HEADER: Final = "X-Campaign-Cancel-Outcome"
CANCEL_CONFLICT: Final = "conflict_generation_completed"
DONE: Final = {
    CampaignStatus.SCHEDULED: gettext_lazy("The campaign is scheduled."),
    CampaignStatus.ACTIVE: gettext_lazy("The campaign is running."),
    CampaignStatus.PAUSED: gettext_lazy("The campaign is paused."),
    CampaignStatus.COMPLETED: gettext_lazy("The campaign has ended."),
}


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def activate(request: MemberRequest, pk: int) -> HttpResponse:
    return _move(request, pk, lambda: actions.activate(pk, user=request.user))


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def pause(request: MemberRequest, pk: int) -> HttpResponse:
    return _move(request, pk, lambda: actions.pause(pk, user=request.user))


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def resume(request: MemberRequest, pk: int) -> HttpResponse:
    return _move(request, pk, lambda: actions.resume(pk, user=request.user))


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def end(request: MemberRequest, pk: int) -> HttpResponse:
    return _move(request, pk, lambda: actions.end(pk, user=request.user))


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def open_intake(request: MemberRequest, pk: int) -> HttpResponse:
    return _set_intake(request, pk, is_open=True, user=request.user)


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def close_intake(request: MemberRequest, pk: int) -> HttpResponse:
    return _set_intake(request, pk, is_open=False, user=request.user)


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def cancel(request: MemberRequest, pk: int) -> HttpResponse:
    """200 `cancelled`, 202 `cancelling_partial` while messages are on their way, 409; see the header too."""
    try:
        outcome = actions.cancel(pk, user=request.user)
    except Refused as exc:
        response = _refused(request, pk, exc)
        response[CANCEL_HEADER] = CANCEL_CONFLICT
        return response
    if wants_json(request):
        partial = outcome.code == actions.CANCELLING_PARTIAL
        body = {"status": outcome.code, "stopped": outcome.stopped, "in_work": outcome.in_work}
        json = JsonResponse(body, status=202 if partial else 200)
        json[CANCEL_HEADER] = outcome.code
        return json
    messages.success(request, _cancelled(outcome))
    page = redirect("campaigns:detail", pk)
    page[CANCEL_HEADER] = outcome.code
    return page


@require_safe
@permission_required(Perm.CAMPAIGNS_VIEW)
def settling(request: MemberRequest, pk: int) -> HttpResponse:
    """The fragment that tells how many people still follow a start or an end; it asks until all have."""
    campaign = queries.campaign_for(pk)
    left = settling_progress(campaign)
    response = render(request, "campaigns/_settling.html", {"campaign": campaign, "settles": left})
    if left is None:
        response["HX-Refresh"] = "true"
    return response


def _move(request: MemberRequest, pk: int, action: Callable[[], Campaign]) -> HttpResponse:
    try:
        campaign = action()
    except Refused as exc:
        return _refused(request, pk, exc)
    if wants_json(request):
        return JsonResponse({"status": campaign.status})
    messages.success(request, str(DONE[CampaignStatus(campaign.status)]))
    return redirect("campaigns:detail", pk)


def _set_intake(request: MemberRequest, pk: int, *, is_open: bool, user: User) -> HttpResponse:
    try:
        campaign = actions.set_intake(pk, is_open=is_open, user=user)
    except Refused as exc:
        return _refused(request, pk, exc)
    if wants_json(request):
        return JsonResponse({"status": campaign.status, "intake_open": campaign.intake_open})
    text = _("People can be added again.") if is_open else _("Nobody new can be added now.")
    messages.success(request, text)
    return redirect("campaigns:detail", pk)


def _refused(request: MemberRequest, pk: int, error: Refused) -> HttpResponse:
    """JSON says it with its status; a page says it over the campaign, which may have changed meanwhile."""
    if wants_json(request):
        return JsonResponse({"error": str(error), "code": error.code}, status=error.status)
    messages.error(request, str(error))
    return redirect("campaigns:detail", pk)


def _cancelled(outcome: actions.CancelOutcome) -> str:
    """Never "stopped" while something may still arrive: then it says how much."""
    if not outcome.in_work:
        return _("The campaign is cancelled.")
    text = ngettext(
        "The campaign is cancelled. %(n)s message was on its way already and may still arrive.",
        "The campaign is cancelled. %(n)s messages were on their way already and may still arrive.",
        outcome.in_work,
    )
    return text % {"n": format_number(outcome.in_work, get_language() or "fa")}

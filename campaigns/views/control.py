"""The buttons of a campaign: each goes back to its page and says there what happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.contrib import messages
from django.http import HttpResponse
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
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

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
    return _set_intake(request, pk, is_open=True)


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def close_intake(request: MemberRequest, pk: int) -> HttpResponse:
    return _set_intake(request, pk, is_open=False)


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def cancel(request: MemberRequest, pk: int) -> HttpResponse:
    return _done(request, pk, lambda: _cancelled(actions.cancel(pk, user=request.user)))


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
    return _done(request, pk, lambda: str(DONE[CampaignStatus(action().status)]))


def _set_intake(request: MemberRequest, pk: int, *, is_open: bool) -> HttpResponse:
    def act() -> str:
        actions.set_intake(pk, is_open=is_open, user=request.user)
        return _("People can be added again.") if is_open else _("Nobody new can be added now.")

    return _done(request, pk, act)


def _done(request: MemberRequest, pk: int, act: Callable[[], str]) -> HttpResponse:
    """What `act` says it did, or why it was refused, over the campaign, which may have changed meanwhile."""
    try:
        messages.success(request, act())
    except Refused as exc:
        messages.error(request, str(exc))
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

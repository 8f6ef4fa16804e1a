"""The pages of those who look after the workspace: is everything well, and what wants a look."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from campaigns import checkup, queries, support
from campaigns.forms import CheckForm
from core import clock
from core.errors import Refused
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm, has_perm


@require_safe
@permission_required(Perm.SUPPORT)
def checkup_page(request: MemberRequest) -> HttpResponse:
    """Every part with its state, since when, and what to do. Works also while automation is off."""
    found = checkup.look(clock.now())
    worse = [finding for finding in found if finding.level is not checkup.Level.OK]
    context = {"found": found, "worse": worse, "tabs": _tabs("checkup")}
    return render(request, "campaigns/checkup.html", context)


@require_safe
@permission_required(Perm.SUPPORT, json=True)
def checkup_json(_request: MemberRequest) -> JsonResponse:
    """The same for machines; 503 while something is bad, so that a plain probe can tell."""
    now = clock.now()
    body = checkup.as_json(checkup.look(now), now)
    return JsonResponse(body, status=503 if body["status"] == checkup.Level.BAD else 200)


@require_safe
@permission_required(Perm.SUPPORT)
def support_page(request: MemberRequest) -> HttpResponse:
    """What stands still or was given up, and on request whether the books agree."""
    form = CheckForm(request.GET)
    context = {
        "desk": support.desk(clock.now()),
        "most": support.MOST_PEOPLE,
        "form": form,
        "tabs": _tabs("support"),
        "can": {
            "people": has_perm(request.permissions, Perm.TARGETS_VIEW, Perm.TARGETS_VIEW_OWN),
            "control": has_perm(request.permissions, Perm.CAMPAIGNS_MANAGE),
            "logs": has_perm(request.permissions, Perm.SMS_LOGS_VIEW),
        },
        **_checked(request, form),
    }
    return render(request, "campaigns/support.html", context)


def _checked(request: MemberRequest, form: CheckForm) -> dict[str, Any]:
    """The result of what was asked for: one campaign's arithmetic, or the daily counters."""
    if not form.is_valid():
        return {}
    if form.cleaned_data["check"] == "counters":
        return {"checked": "counters", "differences": support.counted(request.workspace)}
    if form.cleaned_data["check"] == "campaign" and form.cleaned_data["campaign"]:
        campaign = queries.campaign_for(form.cleaned_data["campaign"])
        try:
            report = support.conserved(campaign)
        except Refused as error:
            return {"checked": "refused", "refusal": str(error)}
        wrong = [step for step in report.steps if not step.balanced]
        return {"checked": "campaign", "report": report, "wrong": wrong, "of": campaign}
    return {}


def _tabs(current: str) -> list[dict[str, Any]]:
    pages = (("checkup", _("Health")), ("support", _("Support")))
    return [
        {"label": label, "url": reverse(f"campaigns:{name}"), "current": name == current}
        for name, label in pages
    ]

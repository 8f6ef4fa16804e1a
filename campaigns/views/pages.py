"""The pages one reads: the list, one campaign, its people and its log, and the fragments in them."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from automation.control_moves import GOING_ON, allowed
from automation.models import WorkflowExecution
from automation.panels import step_name
from campaigns import dashboard, health, history, hours, queries
from campaigns.confirmations import questions
from campaigns.forms import LogFilter, StatusFilter, selected
from campaigns.models import Campaign, CampaignStatus
from campaigns.people import PeopleFilter
from campaigns.policy import policy_of
from campaigns.views.gate import automation_page
from core import clock
from core.pagination import paginate
from targets.queries import Visibility, subjects_for
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm, has_perm

MOST_BY_CODE = 10_000  # an error code is found by reading messages: beyond so many people none is counted


def rights(request: MemberRequest) -> dict[str, bool]:
    """What the buttons of a page depend on."""
    return {
        "manage": has_perm(request.permissions, Perm.CAMPAIGNS_MANAGE),
        "logs": has_perm(request.permissions, Perm.SMS_LOGS_VIEW),
        "people": has_perm(request.permissions, Perm.TARGETS_VIEW, Perm.TARGETS_VIEW_OWN),
    }


@require_safe
@permission_required(Perm.CAMPAIGNS_VIEW)
@automation_page
def campaign_list(request: MemberRequest) -> HttpResponse:
    status = selected(StatusFilter(request.GET), "status", request.GET)
    page = paginate(request, queries.campaign_list(status))
    progress = dashboard.progress_of([row.pk for row in page], Visibility(request.membership))
    nobody = dashboard.People.nobody()
    context = {
        "page": page,
        "rows": [(row, progress.get(row.pk, nobody)) for row in page],
        "status": status,
        "tabs": _status_tabs(status),
        "can": rights(request),
        "health": health.banners(clock.now()),
        "has_workflow": queries.startable_workflows().exists(),
    }
    return render(request, "campaigns/list.html", context)


@require_safe
@permission_required(Perm.CAMPAIGNS_VIEW)
@automation_page
def health_banner(request: MemberRequest) -> HttpResponse:
    """The fragment over the campaign pages; it asks for itself every half minute."""
    found = health.banners(clock.now())
    return render(request, "campaigns/_health.html", _not_said_twice(found, request.GET.get("told", "")))


def _not_said_twice(found: list[health.Banner], told: str) -> dict[str, Any]:
    """The banners without the one whose title the page says already (`told`)."""
    left = [banner for banner in found if str(banner.title) != told]
    return {"health": left, "told": told if len(left) < len(found) else ""}


@require_safe
@permission_required(Perm.CAMPAIGNS_VIEW)
@automation_page
def detail(request: MemberRequest, pk: int) -> HttpResponse:
    campaign = queries.campaign_for(pk)
    context = _live_context(request, campaign)
    board: dashboard.Dashboard = context["board"]
    context |= {
        "tabs": tabs(campaign, "detail"),
        "can": rights(request),
        **_not_said_twice(health.banners(clock.now()), board.state.title),
        "ask": questions(campaign, board.people) if _manages(request) else {},
        "week": hours.week(context["policy"].send_window),
    }
    return render(request, "campaigns/detail.html", context)


@require_safe
@permission_required(Perm.CAMPAIGNS_VIEW)
@automation_page
def live(request: MemberRequest, pk: int) -> HttpResponse:
    """The numbers of the campaign's page. When its status changed meanwhile, the whole page is due."""
    campaign = queries.campaign_for(pk)
    response = render(request, "campaigns/_live.html", _live_context(request, campaign))
    if request.GET.get("status", campaign.status) != campaign.status:
        response["HX-Refresh"] = "true"
    return response


@require_safe
@permission_required(Perm.CAMPAIGNS_VIEW)
@automation_page
def people(request: MemberRequest, pk: int) -> HttpResponse:
    """The campaign's walks, newest first."""
    campaign = queries.campaign_for(pk)
    visibility = Visibility(request.membership)
    form = PeopleFilter(request.GET, campaign=campaign)
    rows = form.rows(visibility).select_related("current_node").order_by("-pk")
    page = paginate(request, rows, most=MOST_BY_CODE if "code" in form.chosen() else None)
    found = subjects_for(campaign.workspace_id, [row.subject_id for row in page])
    context = {
        "campaign": campaign,
        "page": page,
        "rows": [
            (row, found.get(row.subject_id), step_name(row.current_node), _offered(campaign, row))
            for row in page
        ],
        "form": form,
        "chosen": form.chosen(),
        "now": clock.now(),
        "tabs": tabs(campaign, "people"),
        "can": rights(request),
    }
    return render(request, "campaigns/people.html", context)


@require_safe
@permission_required(Perm.CAMPAIGNS_VIEW)
@automation_page
def logs(request: MemberRequest, pk: int) -> HttpResponse:
    campaign = queries.campaign_for(pk)
    form = LogFilter(request.GET)
    kind = selected(form, "type", request.GET)
    before = request.GET.get("before", "")
    context = {
        "campaign": campaign,
        "form": form,
        "log": history.log(
            campaign,
            Visibility(request.membership),
            kind=kind,
            before=int(before) if before.isdecimal() and len(before) < 19 else None,
        ),
        "is_first": not before,
        "tabs": tabs(campaign, "logs"),
        "can": rights(request),
    }
    return render(request, "campaigns/logs.html", context)


def tabs(campaign: Campaign, current: str) -> list[dict[str, Any]]:
    """The pages of one campaign."""
    pages = (("detail", _("Overview")), ("people", _("People")), ("logs", _("Log")))
    return [
        {"label": label, "url": reverse(f"campaigns:{name}", args=[campaign.pk]), "current": name == current}
        for name, label in pages
    ]


def _offered(campaign: Campaign, row: WorkflowExecution) -> dict[str, bool]:
    """The buttons beside one person: what their state permits; in an ended campaign nobody goes on."""
    return {op: True for op in allowed(row) if not (campaign.is_over and op in GOING_ON)}


def _manages(request: MemberRequest) -> bool:
    return rights(request)["manage"]


def _status_tabs(current: str) -> list[dict[str, Any]]:
    """One tab a status that has campaigns, and one for all."""
    counts = queries.status_counts()
    url = reverse("campaigns:list")
    tabs: list[dict[str, Any]] = [
        {"label": _("All"), "url": url, "current": not current, "count": sum(counts.values())}
    ]
    tabs += [
        {"label": label, "url": f"{url}?status={word}", "current": word == current, "count": counts[word]}
        for word, label in CampaignStatus.choices
        if word in counts
    ]
    return tabs


def _live_context(request: MemberRequest, campaign: Campaign) -> dict[str, Any]:
    policy = policy_of(campaign)
    board = dashboard.dashboard(campaign, policy, request.membership, clock.now())
    return {
        "campaign": campaign,
        "policy": policy,
        "board": board,
        "can": rights(request),
        "polls": not campaign.is_over or campaign.draining,
    }

"""The rule by which new people enter a campaign: its form with the number it means now, and its looks."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from campaigns import newcomer_checks, newcomers, queries
from campaigns.enrollment.review import GROUP_LABELS
from campaigns.forms import NewcomersForm
from campaigns.models import Campaign
from campaigns.newcomers import Preview, Rule
from campaigns.views.gate import automation_page
from core.errors import DomainError
from targets.filters import TargetFilter
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

REASONS: Final[dict[str, str | Promise]] = {
    **GROUP_LABELS,
    newcomer_checks.HERE_BEFORE: gettext_lazy("Was in this campaign before"),
}


@require_http_methods(["GET", "HEAD", "POST"])
@permission_required(Perm.CAMPAIGNS_MANAGE)
@automation_page
def rule_page(request: MemberRequest, pk: int) -> HttpResponse:
    """Existing people are let in only after their number was shown: until then saving shows it."""
    campaign = queries.campaign_for(pk)
    rule = newcomers.rule_of(campaign)
    if request.method == "POST":
        return _save(request, campaign, rule)
    filters = TargetFilter(dict(rule.filters)) if rule else TargetFilter()
    initial = {"daily_cap": rule.daily_cap, "include_existing": rule.include_existing} if rule else None
    return _page(request, campaign, rule, filters, NewcomersForm(initial=initial))


@require_safe
@permission_required(Perm.CAMPAIGNS_MANAGE)
@automation_page
def count(request: MemberRequest, pk: int) -> HttpResponse:
    """The fragment that tells how many people the rule would mean now."""
    campaign = queries.campaign_for(pk)
    found = _preview(campaign, TargetFilter(request.GET), existing="include_existing" in request.GET)
    return render(request, "campaigns/_newcomers_count.html", {"found": found})


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def switch_off(request: MemberRequest, pk: int) -> HttpResponse:
    try:
        newcomers.switch_off(pk, user=request.user)
    except DomainError as exc:
        if exc.status == 404:
            raise
        messages.error(request, str(exc))
    else:
        messages.success(request, _("Nobody enters by themselves any more."))
    return redirect("campaigns:newcomers", pk)


def _save(request: MemberRequest, campaign: Campaign, rule: Rule | None) -> HttpResponse:
    filters, form = TargetFilter(request.POST.dict()), NewcomersForm(request.POST)
    if not form.is_valid():
        return _page(request, campaign, rule, filters, form, status=422)
    existing = form.cleaned_data["include_existing"]
    found = _preview(campaign, filters, existing=existing)
    if existing and found is not None and form.cleaned_data["confirmed"] != found.meant:
        return _page(request, campaign, rule, filters, form, found=found, asks=True)
    try:
        newcomers.save_rule(
            campaign.pk,
            filters=filters,
            daily_cap=form.cleaned_data["daily_cap"],
            include_existing=existing,
            user=request.user,
        )
    except DomainError as exc:
        form.add_error(None, str(exc))
        return _page(request, campaign, rule, filters, form, status=exc.status)
    messages.success(request, _("The rule is on: it looks for new people every five minutes."))
    return redirect("campaigns:newcomers", campaign.pk)


def _preview(campaign: Campaign, filters: TargetFilter, *, existing: bool) -> Preview | None:
    """None for conditions that are empty or cannot be read: there is no number to show."""
    try:
        return newcomers.preview(campaign, filters, include_existing=existing) if filters.stored() else None
    except DomainError:
        return None


def _page(
    request: MemberRequest, campaign: Campaign, rule: Rule | None, filters: TargetFilter, form: NewcomersForm,
    *, found: Preview | None = None, asks: bool = False, status: int = 200,
) -> HttpResponse:  # fmt: skip
    context: dict[str, Any] = {
        "campaign": campaign,
        "rule": rule,
        "filters": filters,
        "form": form,
        "found": found,
        "asks": asks,
        "looks": [
            (look, [(REASONS.get(word, word), n) for word, n in look.skipped.items()])
            for look in (rule.looks if rule else ())
        ],
    }
    return render(request, "campaigns/newcomers.html", context, status=status)

"""The buttons beside the people of a campaign: one person, or those who are ticked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from automation import control
from automation.control import Outcome
from automation.control_moves import TEXTS, Operation
from automation.models import WorkflowExecution
from campaigns import changing, dashboard, queries
from campaigns.models import Campaign, CampaignJob
from campaigns.people import PeopleFilter
from core.dates import format_number
from core.errors import Invalid, Refused
from targets.queries import Visibility, subjects_for
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

NAMED: Final = 5  # people named in one message; the others are counted
DONE: Final = {
    Operation.PAUSE: gettext_lazy("The person is paused."),
    Operation.RESUME: gettext_lazy("The person goes on."),
    Operation.REMOVE: gettext_lazy("The person was removed from the campaign."),
    Operation.RESTART: gettext_lazy("The person begins again from the first step."),
    Operation.RETRY_STEP: gettext_lazy("The step is tried again."),
}


def single(operation: Operation) -> Callable[..., HttpResponseBase]:
    """The view of one operation on one execution."""

    @require_POST
    @permission_required(Perm.CAMPAIGNS_MANAGE)
    def change(request: MemberRequest, pk: int) -> HttpResponse:
        campaign_id = queries.campaign_of_execution(pk, Visibility(request.membership))
        try:
            control.change(pk, operation, user=request.user)
            messages.success(request, str(DONE[operation]))
        except Refused as exc:
            messages.error(request, str(exc))
        return redirect(_back(request, campaign_id))

    return change


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def selection(request: MemberRequest, pk: int) -> HttpResponse:
    """Several people of one campaign: those who moved are counted, the others named with the reason."""
    campaign = queries.campaign_for(pk)
    operation = _operation(request.POST.get("operation", ""))
    if (job := _in_background(request, campaign, operation)) is not None:
        return redirect("campaigns:job", job.pk)
    seen = dashboard.seen_executions(campaign, Visibility(request.membership))
    ids = _ticked(request, campaign)
    found = set(seen.filter(pk__in=ids).values_list("pk", flat=True))
    try:
        wanted = [pk for pk in ids if pk in found]
        _tell(request, campaign, control.change_many(campaign.pk, wanted, operation, user=request.user))
    except Refused as exc:
        messages.error(request, str(exc))
    return redirect(_back(request, campaign.pk))


def _operation(word: str) -> Operation:
    if word not in list(Operation):
        raise Invalid(_("Choose what to do with the selected people."), code="operation_unknown")
    return Operation(word)


def _in_background(request: MemberRequest, campaign: Campaign, operation: Operation) -> CampaignJob | None:
    """The work on everybody under the filter, when they are too many to wait for."""
    if request.POST.get("scope") != "all":
        return None
    shown = PeopleFilter(request.POST, campaign=campaign)
    visibility = Visibility(request.membership)
    if not shown.is_valid() or shown.rows(visibility)[: changing.AT_ONCE + 1].count() <= changing.AT_ONCE:
        return None
    return changing.change_all(campaign, shown, operation, visibility, user=request.user)


def _ticked(request: MemberRequest, campaign: Campaign) -> list[int]:
    """The ticked ones, or everybody the list shows under its filter."""
    if request.POST.get("scope") != "all":
        return [
            int(word) for word in request.POST.getlist("execution") if word.isdecimal() and len(word) < 19
        ]
    shown = PeopleFilter(request.POST, campaign=campaign)
    if not shown.is_valid():  # a condition left out would take more people than the list showed
        return []
    rows = shown.rows(Visibility(request.membership))
    return list(rows.order_by("pk").values_list("pk", flat=True)[: changing.AT_ONCE])


def _tell(request: MemberRequest, campaign: Campaign, outcome: Outcome) -> None:
    """One sentence for those who moved, and one a reason for those who did not, with their names."""
    if not outcome.done and not outcome.refused:
        messages.warning(request, _("Tick at least one person."))
        return
    if count := len(outcome.done):
        text = ngettext("Done for %(n)s person.", "Done for %(n)s people.", count)
        messages.success(request, text % {"n": _number(count)})
    for reason in outcome.reasons():
        ids = [pk for pk, why in outcome.refused.items() if why is reason]
        messages.warning(request, f"{_names(campaign, ids)}: {TEXTS[reason]}")


def _names(campaign: Campaign, ids: list[int]) -> str:
    found = dict(WorkflowExecution.objects.filter(pk__in=ids[:NAMED]).values_list("pk", "subject_id"))
    people = subjects_for(campaign.workspace_id, found.values())
    named = [str(people[found[pk]]) for pk in ids[:NAMED] if found.get(pk) in people]
    rest = len(ids) - len(named)
    if rest and named:
        more = ngettext("%(n)s other person", "%(n)s other people", rest) % {"n": _number(rest)}
        named.append(more)
    if not named:
        return ngettext("%(n)s person", "%(n)s people", rest) % {"n": _number(rest)}
    return _(", ").join(named)


def _number(count: int) -> str:
    return format_number(count, get_language() or "fa")


def _back(request: MemberRequest, campaign_id: int) -> str:
    """The list of people as it was left: its filter and its page."""
    address = reverse("campaigns:people", args=[campaign_id])
    kept = {name: request.POST.get(name, "") for name in (*PeopleFilter.base_fields, "page")}
    query = urlencode({name: word for name, word in kept.items() if word})
    return f"{address}?{query}" if query else address


pause = single(Operation.PAUSE)
resume = single(Operation.RESUME)
remove = single(Operation.REMOVE)
restart = single(Operation.RESTART)
retry_step = single(Operation.RETRY_STEP)

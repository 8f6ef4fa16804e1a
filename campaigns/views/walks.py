"""The buttons beside the people of a campaign: one person, or those who are ticked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from automation import control
from automation.control import Outcome
from automation.control_moves import TEXTS, Operation, Reason
from automation.models import WorkflowExecution
from campaigns import changing, dashboard, queries
from campaigns.models import Campaign, CampaignJob
from campaigns.people import PeopleFilter
from core.dates import format_number
from core.errors import Invalid, NotFound, Refused
from targets.queries import Visibility, subjects_for
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest, wants_json
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
    """The view of one operation on one execution. JSON may name the `revision` its caller saw."""

    @require_POST
    @permission_required(Perm.CAMPAIGNS_MANAGE)
    def change(request: MemberRequest, pk: int) -> HttpResponse:
        campaign_id = _visible(request, pk)
        revision = _json(request).get("revision")
        try:
            row = control.change(
                pk,
                operation,
                user=request.user,
                revision=revision if isinstance(revision, int) else None,
            )
        except Refused as exc:
            return _refused(request, campaign_id, exc)
        if wants_json(request):
            return JsonResponse({"status": row.status, "revision": row.revision})
        messages.success(request, str(DONE[operation]))
        return redirect(_back(request, campaign_id))

    return change


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def selection(request: MemberRequest, pk: int) -> HttpResponse:
    """Several people of one campaign. JSON: `{"operation": ..., "ids": [...]}`; 200 with a reason a row."""
    campaign = queries.campaign_for(pk)
    body = _json(request)
    operation = _operation(str(body.get("operation") or request.POST.get("operation", "")))
    if not body and (job := _in_background(request, campaign, operation)) is not None:
        return redirect("campaigns:job", job.pk)
    ids = _json_ids(body) if body else _ticked(request, campaign)
    seen = set(_seen(request, campaign).filter(pk__in=ids).values_list("pk", flat=True))
    try:
        outcome = control.change_many(
            campaign.pk, [pk for pk in ids if pk in seen], operation, user=request.user
        )
    except Refused as exc:
        return _refused(request, campaign.pk, exc)
    if wants_json(request):
        hidden = dict.fromkeys((pk for pk in ids if pk not in seen), Reason.NOT_FOUND)
        return JsonResponse(_as_json(outcome, hidden))
    _tell(request, campaign, outcome)
    return redirect(_back(request, campaign.pk))


def _visible(request: MemberRequest, pk: int) -> int:
    """The campaign of an execution this member may see. Raises NotFound for any other."""
    row = WorkflowExecution.objects.filter(pk=pk).values("campaign_id", "subject_id").first()
    if row is None:
        raise NotFound(TEXTS[Reason.NOT_FOUND])
    visibility = Visibility(request.membership)
    if visibility.limited and not visibility.people().filter(pk=row["subject_id"]).exists():
        raise NotFound(TEXTS[Reason.NOT_FOUND])
    queries.campaign_for(row["campaign_id"])
    return int(row["campaign_id"])


def _seen(request: MemberRequest, campaign: Campaign) -> Any:
    return dashboard.seen_executions(campaign, Visibility(request.membership))


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


def _json(request: MemberRequest) -> Mapping[str, Any]:
    """The body of a JSON request as an object, empty for any other. Raises Invalid when it is none."""
    if request.content_type != "application/json" or not request.body.strip():
        return {}
    try:
        body = json.loads(request.body)
    except ValueError as exc:
        raise Invalid(_("The request cannot be read."), code="malformed") from exc
    if not isinstance(body, dict):
        raise Invalid(_("The request cannot be read."), code="malformed")
    return body


def _json_ids(body: Mapping[str, Any]) -> list[int]:
    ids = body.get("ids")
    if not isinstance(ids, list) or not all(type(pk) is int and 0 < pk < 2**63 for pk in ids):
        raise Invalid(_("The request cannot be read."), code="malformed")
    return ids


def _as_json(outcome: Outcome, hidden: Mapping[int, Reason]) -> dict[str, Any]:
    refused = {**outcome.refused, **hidden}
    return {
        "done": [{"id": pk, "status": status} for pk, status in outcome.done.items()],
        "refused": [
            {"id": pk, "code": str(reason), "error": str(TEXTS[reason])} for pk, reason in refused.items()
        ],
    }


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


def _refused(request: MemberRequest, campaign_id: int, error: Refused) -> HttpResponse:
    if wants_json(request):
        status_now = str(error.fields.get("status_now", ""))
        body = {"error": str(error), "code": error.code, "status": status_now}
        return JsonResponse(body, status=error.status)
    messages.error(request, str(error))
    return redirect(_back(request, campaign_id))


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

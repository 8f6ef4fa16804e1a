"""The way into a campaign: choose people, review, decide, add, watch."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from campaigns import queries
from campaigns.enrollment import batches, committer, decisions, preview, selection
from campaigns.enrollment.decisions import Decisions
from campaigns.enrollment.planner import Group
from campaigns.enrollment.review import GROUP_LABELS, Review, review_of
from campaigns.models import BatchStatus, Campaign, EnrollmentBatch
from campaigns.views.gate import automation_page
from campaigns.views.large import source_of
from core.announce import refusal
from core.dates import format_number
from core.errors import DomainError, Invalid, NotFound
from core.pagination import paginate
from targets.filters import TargetFilter
from targets.queries import Visibility, lists_with_counts
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

SOURCES = ("list", "filter", "everybody")


@require_safe
@permission_required(Perm.CAMPAIGNS_MANAGE)
@automation_page
def choose(request: MemberRequest, pk: int) -> HttpResponse:
    """Step one: who is meant. `?source=` is the way to say it."""
    return _choose_page(request, queries.campaign_for(pk), request.GET)


@require_safe
@permission_required(Perm.CAMPAIGNS_MANAGE)
@automation_page
def count(request: MemberRequest, pk: int) -> HttpResponse:
    """The fragment that tells how many the conditions meet."""
    queries.campaign_for(pk)
    form = TargetFilter(request.GET)
    found = form.apply(Visibility(request.membership).people()).count() if form.is_valid() else None
    return render(request, "campaigns/_count.html", {"count": found})


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def review(request: MemberRequest, pk: int) -> HttpResponse:
    """Sort the chosen people and open the review."""
    campaign = queries.campaign_for(pk)
    try:
        ids = _chosen(request.POST, Visibility(request.membership))
        batch = batches.create(campaign, ids, user=request.user)
    except DomainError as exc:
        if exc.code == selection.TOO_LARGE and request.POST.get("source") in SOURCES:
            return redirect(f"{reverse('campaigns:enrol-large', args=[pk])}?{_kept(request.POST)}")
        return _choose_page(request, campaign, request.POST, why=str(exc), status=exc.status)
    return redirect("campaigns:batch", batch.pk)


@require_safe
@permission_required(Perm.CAMPAIGNS_MANAGE)
@automation_page
def batch_page(request: MemberRequest, pk: int) -> HttpResponse:
    """Step two and what follows it, by the state of the selection."""
    batch = _batch(request, pk)
    return render(request, "campaigns/batch.html", _batch_context(request, batch))


@require_safe
@permission_required(Perm.CAMPAIGNS_MANAGE)
@automation_page
def progress(request: MemberRequest, pk: int) -> HttpResponse:
    """The fragment that is asked for every two seconds while people are being added."""
    batch = _batch(request, pk)
    response = render(request, "campaigns/_progress.html", {"batch": batch, "review": review_of(batch)})
    if batch.status != BatchStatus.COMMITTING:
        response["HX-Refresh"] = "true"
    return response


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def decide(request: MemberRequest, pk: int) -> HttpResponse:
    """An answer about somebody who is elsewhere, or one for all of them."""
    batch = _batch(request, pk)
    try:
        batches.decide(batch, _answered(batch, request.POST))
    except DomainError as exc:
        if "HX-Request" in request.headers:
            return refusal(str(exc), status=exc.status)
        messages.error(request, str(exc))
    if "HX-Request" in request.headers:
        return render(request, "campaigns/_review.html", _batch_context(request, batch))
    return redirect(_back(request, batch))


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def commit(request: MemberRequest, pk: int) -> HttpResponse:
    """Add the people, at once or by a task; back to the conflicts while one has no answer."""
    batch = _batch(request, pk)
    try:
        committer.commit(batch, user=request.user)
    except DomainError as exc:
        messages.error(request, str(exc))
        _tell_changes(request, exc)
        group = Group.CONFLICT if isinstance(exc, committer.ConflictsUnresolved) else ""
        return redirect(_back(request, batch, group=str(group)))
    return redirect("campaigns:batch", pk)


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def discard(request: MemberRequest, pk: int) -> HttpResponse:
    batch = _batch(request, pk)
    try:
        batches.discard(batch, user=request.user)
    except DomainError as exc:
        messages.error(request, str(exc))
        return redirect("campaigns:batch", pk)
    messages.success(request, _("The selection was discarded; nobody was added."))
    return redirect("campaigns:detail", batch.campaign_id)


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def stop_adding(request: MemberRequest, pk: int) -> HttpResponse:
    """Safe at any time: the chunk at hand is undone, what was added before stays."""
    batch = _batch(request, pk)
    try:
        batches.stop(batch, user=request.user)
    except DomainError as exc:
        messages.error(request, str(exc))
    return redirect("campaigns:batch", pk)


@require_safe
@permission_required(Perm.CAMPAIGNS_MANAGE)
def person(request: MemberRequest, pk: int, subject_id: int) -> HttpResponse:
    """The drawer: every campaign and journey this person is in now."""
    _batch(request, pk)
    target = Visibility(request.membership).people().filter(pk=subject_id).first()
    if target is None:
        raise NotFound(_("There is no such person."))
    walks = preview.elsewhere_of([subject_id]).get(subject_id, [])
    return render(request, "campaigns/_person.html", {"target": target, "walks": walks})


def _tell_changes(request: MemberRequest, error: DomainError) -> None:
    """What changed between the review and the button: how many people came into which group."""
    for group, count in error.fields.get("changed", {}).items():
        number = format_number(count, get_language() or "fa")
        text = _("Changed since your review: %(group)s: %(n)s more.")
        messages.warning(request, text % {"group": GROUP_LABELS[group], "n": number})


def _kept(data: QueryDict) -> str:
    """What was chosen, as the address of the next page holds it."""
    kept = data.copy()
    kept.pop("csrfmiddlewaretoken", None)
    return kept.urlencode()


def _batch(request: MemberRequest, pk: int) -> EnrollmentBatch:
    return queries.batch_seen_by(request.user, Visibility(request.membership), pk)


def _chosen(data: QueryDict, visibility: Visibility) -> list[int]:
    source = source_of(data)
    return source.ids(visibility) if source else selection.named(_ids(data.getlist("ids")), visibility)


def _ids(raw: list[str]) -> list[int]:
    """Whole numbers of a form. Raises Invalid for anything else."""
    if not all(text.isdecimal() and len(text) < 19 for text in raw):
        raise Invalid(_("The ids of the people cannot be read."), code="ids_invalid")
    return [int(text) for text in raw]


def _answered(batch: EnrollmentBatch, data: QueryDict) -> Decisions:
    """The stored answers with what one button of the review says added."""
    word = data.get("answer")
    if word not in decisions.ANSWERS:
        raise Invalid(_("A decision is either “add” or “skip”."), code="decision_invalid")
    if "person" not in data:
        return decisions.read({"default": word})
    stored = batches.decisions_of(batch).stored()
    [person] = _ids(data.getlist("person")[-1:])
    return decisions.read({**stored, "overrides": {**stored["overrides"], str(person): word}})


def _choose_page(
    request: MemberRequest, campaign: Campaign, data: QueryDict, *, why: str = "", status: int = 200
) -> HttpResponse:
    visibility = Visibility(request.membership)
    source = data.get("source", "")
    source = source if source in SOURCES else SOURCES[0]
    url = reverse("campaigns:enrol", args=[campaign.pk])
    labels = {"list": _("A list"), "filter": _("By conditions"), "everybody": _("Everybody")}
    context: dict[str, Any] = {
        "campaign": campaign,
        "source": source,
        "sources": [
            {"label": labels[word], "url": f"{url}?source={word}", "current": word == source}
            for word in SOURCES
        ],
        "lists": lists_with_counts(visibility) if source == "list" else None,
        "chosen_list": data.get("list", ""),
        "filter_form": TargetFilter(data.dict()) if source == "filter" else None,
        "everybody": visibility.people().count() if source == "everybody" else None,
        "refusal": why,
        "steps": review_steps(0),
        "max": selection.MAX_SELECTION,
    }
    return render(request, "campaigns/choose.html", context, status=status)


def review_steps(current: int) -> list[dict[str, str]]:
    """The three steps of the wizard; `current` is the one at hand, 3 when all are done."""
    labels = (_("Choose people"), _("Review"), _("Added"))
    states = ["done" if n < current else "current" if n == current else "todo" for n in range(3)]
    return [{"label": label, "state": state} for label, state in zip(labels, states, strict=True)]


def _batch_context(request: MemberRequest, batch: EnrollmentBatch) -> dict[str, Any]:
    shown: Review = review_of(batch, group=request.GET.get("group", ""))
    page = paginate(request, shown.ids)
    steps = {BatchStatus.COMMITTED: 3}.get(BatchStatus(batch.status), 1)
    return {
        "batch": batch,
        "campaign": batch.campaign,
        "review": shown,
        "page": page,
        "rows": preview.rows(batch, shown.group, list(page), batches.decisions_of(batch)),
        "steps": review_steps(steps),
    }


def _back(request: MemberRequest, batch: EnrollmentBatch, *, group: str = "") -> str:
    """The page of the review the person was on."""
    url = reverse("campaigns:batch", args=[batch.pk])
    query = QueryDict(mutable=True)
    query["group"] = group or request.GET.get("group", "")
    if not group and request.GET.get("page", "").isdecimal():
        query["page"] = request.GET["page"]
    return f"{url}?{query.urlencode()}" if query["group"] else url

"""Work on many people in the background: the question before it, its progress, and the way to stop it."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from automation.control_moves import TEXTS, Operation, Reason
from campaigns import changing, jobs, queries
from campaigns.enrollment import large, selection
from campaigns.enrollment.review import FAILURES, GROUP_LABELS
from campaigns.models import Campaign, CampaignJob, JobKind, JobStatus
from campaigns.views.gate import automation_page
from core.errors import DomainError, Invalid, NotFound
from core.pagination import paginate
from targets.queries import Visibility
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

TITLES: Final[dict[str, str | Promise]] = {
    Operation.PAUSE: gettext_lazy("Pausing people"),
    Operation.RESUME: gettext_lazy("Resuming people"),
    Operation.REMOVE: gettext_lazy("Removing people"),
    Operation.RESTART: gettext_lazy("Starting people again"),
    Operation.RETRY_STEP: gettext_lazy("Trying the step again"),
}


def source_of(data: QueryDict) -> selection.Source | None:
    """What a form says of whom it means; None when it names people. Raises Invalid for no list."""
    kind = data.get("source", "")
    if kind == "list":
        wanted = data.get("list", "")
        if not wanted.isdecimal() or len(wanted) > 18:
            raise Invalid(_("Choose a list."), code="list_missing")
        return selection.Source(kind="list", list_id=int(wanted))
    if kind == "filter":
        return selection.Source(kind="filter", conditions=data.dict())
    return selection.Source(kind="everybody") if kind == "everybody" else None


@require_http_methods(["GET", "HEAD", "POST"])
@permission_required(Perm.CAMPAIGNS_MANAGE)
@automation_page
def choose_large(request: MemberRequest, pk: int) -> HttpResponse:
    """More people than one selection holds: how many in which group, the one question, the button."""
    campaign = queries.campaign_for(pk)
    data = request.POST if request.method == "POST" else request.GET
    visibility, refusal, status = Visibility(request.membership), "", 200
    try:
        source = source_of(data)
        if source is None:
            return redirect("campaigns:enrol", pk)
        if request.method == "POST":
            answer = data.get("answer", "")
            job = large.add_all(campaign, source, answer=answer, visibility=visibility, user=request.user)
            return redirect("campaigns:job", job.pk)
    except DomainError as exc:
        refusal, status = str(exc), exc.status
    context = {
        "campaign": campaign,
        "total": _total(data, visibility),
        "query": data.urlencode(),
        "kept": [(key, value) for key, value in data.items() if key not in ("csrfmiddlewaretoken", "answer")],
        "refusal": refusal,
        "part": large.PART,
    }
    return render(request, "campaigns/large.html", context, status=status)


@require_safe
@permission_required(Perm.CAMPAIGNS_MANAGE)
@automation_page
def large_groups(request: MemberRequest, pk: int) -> HttpResponse:
    """The fragment with the sizes of the groups, which take a moment to count for very many people."""
    campaign = queries.campaign_for(pk)
    groups = _groups(campaign, request.GET, Visibility(request.membership))
    return render(request, "campaigns/_large_groups.html", {"groups": groups})


@require_safe
@permission_required(Perm.CAMPAIGNS_MANAGE)
@automation_page
def job_page(request: MemberRequest, pk: int) -> HttpResponse:
    job = _job(request, pk)
    context = _job_context(job)
    if job.kind == JobKind.ENROL:
        context["page"] = paginate(request, job.batches.defer("subject_ids", "plan").order_by("pk"))
    return render(request, "campaigns/job.html", context)


@require_safe
@permission_required(Perm.CAMPAIGNS_MANAGE)
@automation_page
def job_progress(request: MemberRequest, pk: int) -> HttpResponse:
    """The fragment that is asked for every two seconds while the work goes on."""
    job = _job(request, pk)
    response = render(request, "campaigns/_job.html", _job_context(job))
    if job.status != JobStatus.WORKING:
        response["HX-Refresh"] = "true"
    return response


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def job_cancel(request: MemberRequest, pk: int) -> HttpResponse:
    job = _job(request, pk)
    try:
        jobs.cancel(job)
    except DomainError as exc:
        messages.error(request, str(exc))
    else:
        messages.success(request, _("Stopped. What was done by then stays."))
    return redirect("campaigns:job", pk)


def _total(data: QueryDict, visibility: Visibility) -> int:
    """How many people are meant; 0 when that cannot be said."""
    try:
        source = source_of(data)
        return source.people(visibility).count() if source else 0
    except DomainError:
        return 0


def _groups(campaign: Campaign, data: QueryDict, visibility: Visibility) -> list[tuple[str | Promise, int]]:
    """The sizes of the groups; none when it cannot be said whom is meant."""
    try:
        source = source_of(data)
        if source is None:
            return []
        found = large.overview(campaign, source.people(visibility))
    except DomainError:
        return []
    return [(GROUP_LABELS[group], count) for group, count in reversed(found.groups.items())]


def _job(request: MemberRequest, pk: int) -> CampaignJob:
    """Somebody limited to own people sees only the work they asked for themselves."""
    job = jobs.job_for(pk)
    if Visibility(request.membership).limited and job.created_by_id != request.user.pk:
        raise NotFound(_("There is no such work."))
    return job


def _job_context(job: CampaignJob) -> dict[str, Any]:
    adds = job.kind == JobKind.ENROL
    good = large.added_of(job) if adds else job.counts.get(changing.CHANGED, 0)
    labels: dict[str, str | Promise] = {**GROUP_LABELS, **{str(r): TEXTS[r] for r in Reason}}
    return {
        "job": job,
        "campaign": job.campaign,
        "adds": adds,
        "what": _("Adding people") if adds else TITLES[Operation(job.order["operation"])],
        "good": good,
        "looked_at": large.done_of(job) if adds else job.done,
        "reasons": [(labels[word], n) for word, n in job.counts.items() if word in labels],
        "failure": FAILURES.get(job.error, FAILURES["stopped"]) if job.status == JobStatus.FAILED else "",
    }

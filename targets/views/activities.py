"""What colleagues have to do with people: their list, the tab of a person, and the forms behind both."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core import clock
from core.pagination import paginate
from core.posting import posted
from targets import activities, activity_queries, queries
from targets.activity_forms import USUAL, ActivityFilter, ActivityForm
from targets.models import Activity, Target
from targets.panels import Built
from workspaces.addresses import next_url
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

FORM_METHODS = ["GET", "HEAD", "POST"]
SEES = (Perm.TARGETS_VIEW, Perm.TARGETS_VIEW_OWN)
PANEL_SIZE = 30
TAB = "activities"


@require_safe
@permission_required(*SEES)
def activity_list(request: MemberRequest) -> HttpResponse:
    """The member's own open activities unless another choice is asked for."""
    form = ActivityFilter({**USUAL, **request.GET.dict()}, initial=USUAL)
    now = clock.now()
    rows = activity_queries.narrowed(
        activity_queries.activities(request.membership), **form.wanted(), user=request.user, now=now
    )
    # Ids alone come from the index, however deep the page lies.
    page = paginate(request, rows.values_list("pk", flat=True))
    page.object_list = activity_queries.in_full(page.object_list)
    context = {
        "page": page,
        "filters": form,
        "now": now,
        "can_manage": Perm.ACTIVITIES_MANAGE in request.permissions,
    }
    return render(request, "targets/activities.html", context)


def panel(request: MemberRequest, target: Target) -> Built:
    """The tab of a person's page. Two queries."""
    context: dict[str, Any] = {
        "page": paginate(request, activity_queries.of_target(target), size=PANEL_SIZE),
        "now": clock.now(),
        "can_manage": Perm.ACTIVITIES_MANAGE in request.permissions,
    }
    return "targets/_activities.html", context


@require_http_methods(FORM_METHODS)
@permission_required(Perm.ACTIVITIES_MANAGE)
def create(request: MemberRequest, target_id: int) -> HttpResponse:
    target = queries.target_for(request.membership, target_id)
    tomorrow = timezone.localtime(clock.now()) + timedelta(days=1)
    initial = {"due_at": tomorrow.replace(minute=0, second=0, microsecond=0), "owner": request.user}
    form = ActivityForm(posted(request), workspace_id=request.workspace.pk, initial=initial)
    if request.method == "POST" and form.is_valid():
        activities.create(target, form.values(), done=form.is_done_already, user=request.user)
        messages.success(request, _("The activity was noted down."))
        return redirect(tab_of(target.pk))
    return _form_page(request, form, target)


@require_http_methods(FORM_METHODS)
@permission_required(Perm.ACTIVITIES_MANAGE)
def edit(request: MemberRequest, activity_id: int) -> HttpResponse:
    activity = activity_queries.activity_for(request.membership, activity_id)
    form = ActivityForm(posted(request), workspace_id=request.workspace.pk, initial={}, activity=activity)
    if request.method == "POST" and form.is_valid():
        if activities.change(activity, form.values(), user=request.user):
            messages.success(request, _("The changes were saved."))
        return redirect(tab_of(activity.target_id))
    return _form_page(request, form, activity.target, activity)


def _form_page(
    request: MemberRequest, form: ActivityForm, target: Target, activity: Activity | None = None
) -> HttpResponse:
    context = {"form": form, "target": target, "activity": activity, "back_to": tab_of(target.pk)}
    return render(request, "targets/activity_form.html", context, status=422 if form.is_bound else 200)


@require_POST
@permission_required(Perm.ACTIVITIES_MANAGE)
def done(request: MemberRequest, activity_id: int) -> HttpResponse:
    activity = activity_queries.activity_for(request.membership, activity_id)
    if activities.complete(activity, user=request.user):
        messages.success(request, _("“%(title)s” is done.") % {"title": activity})
    else:
        messages.info(request, _("“%(title)s” was done already.") % {"title": activity})
    return _back(request, activity)


@require_POST
@permission_required(Perm.ACTIVITIES_MANAGE)
def reopen(request: MemberRequest, activity_id: int) -> HttpResponse:
    activity = activity_queries.activity_for(request.membership, activity_id)
    if activities.reopen(activity, user=request.user):
        messages.success(request, _("“%(title)s” is open again.") % {"title": activity})
    return _back(request, activity)


def _back(request: MemberRequest, activity: Activity) -> HttpResponse:
    """To the page that the button stood on, the list or the person."""
    if "next" in request.POST:
        return redirect(next_url(request, "targets:activities"))
    return redirect(tab_of(activity.target_id))


def tab_of(target_id: int) -> str:
    return f"{reverse('targets:detail', args=[target_id])}?tab={TAB}"

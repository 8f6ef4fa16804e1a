"""Lists of people: their page, their forms, and what is done with a selection."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.dates import format_number
from core.errors import Refused
from core.pagination import paginate
from core.posting import posted
from targets import actions, hooks, queries
from targets.filters import TargetFilter
from targets.forms import ListForm, SelectionForm
from targets.models import Target, TargetList
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

FORM_METHODS = ["GET", "HEAD", "POST"]


@require_safe
@permission_required(Perm.TARGETS_VIEW, Perm.TARGETS_VIEW_OWN)
def list_of_lists(request: MemberRequest) -> HttpResponse:
    rows = queries.lists_with_counts(queries.Visibility(request.membership))
    context = {"page": paginate(request, rows), "can_manage": Perm.TARGETS_MANAGE in request.permissions}
    return render(request, "targets/lists.html", context)


@require_http_methods(FORM_METHODS)
@permission_required(Perm.TARGETS_MANAGE)
def create(request: MemberRequest) -> HttpResponse:
    form = ListForm(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            actions.create_list(**form.cleaned_data, user=request.user)
        except Refused as refusal:
            form.add_error("name", str(refusal))
        else:
            messages.success(request, _("The list was created."))
            return redirect("targets:lists")
    return _form_page(request, form, None)


@require_http_methods(FORM_METHODS)
@permission_required(Perm.TARGETS_MANAGE)
def edit(request: MemberRequest, list_id: int) -> HttpResponse:
    found = queries.list_for(list_id)
    form = ListForm(posted(request), found=found)
    if request.method == "POST" and form.is_valid():
        try:
            actions.change_list(found, **form.cleaned_data, user=request.user)
        except Refused as refusal:
            form.add_error("name", str(refusal))
        else:
            messages.success(request, _("The changes were saved."))
            return redirect("targets:lists")
    return _form_page(request, form, queries.list_for(list_id))


def _form_page(request: MemberRequest, form: ListForm, found: TargetList | None) -> HttpResponse:
    status = 422 if form.is_bound else 200
    return render(request, "targets/list_form.html", {"form": form, "found": found}, status=status)


@require_POST
@permission_required(Perm.TARGETS_MANAGE)
def delete(request: MemberRequest, list_id: int) -> HttpResponse:
    actions.delete_list(queries.list_for(list_id), user=request.user)
    messages.success(request, _("The list was deleted; the people on it stay."))
    return redirect("targets:lists")


@require_POST
@permission_required(Perm.TARGETS_MANAGE)
def selection(request: MemberRequest) -> HttpResponse:
    """Do something with the ticked people or with everybody the filter found."""
    back = f"{reverse('targets:list')}?{request.POST.get('query', '')}"
    form = SelectionForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Choose what to do."))
        return redirect(back)
    people = _selected(request, form.cleaned_data["scope"])
    count = people.count()
    if not 0 < count <= actions.MAX_SELECTION:
        messages.error(request, _too_many() if count else _("Nobody is selected."))
        return redirect(back)
    if form.cleaned_data["action"] == "delete":
        return _delete(request, people, count, back)
    found = form.cleaned_data["list"]
    if found is None:
        messages.error(request, _("Choose a list."))
        return redirect(back)
    _change_list(request, form.cleaned_data["action"], found, people)
    return redirect(back)


def _selected(request: MemberRequest, scope: str) -> QuerySet[Target]:
    visible = queries.visible_to(request.membership)
    if scope == "all":
        return TargetFilter(QueryDict(request.POST.get("query", ""))).apply(visible)
    ids = [int(pk) for pk in request.POST.getlist("target") if pk.isdecimal() and len(pk) < 19]
    return visible.filter(pk__in=ids)


def _too_many() -> str:
    return _("At most %(limit)s people can be chosen at once.") % {"limit": _shown(actions.MAX_SELECTION)}


def _shown(count: int) -> str:
    return format_number(count, get_language() or "fa")


def _change_list(request: MemberRequest, action: str, found: TargetList, people: QuerySet[Target]) -> None:
    ids = people.values_list("pk", flat=True)
    if action == "add":
        count = actions.add_to_list(found, ids, user=request.user)
        text = ngettext("%(n)s person was put on “%(name)s”.", "%(n)s people were put on “%(name)s”.", count)
    else:
        count = actions.remove_from_list(found, ids, user=request.user)
        text = ngettext(
            "%(n)s person was taken off “%(name)s”.", "%(n)s people were taken off “%(name)s”.", count
        )
    messages.success(request, text % {"n": _shown(count), "name": found.name})


def _delete(request: MemberRequest, people: QuerySet[Target], count: int, back: str) -> HttpResponse:
    """Asked with the numbers first; the answer posts the same selection once more."""
    if "confirmed" not in request.POST:
        ids = list(people.values_list("pk", flat=True))
        context: dict[str, Any] = {
            "count": count,
            "live": hooks.count_affected(request.workspace.pk, ids),
            "back": back,
            "fields": [(name, value) for name in ("scope", "query") for value in request.POST.getlist(name)],
            "ids": ids if request.POST.get("scope") != "all" else [],
        }
        return render(request, "targets/delete_many.html", context)
    deleted, _stopped = actions.delete_targets(people, user=request.user)
    text = ngettext("%(n)s person was deleted.", "%(n)s people were deleted.", deleted)
    messages.success(request, text % {"n": _shown(deleted)})
    return redirect(back)

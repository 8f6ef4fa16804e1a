"""Pages of the block list."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from blacklist import actions, exporting, queries
from blacklist.forms import AddForm, EntryFilter, ImportForm
from blacklist.importing import import_numbers
from blacklist.models import Channel, Source
from core.dates import format_number
from core.errors import DomainError
from core.pagination import paginate
from core.posting import posted, posted_files
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

VIEW = (Perm.BLACKLIST_VIEW, Perm.BLACKLIST_MANAGE)
ADD_ID = "add_%s"  # the filter above the table has fields of the same names


@require_safe
@permission_required(*VIEW)
def entry_list(request: MemberRequest) -> HttpResponse:
    return _page(request, AddForm(auto_id=ADD_ID))


def _page(request: MemberRequest, add_form: AddForm, *, status: int = 200) -> HttpResponse:
    filters = EntryFilter(request.GET)
    page = paginate(request, queries.entries(**filters.conditions()))
    context = {
        "page": page,
        "filters": filters,
        "is_filtered": bool(filters.conditions()),
        "add_form": add_form,
        "can_manage": Perm.BLACKLIST_MANAGE in request.permissions,
    }
    return render(request, "blacklist/list.html", context, status=status)


@require_POST
@permission_required(Perm.BLACKLIST_MANAGE)
def add(request: MemberRequest) -> HttpResponse:
    """Block what can be read; what cannot comes back in the form with its reasons."""
    form = AddForm(request.POST, auto_id=ADD_ID)
    if not form.is_valid():
        return _page(request, form, status=422)
    result = actions.add(
        workspace_id=request.workspace.pk,
        channel=Channel.SMS,
        values=form.cleaned_data["numbers"],
        source=Source.MANUAL,
        reason=form.cleaned_data["reason"],
        description=form.cleaned_data["description"],
        user=request.user,
    )
    _tell(request, result)
    if not result.invalid:
        return redirect("blacklist:list")
    for wrong in result.invalid:
        form.add_error("numbers", f"\u2068{wrong.raw}\u2069: {wrong.message}")
    form.keep_only([wrong.raw for wrong in result.invalid])
    return _page(request, form, status=422)


def _tell(request: MemberRequest, result: actions.AddResult) -> None:
    if result.changed:
        text = ngettext("%(n)s number was blocked.", "%(n)s numbers were blocked.", result.changed)
        messages.success(request, text % {"n": _shown(result.changed)})
    if result.already:
        count = len(result.already)
        text = ngettext("%(n)s number was blocked already.", "%(n)s numbers were blocked already.", count)
        messages.info(request, text % {"n": _shown(count)})


def _shown(count: int) -> str:
    return format_number(count, get_language() or "fa")


@require_POST
@permission_required(Perm.BLACKLIST_MANAGE)
def deactivate(request: MemberRequest, entry_id: int) -> HttpResponse:
    entry = queries.entry_for(entry_id)
    actions.remove(
        workspace_id=request.workspace.pk, channel=entry.channel, values=[entry.value], user=request.user
    )
    messages.success(
        request, _("The number was unblocked. Stopped executions go on only when resumed by hand.")
    )
    return redirect("blacklist:list")


@require_POST
@permission_required(Perm.BLACKLIST_MANAGE)
def reactivate(request: MemberRequest, entry_id: int) -> HttpResponse:
    entry = queries.entry_for(entry_id)
    actions.reactivate(
        workspace_id=request.workspace.pk, channel=entry.channel, values=[entry.value], user=request.user
    )
    messages.success(request, _("The number is blocked again."))
    return redirect("blacklist:list")


@require_http_methods(["GET", "HEAD", "POST"])
@permission_required(Perm.BLACKLIST_MANAGE)
def import_file(request: MemberRequest) -> HttpResponse:
    """Upload a file of numbers; the answer to the upload is the result."""
    form = ImportForm(posted(request), posted_files(request))
    if request.method != "POST" or not form.is_valid():
        return render(request, "blacklist/import.html", {"form": form}, status=422 if form.is_bound else 200)
    try:
        result = import_numbers(
            form.cleaned_data["file"],
            user=request.user,
            reason=form.cleaned_data["reason"],
            description=form.cleaned_data["description"],
        )
    except DomainError as problem:
        form.add_error("file", str(problem))
        return render(request, "blacklist/import.html", {"form": form}, status=problem.status)
    context = {"form": ImportForm(), "result": result, "file": form.cleaned_data["file"].name}
    return render(request, "blacklist/import.html", context)


@require_safe
@permission_required(*VIEW)
def export(request: MemberRequest, kind: str) -> HttpResponseBase:
    """The entries that the filters leave."""
    return exporting.export(request, EntryFilter(request.GET).conditions(), kind)

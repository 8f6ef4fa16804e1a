"""The list of people, one person's page, and the forms that add, change and remove them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from blacklist import actions as blocking
from blacklist import queries as blocks
from blacklist.models import Channel, Reason, Source
from core.errors import NotFound, Refused
from core.pagination import paginate
from core.posting import posted
from targets import actions, hooks, queries, traits
from targets.filters import TargetFilter
from targets.forms import TargetForm
from targets.models import Target, TargetListMember
from targets.panels import Panel, panels_for
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

FORM_METHODS = ["GET", "HEAD", "POST"]
MORE_FILTERS = ("priority", "province", "city", "owner", "blocked", "number")  # folded away until one is set
SEES = (Perm.TARGETS_VIEW, Perm.TARGETS_VIEW_OWN)


@require_safe
@permission_required(*SEES)
def people_list(request: MemberRequest) -> HttpResponse:
    filters = TargetFilter(request.GET)
    visible = queries.visible_to(request.membership)
    people = filters.apply(visible).select_related("owner").order_by("-pk")
    page = paginate(request, people)
    numbers = [target.mobile for target in page]
    more = [filters[name] for name in MORE_FILTERS]
    context = {
        "more_filters": more,
        "more_is_set": any(field.value() for field in more),
        "page": page,
        "filters": filters,
        "is_filtered": filters.is_valid() and bool(filters.stored()),
        "query": request.GET.urlencode(),
        "blocked": blocks.blocked_values(request.workspace.pk, Channel.SMS, numbers),
        "lists": filters.fields["list"].choices[1:],  # type: ignore[attr-defined]  # read once, for the filter
        "rights": _rights(request),
    }
    return render(request, "targets/list.html", context)


def _rights(request: MemberRequest) -> dict[str, bool]:
    held = request.permissions
    return {
        "manage": Perm.TARGETS_MANAGE in held,
        "import": Perm.TARGETS_IMPORT in held,
        "block": Perm.BLACKLIST_MANAGE in held,
    }


@require_safe
@permission_required(*SEES)
def detail(request: MemberRequest, target_id: int) -> HttpResponse:
    """A person, and the tab that is open: details, or a panel of an app above."""
    target = queries.target_for(request.membership, target_id)
    panels = panels_for(request)
    chosen = next((panel for panel in panels if panel.key == request.GET.get("tab")), None)
    built = chosen.build(request, target) if chosen else None
    if chosen and built is None:
        raise NotFound
    context: dict[str, Any] = {
        "target": target,
        "tabs": _tabs(target, panels, chosen),
        "panel_template": built[0] if built else "",
        "entry": blocks.entry_of(Channel.SMS, target.mobile),
        "rights": _rights(request),
        **_list_choices(target),
        **(built[1] if built else {"traits": _traits(target)}),
    }
    return render(request, "targets/detail.html", context)


def _traits(target: Target) -> list[tuple[str, str]]:
    return [(traits.trait_label(key), traits.shown(value)) for key, value in target.traits.items()]


def _tabs(target: Target, panels: list[Panel], chosen: Panel | None) -> list[dict[str, Any]]:
    """None while no panel is registered: one tab alone is no choice."""
    if not panels:
        return []
    address = reverse("targets:detail", args=[target.pk])
    details = {"label": _("Details"), "url": address, "current": chosen is None}
    return [
        details,
        *({"label": p.label, "url": f"{address}?tab={p.key}", "current": p is chosen} for p in panels),
    ]


def _list_choices(target: Target) -> dict[str, Any]:
    every = list(queries.lists())
    on = set(TargetListMember.objects.filter(target=target).values_list("list_id", flat=True))
    return {
        "on_lists": [found for found in every if found.pk in on],
        "other_lists": [found for found in every if found.pk not in on],
    }


@require_http_methods(FORM_METHODS)
@permission_required(Perm.TARGETS_MANAGE)
def create(request: MemberRequest) -> HttpResponse:
    form = TargetForm(posted(request), workspace_id=request.workspace.pk)
    if request.method == "POST" and form.is_valid():
        try:
            target = actions.create_target(form.values(), user=request.user)
        except Refused as refusal:
            form.add_error(None, str(refusal))
        else:
            messages.success(request, _("The person was added."))
            return redirect("targets:detail", target.pk)
    return _form_page(request, form, None)


@require_http_methods(FORM_METHODS)
@permission_required(Perm.TARGETS_MANAGE)
def edit(request: MemberRequest, target_id: int) -> HttpResponse:
    target = queries.target_for(request.membership, target_id)
    form = TargetForm(posted(request), workspace_id=request.workspace.pk, target=target)
    if request.method == "POST" and form.is_valid():
        try:
            changed = actions.change_target(target, form.values(), user=request.user)
        except Refused as refusal:
            form.add_error(None, str(refusal))
        else:
            if changed:
                messages.success(request, _("The changes were saved."))
            return redirect("targets:detail", target.pk)
    return _form_page(request, form, queries.target_for(request.membership, target_id))


def _form_page(request: MemberRequest, form: TargetForm, target: Target | None) -> HttpResponse:
    context = {"form": form, "target": target, "duplicates": list(form.duplicates.values())}
    return render(request, "targets/form.html", context, status=422 if form.is_bound else 200)


@require_http_methods(FORM_METHODS)
@permission_required(Perm.TARGETS_MANAGE)
def delete(request: MemberRequest, target_id: int) -> HttpResponse:
    """Ask with the number of executions that would end, then remove."""
    target = queries.target_for(request.membership, target_id)
    if request.method != "POST":
        live = hooks.count_affected(request.workspace.pk, [target.pk])
        return render(request, "targets/delete.html", {"target": target, "live": live})
    people = queries.visible_to(request.membership).filter(pk=target.pk)
    actions.delete_targets(people, user=request.user)
    messages.success(request, _("The person was deleted."))
    return redirect("targets:list")


@require_POST
@permission_required(Perm.TARGETS_MANAGE)
def set_list(request: MemberRequest, target_id: int) -> HttpResponse:
    """Put one person on a list, or take them off (`off`)."""
    target = queries.target_for(request.membership, target_id)
    wanted = request.POST.get("list", "")
    if not wanted.isdecimal():
        messages.error(request, _("Choose a list."))
        return redirect("targets:detail", target.pk)
    found = queries.list_for(int(wanted))
    if "off" in request.POST:
        actions.remove_from_list(found, [target.pk], user=request.user)
        messages.success(request, _("Taken off the list “%(name)s”.") % {"name": found.name})
    else:
        actions.add_to_list(found, [target.pk], user=request.user)
        messages.success(request, _("Put on the list “%(name)s”.") % {"name": found.name})
    return redirect("targets:detail", target.pk)


@require_POST
@permission_required(Perm.BLACKLIST_MANAGE)
def block(request: MemberRequest, target_id: int) -> HttpResponse:
    target = _with_mobile(request, target_id)
    blocking.add(
        workspace_id=request.workspace.pk,
        channel=Channel.SMS,
        values=[target.mobile],
        source=Source.MANUAL,
        reason=Reason.MANUAL,
        user=request.user,
    )
    messages.success(request, _("The number is blocked: nothing is sent to it any more."))
    return redirect("targets:detail", target.pk)


@require_POST
@permission_required(Perm.BLACKLIST_MANAGE)
def unblock(request: MemberRequest, target_id: int) -> HttpResponse:
    target = _with_mobile(request, target_id)
    values = [target.mobile]
    blocking.remove(workspace_id=request.workspace.pk, channel=Channel.SMS, values=values, user=request.user)
    messages.success(
        request, _("The number was unblocked. Stopped executions go on only when resumed by hand.")
    )
    return redirect("targets:detail", target.pk)


def _with_mobile(request: MemberRequest, target_id: int) -> Target:
    target = queries.target_for(request.membership, target_id)
    if not target.mobile:
        raise Refused(_("This person has no mobile number."), code="no_mobile")
    return target

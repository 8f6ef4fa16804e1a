"""Settings of a workspace, its members and its audit log."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.errors import DomainError
from core.pagination import paginate
from workspaces import actions, audit_page, invitations, queries
from workspaces.decorators import permission_required
from workspaces.forms import MemberForm, RoleForm, WorkspaceForm
from workspaces.http import MemberRequest
from workspaces.models import Role, Workspace
from workspaces.permissions import Perm

FORM_METHODS = ["GET", "HEAD", "POST"]


@require_http_methods(FORM_METHODS)
@permission_required(Perm.WORKSPACE_MANAGE)
def settings(request: MemberRequest) -> HttpResponse:
    workspace = Workspace.objects.get(pk=request.workspace.pk)  # the form writes on its instance
    form = WorkspaceForm(request.POST or None, instance=workspace)
    if request.method == "POST" and form.is_valid():
        if actions.change_workspace(request.workspace, values=form.cleaned_data, user=request.user):
            messages.success(request, _("The settings were saved."))
        return redirect("workspaces:settings")
    return render(request, "workspaces/settings.html", {"form": form}, status=422 if form.is_bound else 200)


@require_safe
@permission_required(Perm.WORKSPACE_MEMBERS)
def members(request: MemberRequest) -> HttpResponse:
    return _members_page(request, MemberForm(initial={"role": Role.MARKETER}))


@never_cache
@require_POST
@permission_required(Perm.WORKSPACE_MEMBERS)
def member_add(request: MemberRequest) -> HttpResponse:
    """Add a person; somebody new gets a link, which this answer shows and nothing keeps."""
    form = MemberForm(request.POST)
    if not form.is_valid():
        return _members_page(request, form, status=422)
    try:
        added = actions.add_member(request.workspace, by=request.membership, **form.cleaned_data)
    except DomainError as exc:
        form.add_error(None, str(exc))
        return _members_page(request, form, status=exc.status)
    if added.is_new:
        link = invitations.link_for(request, added.membership.user)
        return _members_page(request, MemberForm(), invited=added.membership.user, link=link)
    messages.success(request, _("The member was added."))
    return redirect("workspaces:members")


@require_POST
@permission_required(Perm.WORKSPACE_MEMBERS)
def member_role(request: MemberRequest, pk: int) -> HttpResponse:
    membership = queries.member_for(request.workspace, pk)
    form = RoleForm(request.POST)
    if not form.is_valid():
        return _members_page(request, MemberForm(), refusal=_("There is no such role."), status=422)
    try:
        actions.change_role(membership, role=form.cleaned_data["role"], by=request.membership)
    except DomainError as exc:
        return _members_page(request, MemberForm(), refusal=str(exc), status=exc.status)
    messages.success(request, _("The role was changed."))
    return redirect("workspaces:members")


@require_POST
@permission_required(Perm.WORKSPACE_MEMBERS)
def member_remove(request: MemberRequest, pk: int) -> HttpResponse:
    membership = queries.member_for(request.workspace, pk)
    try:
        actions.remove_member(membership, by=request.membership)
    except DomainError as exc:
        return _members_page(request, MemberForm(), refusal=str(exc), status=exc.status)
    messages.success(request, _("The member was removed."))
    return redirect("workspaces:members")


@never_cache
@require_POST
@permission_required(Perm.WORKSPACE_MEMBERS)
def member_invite(request: MemberRequest, pk: int) -> HttpResponse:
    """Show the link of somebody who has not set a password yet once more."""
    membership = queries.member_for(request.workspace, pk)
    try:
        person = actions.renew_invitation(membership, by=request.membership)
    except DomainError as exc:
        return _members_page(request, MemberForm(), refusal=str(exc), status=exc.status)
    return _members_page(request, MemberForm(), invited=person, link=invitations.link_for(request, person))


@require_safe
@permission_required(Perm.WORKSPACE_AUDIT)
def audit_log(request: MemberRequest) -> HttpResponse:
    form, rows, _chosen = audit_page.chosen(request)
    page = paginate(request, rows)
    context = {"form": form, "page": page, "lines": [audit_page.line(row) for row in page]}
    return render(request, "workspaces/audit_log.html", context)


def _members_page(
    request: MemberRequest, form: MemberForm, *, status: int = 200, **extra: object
) -> HttpResponse:
    """The list with the form to add somebody. `extra`: an invitation's link, or why something was refused."""
    is_owner = request.membership.role == Role.OWNER
    roles = [(value, label) for value, label in Role.choices if is_owner or value != Role.OWNER]
    form.offer_roles(roles)
    context = {
        "form": form,
        "page": paginate(request, queries.members_of(request.workspace)),
        "roles": roles,
        "is_owner": is_owner,
        **extra,
    }
    return render(request, "workspaces/members.html", context, status=status)

"""The buttons of a single version."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from automation import archiving
from automation.builder import queries
from core.errors import Refused
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


@require_POST
@permission_required(Perm.WORKFLOWS_MANAGE)
def archive(request: MemberRequest, pk: int, number: int) -> HttpResponse:
    try:
        archiving.archive_version(queries.workflow_for(pk), number, user=request.user)
    except Refused as exc:
        messages.error(request, str(exc))
    else:
        messages.success(request, _("The version is in the archive."))
    return redirect("automation:version", pk, number)


@require_POST
@permission_required(Perm.WORKFLOWS_MANAGE)
def restore(request: MemberRequest, pk: int, number: int) -> HttpResponse:
    try:
        archiving.restore_version(queries.workflow_for(pk), number, user=request.user)
    except Refused as exc:
        messages.error(request, str(exc))
    else:
        messages.success(request, _("The version is back from the archive."))
    return redirect("automation:version", pk, number)

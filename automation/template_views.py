"""A workspace's own templates, and who changed what in a workflow."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from automation import own_templates
from automation.builder import queries
from automation.checking import check
from automation.models.definition import VersionStatus, Workflow
from automation.publishing import load_definition
from core.dates import format_number
from core.errors import Invalid
from core.pagination import paginate
from workspaces import audit_page
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.models import AuditRecord
from workspaces.permissions import Perm


@require_POST
@permission_required(Perm.WORKFLOWS_MANAGE)
def save(request: MemberRequest, pk: int, number: int) -> HttpResponse:
    """Save a version as a template."""
    workflow = queries.workflow_for(pk)
    version = queries.version_for(workflow, number)
    definition = load_definition(version)
    try:
        own_templates.save_as_template(
            definition,
            version=version.version_number,
            name=request.POST.get("name", "")[:1000],
            description=request.POST.get("description", "")[:4000],
            user=request.user,
        )
    except Invalid as exc:
        messages.error(request, str(exc))
    else:
        messages.success(request, _("Saved as a template. It is offered for new workflows."))
        if version.status == VersionStatus.DRAFT:
            _tell_problems(request, len(check(definition, workflow.kind).problems))
    return redirect("automation:version", pk, number)


def _tell_problems(request: MemberRequest, count: int) -> None:
    """A draft may be saved as it is; whoever begins with the template mends the same things."""
    if count:
        text = ngettext(
            "The draft has %(n)s problem, and so has every workflow that begins with this template.",
            "The draft has %(n)s problems, and so has every workflow that begins with this template.",
            count,
        )
        messages.warning(request, text % {"n": format_number(count, get_language() or "fa")})


@require_POST
@permission_required(Perm.WORKFLOWS_MANAGE)
def remove(request: MemberRequest, pk: int) -> HttpResponse:
    own_templates.remove(own_templates.template_for(pk), user=request.user)
    messages.success(request, _("The template is gone. Workflows made from it stay as they are."))
    return redirect("automation:create")


@require_safe
@permission_required(Perm.WORKSPACE_AUDIT)
def history(request: MemberRequest, pk: int) -> HttpResponse:
    """Every change of one workflow and its drafts, newest first: texts with their old and new wording."""
    workflow = queries.workflow_for(pk)
    rows = AuditRecord.objects.filter(entity_type=Workflow._meta.label_lower, entity_id=str(pk))
    page = paginate(request, rows.select_related("user").order_by("-id"))
    lines = [audit_page.line(row) for row in page]
    context = {"workflow": workflow, "page": page, "lines": lines}
    return render(request, "automation/workflows/history.html", context)

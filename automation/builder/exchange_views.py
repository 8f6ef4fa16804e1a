"""Downloading a workflow as a file, and reading one into the draft."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from automation.builder import drafts, queries
from automation.builder.claiming import Base
from automation.builder.exchange import MAX_BYTES, file_name, read_file, write_file
from automation.views import FORM_METHODS
from core.errors import DomainError, Invalid, NotFound
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


class FileForm(forms.Form):
    base = forms.CharField(widget=forms.HiddenInput, required=False)
    file = forms.FileField(
        label=gettext_lazy("Workflow file"),
        max_length=200,
        help_text=gettext_lazy("A .json file that was downloaded here or in another workspace."),
        widget=forms.FileInput(attrs={"accept": ".json,application/json"}),
    )


@require_safe
@permission_required(Perm.WORKFLOWS_VIEW)
def export(_request: MemberRequest, pk: int) -> HttpResponse:
    """The draft as a file; without a draft the published version."""
    workflow = queries.workflow_for(pk)
    version = queries.draft_of(workflow) or workflow.published_version
    if version is None:
        raise NotFound(_("There is nothing to download yet."))
    response = HttpResponse(write_file(workflow, version), content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{file_name(workflow)}"'
    return response


@require_http_methods(FORM_METHODS)
@permission_required(Perm.WORKFLOWS_MANAGE)
def read_in(request: MemberRequest, pk: int) -> HttpResponse:
    """Replace the draft by a file. What could not be mapped is listed; undo brings the old draft back."""
    workflow = queries.workflow_for(pk)
    draft = queries.draft_of(workflow)
    if draft is None:
        raise NotFound(_("There is no draft any more: it was published."))
    bound = request.method == "POST"
    form = FileForm(
        request.POST if bound else None,
        request.FILES if bound else None,
        initial={"base": str(Base.of(draft))},
    )
    context: dict[str, Any] = {"workflow": workflow, "draft": draft, "form": form}
    status = 200
    if bound and form.is_valid():
        upload = form.cleaned_data["file"]
        try:
            arrived = read_file(upload.read(MAX_BYTES + 1), kind=workflow.kind)
            drafts.replace_definition(
                workflow,
                base=Base.parse(form.cleaned_data["base"]),
                definition=arrived.definition,
                user=request.user,
                source=upload.name or "",
            )
        except DomainError as exc:
            form.add_error("file", str(exc))
            reasons = exc.problems if isinstance(exc, Invalid) else []
            context["reasons"], status = list(dict.fromkeys(reasons))[:20], exc.status
        else:
            if not arrived.unmapped:
                messages.success(request, _("The file was read in. Undo brings the old draft back."))
                return redirect("automation:builder", pk)
            context["arrived"] = arrived
    elif bound:
        status = 422
    return render(request, "automation/workflows/read_in.html", context, status=status)

"""The builder of a draft: the page with the step list, and the settings."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from automation.builder import drafts, queries, step_numbers
from automation.builder.claiming import Base, StaleDraft
from automation.builder.journey_settings import JourneySettingsForm
from automation.builder.region import region_context
from automation.forms import SettingsForm
from automation.models.definition import Workflow, WorkflowKind, WorkflowStatus, WorkflowVersion
from automation.views import FORM_METHODS, rights
from core.errors import NotFound
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


@require_safe
@permission_required(Perm.WORKFLOWS_MANAGE)
def overview(request: MemberRequest, pk: int) -> HttpResponse:
    """The draft as a list of steps; without a draft, an offer to make one."""
    return overview_page(request, queries.workflow_for(pk))


def overview_page(
    request: MemberRequest, workflow: Workflow, *, refusal: str = "", status: int = 200, view: str = ""
) -> HttpResponse:
    """`view`: what is shown first, "list" or "chart"; "" is both where there is room."""
    draft = queries.draft_of(workflow)
    context: dict[str, Any] = {"workflow": workflow, "refusal": refusal, "can": rights(request)}
    if draft is None or workflow.status == WorkflowStatus.ARCHIVED:
        return render(request, "automation/workflows/no_draft.html", context, status=status)
    context |= region_context(request, workflow, draft)
    context |= {"view": view, "choices": step_numbers.choices(request, workflow)}
    return render(request, "automation/workflows/builder.html", context, status=status)


@require_safe
@permission_required(Perm.WORKFLOWS_MANAGE)
def canvas(request: MemberRequest, pk: int) -> HttpResponse:
    """The same page with the chart chosen instead of the list."""
    return overview_page(request, queries.workflow_for(pk), view="chart")


@require_safe
@permission_required(Perm.WORKFLOWS_MANAGE)
def region(request: MemberRequest, pk: int) -> HttpResponse:
    """The fragment with problems and steps, as the draft is now."""
    workflow = queries.workflow_for(pk)
    context = region_context(request, workflow, _draft(workflow))
    return render(request, "automation/workflows/_draft.html", context)


@require_http_methods(FORM_METHODS)
@permission_required(Perm.WORKFLOWS_MANAGE)
def settings(request: MemberRequest, pk: int) -> HttpResponse:
    workflow = queries.workflow_for(pk)
    draft = _draft(workflow)
    form = _settings_form(request, draft, request.POST or None)
    stale, status = "", 422 if form.is_bound else 200
    if request.method == "POST" and request.POST.get("edit") and isinstance(form, JourneySettingsForm):
        return _with_questions(request, workflow, draft, form)
    if request.method == "POST" and form.is_valid():
        base = Base.parse(form.cleaned_data["base"])
        try:
            drafts.save_settings(workflow, base=base, settings=form.settings(), user=request.user)
        except StaleDraft as exc:
            stale, status = str(exc), exc.status
            draft = _draft(workflow)
            form = _settings_form(request, draft, _rebased(request.POST, draft))
        else:
            messages.success(request, _("Saved."))
            return redirect("automation:builder", pk)
    context = {"workflow": workflow, "draft": draft, "form": form, "stale": stale}
    return render(request, "automation/workflows/settings.html", context, status=status)


def _with_questions(
    request: MemberRequest, workflow: Workflow, draft: WorkflowVersion, form: JourneySettingsForm
) -> HttpResponse:
    """The questions about leaving drawn anew; nothing is saved before the button at the end."""
    form.edit(request.POST["edit"])
    context = {"workflow": workflow, "draft": draft, "form": form}
    is_fragment = request.headers.get("HX-Request") == "true"
    template = "_exit_criteria.html" if is_fragment else "settings.html"
    return render(request, f"automation/workflows/{template}", context)


def _draft(workflow: Workflow) -> WorkflowVersion:
    draft = queries.draft_of(workflow)
    if draft is None:
        raise NotFound(_("There is no draft any more: it was published."))
    return draft


def _rebased(typed: QueryDict, draft: WorkflowVersion) -> QueryDict:
    """What was typed, to be saved over the draft as it is now if the person presses save again."""
    data = typed.copy()
    data["base"] = str(Base.of(draft))
    return data


def _settings_form(request: MemberRequest, draft: WorkflowVersion, data: QueryDict | None) -> SettingsForm:
    kind = JourneySettingsForm if draft.workflow.kind == WorkflowKind.JOURNEY else SettingsForm
    return kind(data, settings=draft.settings, base=Base.of(draft), timezone=request.workspace.timezone)

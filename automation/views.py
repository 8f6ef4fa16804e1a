"""The workflow pages: the list, one workflow with its versions, and what becomes of them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from automation import catalogue, own_templates, publishing
from automation.builder import queries, step_numbers
from automation.builder.differences import differences
from automation.builder.steps import Drawing, draw
from automation.checking import Report, check
from automation.forms import CreateForm, NameForm, PublishForm, WorkflowFilter
from automation.models.definition import VersionStatus, Workflow, WorkflowVersion
from automation.publish_contract import contract_of
from core.errors import DomainError, Invalid, NotFound, Refused
from core.pagination import paginate
from core.text import to_latin_digits
from engine.types import Definition
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm, has_perm

FORM_METHODS = ["GET", "HEAD", "POST"]
SHOWN_CAMPAIGNS = 20


@require_safe
@permission_required(Perm.WORKFLOWS_VIEW)
def workflow_list(request: MemberRequest) -> HttpResponse:
    form = WorkflowFilter(request.GET, categories=queries.categories())
    rows = queries.workflows(status=form.value("status"), category=form.value("category"))
    context = {"page": paginate(request, rows), "form": form, "can": rights(request)}
    return render(request, "automation/workflows/list.html", context)


@require_http_methods(FORM_METHODS)
@permission_required(Perm.WORKFLOWS_MANAGE)
def create(request: MemberRequest) -> HttpResponse:
    wanted = request.GET.get("template", catalogue.BUILT_IN[0].key)
    form = CreateForm(request.POST or None, initial={"template": wanted})
    if request.method == "POST" and form.is_valid():
        try:
            workflow = publishing.create_workflow(
                name=form.cleaned_data["name"],
                description=form.cleaned_data["description"],
                template_key=form.cleaned_data["template"] or None,
                user=request.user,
            )
        except Invalid as exc:
            form.add_error(None, str(exc))
        else:
            messages.success(request, _("The workflow was created."))
            return redirect("automation:builder", workflow.pk)
    own = own_templates.all_templates()
    context = {
        "form": form,
        "descriptions": {template.key: template.description for template in catalogue.BUILT_IN}
        | {own_templates.key_of(template): template.description for template in own},
        "own": own,
    }
    return render(request, "automation/workflows/create.html", context, status=_status(form))


@require_safe
@permission_required(Perm.WORKFLOWS_VIEW)
def detail(request: MemberRequest, pk: int) -> HttpResponse:
    return detail_page(request, queries.workflow_for(pk))


def detail_page(
    request: MemberRequest, workflow: Workflow, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    """The page of one workflow; `refusal` says on top why something was not done."""
    versions = queries.versions_of(workflow)
    draft = next((v for v in versions if v.status == VersionStatus.DRAFT), None)
    shown = workflow.published_version or draft
    loaded = {row.pk: publishing.load_definition(row) for row in {shown, draft} if row is not None}
    report = check(loaded[draft.pk], workflow.kind) if draft else None
    context: dict[str, Any] = {
        "workflow": workflow,
        "versions": versions,
        "draft": draft,
        "report": report,
        "shown": shown,
        "drawing": _drawing(request, loaded[shown.pk], report if shown is draft else None) if shown else None,
        "campaigns": _campaigns(request, workflow),
        "publish_form": PublishForm(),
        "contract": contract_of(workflow, draft, request.workspace.timezone, loaded) if draft else None,
        "refusal": refusal,
        "can": rights(request),
    }
    return render(request, "automation/workflows/detail.html", context, status=status)


@require_http_methods(FORM_METHODS)
@permission_required(Perm.WORKFLOWS_MANAGE)
def rename(request: MemberRequest, pk: int) -> HttpResponse:
    workflow = queries.workflow_for(pk)
    initial = {"name": workflow.name, "description": workflow.description}
    form = NameForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            publishing.rename(workflow, user=request.user, **form.cleaned_data)
        except Invalid as exc:
            form.add_error("name", str(exc))
        else:
            messages.success(request, _("Saved."))
            return redirect("automation:detail", pk)
    context = {"workflow": workflow, "form": form}
    return render(request, "automation/workflows/name.html", context, status=_status(form))


@require_safe
@permission_required(Perm.WORKFLOWS_VIEW)
def version(request: MemberRequest, pk: int, number: int) -> HttpResponse:
    """One version read-only, and what changed since the one before it (`?against=`: since another)."""
    workflow = queries.workflow_for(pk)
    versions = queries.versions_of(workflow)
    this = queries.version_for(workflow, number)
    other = _other(versions, number, request.GET.get("against", ""))
    definition = publishing.load_definition(this)
    zone = request.workspace.timezone
    changes = differences(publishing.load_definition(other), definition, timezone=zone) if other else None
    context = {
        "workflow": workflow,
        "version": this,
        "others": [v for v in versions if v.version_number != number],
        "other": other,
        "changes": changes,
        "settings_changed": other is not None and other.settings != this.settings,
        "drawing": draw(definition, timezone=zone),
        "choices": step_numbers.choices(request, workflow, version=number),
        "report": check(definition, workflow.kind) if this.status == VersionStatus.DRAFT else None,
    }
    return render(request, "automation/workflows/version.html", context)


@require_POST
@permission_required(Perm.WORKFLOWS_MANAGE)
def new_draft(request: MemberRequest, pk: int) -> HttpResponse:
    workflow = queries.workflow_for(pk)
    try:
        publishing.new_draft(workflow, request.user)
    except Refused as exc:
        if exc.code != "draft_exists":
            return detail_page(request, workflow, refusal=str(exc), status=exc.status)
    return redirect("automation:builder", pk)


@require_safe
@permission_required(Perm.WORKFLOWS_VIEW)
def publish_plan(request: MemberRequest, pk: int) -> HttpResponse:
    """What publishing the draft would mean: for whom, on which step, and which texts differ."""
    workflow = queries.workflow_for(pk)
    draft = queries.draft_of(workflow)
    if draft is None:
        raise NotFound(_("There is no draft to publish."))
    loaded = {draft.pk: publishing.load_definition(draft)}
    context = {
        "workflow": workflow,
        "draft": draft,
        "report": check(loaded[draft.pk], workflow.kind),
        "contract": contract_of(workflow, draft, request.workspace.timezone, loaded),
        "publish_form": PublishForm(),
        "can": rights(request),
    }
    return render(request, "automation/workflows/publish.html", context)


@require_POST
@permission_required(Perm.WORKFLOWS_PUBLISH)
def publish(request: MemberRequest, pk: int) -> HttpResponse:
    workflow = queries.workflow_for(pk)
    form = PublishForm(request.POST)
    note = form.cleaned_data["note"] if form.is_valid() else ""
    try:
        publishing.publish(workflow, user=request.user, note=note)
    except DomainError as exc:
        return detail_page(request, workflow, refusal=str(exc), status=exc.status)
    messages.success(request, _("The workflow is published. New campaigns use this version."))
    return redirect("automation:detail", pk)


@require_POST
@permission_required(Perm.WORKFLOWS_MANAGE)
def archive(request: MemberRequest, pk: int) -> HttpResponse:
    workflow = queries.workflow_for(pk)
    try:
        publishing.archive(workflow, user=request.user)
    except DomainError as exc:
        return detail_page(request, workflow, refusal=str(exc), status=exc.status)
    messages.success(request, _("The workflow is in the archive."))
    return redirect("automation:list")


@require_POST
@permission_required(Perm.WORKFLOWS_MANAGE)
def restore(request: MemberRequest, pk: int) -> HttpResponse:
    workflow = queries.workflow_for(pk)
    try:
        publishing.restore(workflow, user=request.user)
    except DomainError as exc:
        return detail_page(request, workflow, refusal=str(exc), status=exc.status)
    messages.success(request, _("The workflow is back from the archive."))
    return redirect("automation:detail", pk)


def rights(request: MemberRequest) -> dict[str, bool]:
    """What the buttons of a page depend on."""
    return {
        "manage": has_perm(request.permissions, Perm.WORKFLOWS_MANAGE),
        "publish": has_perm(request.permissions, Perm.WORKFLOWS_PUBLISH),
        "campaigns": has_perm(request.permissions, Perm.CAMPAIGNS_VIEW),
    }


def _status(form: Any) -> int:
    return 422 if form.is_bound else 200


def _drawing(request: MemberRequest, shown: Definition, report: Report | None) -> Drawing:
    found = (report.problems, report.warnings) if report else ((), ())
    return draw(
        shown,
        timezone=request.workspace.timezone,
        problems=found[0],
        warnings=found[1],
    )


def _campaigns(request: MemberRequest, workflow: Workflow) -> list[dict[str, Any]]:
    """The newest campaigns that use it, with their address when the campaign pages are there."""
    if not has_perm(request.permissions, Perm.CAMPAIGNS_VIEW):
        return []
    rows = workflow.campaigns.filter(deleted_at__isnull=True).order_by("-id")
    rows = rows.select_related("workflow_version")[:SHOWN_CAMPAIGNS]
    return [{"row": row, "url": _address("campaigns:detail", row.pk)} for row in rows]


def _address(name: str, pk: int) -> str:
    try:
        return reverse(name, args=[pk])
    except NoReverseMatch:
        return ""


def _other(versions: list[WorkflowVersion], number: int, wanted: str) -> WorkflowVersion | None:
    by_number = {v.version_number: v for v in versions}
    chosen = to_latin_digits(wanted)
    if chosen.isdigit() and int(chosen[:9]) in by_number and int(chosen[:9]) != number:
        return by_number[int(chosen[:9])]
    return by_number.get(number - 1)

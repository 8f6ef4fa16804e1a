"""The pages that change a draft: the step list, one page a step, the settings, and the live preview."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from automation import registry
from automation.action_specs import send_sms
from automation.builder import drafts, queries
from automation.builder.describing import describe
from automation.builder.drafts import Base, StaleDraft
from automation.builder.message_text import direction
from automation.builder.preview import picker, preview
from automation.builder.step_forms import StepForm, step_form
from automation.builder.steps import draw, draw_card, kind_label
from automation.checking import check, node_names
from automation.forms import PublishForm, SettingsForm
from automation.models.definition import Workflow, WorkflowStatus, WorkflowVersion
from automation.publishing import load_definition
from automation.views import FORM_METHODS, rights
from core.errors import DomainError, NotFound
from engine.retry import DEFAULT_RULE, RetryRule, parse_retry
from engine.types import NodeSpec
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


@require_safe
@permission_required(Perm.WORKFLOWS_MANAGE)
def overview(request: MemberRequest, pk: int) -> HttpResponse:
    """The draft as a list of steps; without a draft, an offer to make one."""
    return overview_page(request, queries.workflow_for(pk))


def overview_page(
    request: MemberRequest, workflow: Workflow, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    draft = queries.draft_of(workflow)
    context: dict[str, Any] = {"workflow": workflow, "refusal": refusal, "can": rights(request)}
    if draft is None or workflow.status == WorkflowStatus.ARCHIVED:
        return render(request, "automation/workflows/no_draft.html", context, status=status)
    definition = load_definition(draft)
    report = check(definition)
    drawing = draw(
        definition,
        timezone=request.workspace.timezone,
        problems=report.problems,
        warnings=report.warnings,
    )
    context |= {
        "draft": draft,
        "base": Base.of(draft),
        "report": report,
        "drawing": drawing,
        "publish_form": PublishForm(),
        "actions": registry.actions(),
    }
    return render(request, "automation/workflows/builder.html", context, status=status)


@require_http_methods(FORM_METHODS)
@permission_required(Perm.WORKFLOWS_MANAGE)
def step(request: MemberRequest, pk: int, key: str) -> HttpResponse:
    """One step of the draft.

    A change made on an older state of the draft is not saved: the 409 page keeps what was typed.
    """
    workflow = queries.workflow_for(pk)
    draft = queries.draft_of(workflow)
    node = _node(draft, key)
    if draft is None or node is None:
        if request.method == "POST":
            return _lost(request, workflow)
        raise NotFound(_("This step does not exist any more."))
    form = _form(draft, node, request.POST or None)
    if request.method != "POST":
        return _step_page(request, workflow, draft, node, form)
    if not form.is_valid():
        return _step_page(request, workflow, draft, node, form, status=422)
    try:
        _save(request, workflow, node, form)
    except StaleDraft as exc:
        return _conflict(request, workflow, key, str(exc))
    except DomainError as exc:
        form.add_error(None, str(exc))
        return _step_page(request, workflow, draft, node, form, status=exc.status)
    messages.success(request, _("Saved."))
    return redirect(f"{reverse('automation:builder', args=[pk])}#step-{key}")


@require_http_methods(FORM_METHODS)
@permission_required(Perm.WORKFLOWS_MANAGE)
def settings(request: MemberRequest, pk: int) -> HttpResponse:
    workflow = queries.workflow_for(pk)
    draft = _draft(workflow)
    form = _settings_form(request, draft, request.POST or None)
    stale, status = "", 422 if form.is_bound else 200
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


@require_POST
@permission_required(Perm.WORKFLOWS_MANAGE)
def add(request: MemberRequest, pk: int) -> HttpResponse:
    """Put a new step behind another one and open it."""
    workflow = queries.workflow_for(pk)
    try:
        node = drafts.add_step(
            workflow,
            base=Base.parse(request.POST.get("base", "")),
            source=request.POST.get("source", ""),
            port=request.POST.get("port", ""),
            kind=request.POST.get("kind", ""),
            user=request.user,
        )
    except DomainError as exc:
        return overview_page(request, workflow, refusal=str(exc), status=exc.status)
    messages.success(request, _("The step was added."))
    return redirect("automation:step", pk, node.node_key)


@require_POST
@permission_required(Perm.WORKFLOWS_MANAGE)
def remove(request: MemberRequest, pk: int, key: str) -> HttpResponse:
    workflow = queries.workflow_for(pk)
    try:
        drafts.remove_step(workflow, key, base=Base.parse(request.POST.get("base", "")), user=request.user)
    except DomainError as exc:
        return overview_page(request, workflow, refusal=str(exc), status=exc.status)
    messages.success(request, _("The step was removed."))
    return redirect("automation:builder", pk)


@require_POST
@permission_required(Perm.WORKFLOWS_MANAGE)
def preview_text(request: MemberRequest) -> HttpResponse:
    """The fragment beside the text box: the message for a made-up person."""
    shown = preview(
        request.POST.get("body", "")[: send_sms.MAX_BODY],
        workspace=request.workspace,
        append_opt_out=bool(request.POST.get("append_opt_out")),
    )
    context = {"preview": shown, "blank": request.POST.get("on_missing_variable") == "send_blank"}
    return render(request, "automation/workflows/_preview.html", context)


def _draft(workflow: Workflow) -> WorkflowVersion:
    draft = queries.draft_of(workflow)
    if draft is None:
        raise NotFound(_("There is no draft any more: it was published."))
    return draft


def _node(draft: WorkflowVersion | None, key: str) -> NodeSpec | None:
    nodes = load_definition(draft).nodes if draft else ()
    return next((node for node in nodes if node.key == key), None)


def _form(draft: WorkflowVersion, node: NodeSpec, data: QueryDict | None) -> StepForm:
    rule = parse_retry(draft.settings.get("retry"))
    extra: dict[str, Any] = {"retry": rule if isinstance(rule, RetryRule) else DEFAULT_RULE}
    if node.subtype == send_sms.SUBTYPE:
        extra["lines"] = send_sms.lines(node.config)
    return step_form(node)(data, node=node, base=Base.of(draft), **extra)


def _save(request: MemberRequest, workflow: Workflow, node: NodeSpec, form: StepForm) -> None:
    drafts.save_step(
        workflow,
        node.key,
        base=Base.parse(form.cleaned_data["base"]),
        name=form.cleaned_data["name"],
        config=form.config(),
        is_enabled=form.is_on(),
        user=request.user,
    )


def _rebased(typed: QueryDict, draft: WorkflowVersion) -> QueryDict:
    """What was typed, to be saved over the draft as it is now if the person presses save again."""
    data = typed.copy()
    data["base"] = str(Base.of(draft))
    return data


def _conflict(request: MemberRequest, workflow: Workflow, key: str, why: str) -> HttpResponse:
    draft = queries.draft_of(workflow)
    node = _node(draft, key)
    if draft is None or node is None:
        return _lost(request, workflow)
    form = _form(draft, node, _rebased(request.POST, draft))
    form.is_valid()
    return _step_page(request, workflow, draft, node, form, stale=why, status=409)


def _lost(request: MemberRequest, workflow: Workflow) -> HttpResponse:
    """The step or the whole draft is gone: the text that was typed is shown, to be copied."""
    context = {
        "workflow": workflow,
        "name": request.POST.get("name", ""),
        "body": request.POST.get("body", ""),
        "direction": direction(request.POST.get("body", "")),
        "draft": queries.draft_of(workflow),
    }
    return render(request, "automation/workflows/lost.html", context, status=409)


def _step_page(
    request: MemberRequest,
    workflow: Workflow,
    draft: WorkflowVersion,
    node: NodeSpec,
    form: StepForm,
    *,
    stale: str = "",
    status: int = 200,
) -> HttpResponse:
    definition = load_definition(draft)
    report = check(definition)
    zone = request.workspace.timezone
    drawing = draw(definition, timezone=zone)
    context: dict[str, Any] = {
        "workflow": workflow,
        "draft": draft,
        "node": node,
        "form": form,
        "title": node.name or kind_label(node),
        "problems": [finding for finding in report.problems if finding.node == node.key],
        "warnings": [finding for finding in report.warnings if finding.node == node.key],
        "drawing": drawing,
        "description": "" if form.has_switch else describe(node, node_names(definition), zone),
        "stale": stale,
        "stored": draw_card(definition, node.key, zone) if stale else None,
        "is_message": node.subtype == send_sms.SUBTYPE,
    }
    if node.subtype == send_sms.SUBTYPE:
        context |= _message_context(request, form)
    return render(request, "automation/workflows/step.html", context, status=status)


def _message_context(request: MemberRequest, form: StepForm) -> dict[str, Any]:
    body, opt_out = form["body"].value() or "", bool(form["append_opt_out"].value())
    return {
        "preview": preview(str(body), workspace=request.workspace, append_opt_out=opt_out),
        "blank": form["on_missing_variable"].value() == "send_blank",
        "variables": picker(registry.variables()),
    }


def _settings_form(request: MemberRequest, draft: WorkflowVersion, data: QueryDict | None) -> SettingsForm:
    return SettingsForm(
        data, settings=draft.settings, base=Base.of(draft), timezone=request.workspace.timezone
    )

"""The addresses of one step of a draft: its page, saved as it is typed, and the preview of a message."""

from __future__ import annotations

import json

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from automation.action_specs import send_sms
from automation.builder import drafts, queries
from automation.builder.claiming import Base, StaleDraft
from automation.builder.message_text import direction
from automation.builder.people import chosen_person
from automation.builder.preview import preview
from automation.builder.step_forms import StepForm
from automation.builder.step_page import StepPage
from automation.models.definition import Workflow
from automation.publishing import load_definition
from automation.views import FORM_METHODS
from core.errors import DomainError, NotFound
from engine.types import Definition, NodeSpec
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


@require_http_methods(FORM_METHODS)
@permission_required(Perm.WORKFLOWS_MANAGE)
def step(request: MemberRequest, pk: int, key: str) -> HttpResponse:
    """One step of the draft: the whole page, or in answer to a fragment request what became of a change.

    A change made on an older state of the draft is not saved: 409 keeps what was typed.
    """
    workflow = queries.workflow_for(pk)
    draft = queries.draft_of(workflow)
    definition = load_definition(draft) if draft else None
    node = _node(definition, key)
    if draft is None or definition is None or node is None:
        if request.method == "POST":
            return _lost(request, workflow)
        raise NotFound(_("This step does not exist any more."))
    page = StepPage(request=request, workflow=workflow, draft=draft, definition=definition, node=node)
    if request.method != "POST":
        return page.show(page.form(None))
    return _save(page, page.form(request.POST))


@require_safe
@permission_required(Perm.WORKFLOWS_MANAGE)
def sheet(request: MemberRequest, pk: int, key: str) -> HttpResponse:
    """The fragment for the sheet over the list: the form of one step."""
    workflow = queries.workflow_for(pk)
    draft = queries.draft_of(workflow)
    definition = load_definition(draft) if draft else None
    node = _node(definition, key)
    if draft is None or definition is None or node is None:
        raise NotFound(_("This step does not exist any more."))
    page = StepPage(request=request, workflow=workflow, draft=draft, definition=definition, node=node)
    return page.sheet(page.form(None))


def _node(definition: Definition | None, key: str) -> NodeSpec | None:
    return next((node for node in definition.nodes if node.key == key), None) if definition else None


def _save(page: StepPage, form: StepForm) -> HttpResponse:
    request, what = page.request, page.request.POST.get("edit", "")
    if not form.is_valid():
        return page.invalid(form)
    form.edit(what)
    try:
        drafts.save_step(
            page.workflow,
            page.node.key,
            base=Base.parse(request.POST.get("over") or form.cleaned_data["base"]),
            name=form.cleaned_data["name"],
            config=form.config(),
            is_enabled=form.is_on(),
            subtype=form.subtype(),
            ways=form.ways(),
            user=request.user,
        )
    except StaleDraft as exc:
        return _conflict(page, str(exc))
    except DomainError as exc:
        form.add_error(None, str(exc))
        return page.invalid(form, status=exc.status)
    return page.saved(form, what)


def _conflict(page: StepPage, why: str) -> HttpResponse:
    """Somebody changed the draft meanwhile: the stored step is shown, what was typed stays."""
    draft = queries.draft_of(page.workflow)
    definition = load_definition(draft) if draft else None
    node = _node(definition, page.node.key)
    if draft is None or definition is None or node is None:
        return _lost(page.request, page.workflow)
    now = StepPage(
        request=page.request, workflow=page.workflow, draft=draft, definition=definition, node=node
    )
    typed = page.request.POST.copy()
    if not now.is_fragment:
        typed["base"] = str(Base.of(draft))
    form = now.form(typed)
    form.is_valid()
    return now.stale(form, why)


def _lost(request: MemberRequest, workflow: Workflow) -> HttpResponse:
    """The step or the whole draft is gone: the text that was typed is shown, to be copied."""
    context = {
        "workflow": workflow,
        "name": request.POST.get("name", ""),
        "body": request.POST.get("body", ""),
        "direction": direction(request.POST.get("body", "")),
        "draft": queries.draft_of(workflow),
    }
    if request.headers.get("HX-Request") == "true":
        response = render(request, "automation/workflows/_step_lost.html", context, status=409)
        response["HX-Trigger"] = json.dumps({"ui:conflict": {}})
        return response
    return render(request, "automation/workflows/lost.html", context, status=409)


@require_POST
@permission_required(Perm.WORKFLOWS_MANAGE)
def preview_text(request: MemberRequest) -> HttpResponse:
    """The fragment beside the text box: the message for the chosen or for a made-up person."""
    person = chosen_person(request.membership, request.POST.get("person", ""))
    shown = preview(
        request.POST.get("body", "")[: send_sms.MAX_BODY],
        workspace=request.workspace,
        append_opt_out=bool(request.POST.get("append_opt_out")),
        person=person,
    )
    blank = request.POST.get("on_missing_variable") == "send_blank"
    context = {"preview": shown, "blank": blank, "person": person}
    return render(request, "automation/workflows/_preview.html", context)

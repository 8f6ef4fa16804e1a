"""The page of SMS templates."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.errors import NotFound
from core.pagination import paginate
from sms import queries, switch, templates
from sms.models import SmsTemplate
from sms.preview import preview
from sms.template_forms import TemplateForm
from sms.templates import NameTaken
from sms.text_hooks import text_tools
from sms.wording import Wording
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

FORM_METHODS = ["GET", "HEAD", "POST"]
MAX_PREVIEW = 5_000


@require_safe
@permission_required(Perm.SMS_TEMPLATES_MANAGE)
def template_list(request: MemberRequest) -> HttpResponse:
    _only_while_on(request)
    page = paginate(request, templates.all_templates().select_related("created_by"))
    lines = [{"row": row, "preview": preview(text_tools().sample(row.body))} for row in page]
    return render(request, "sms/templates.html", {"page": page, "lines": lines})


@require_http_methods(FORM_METHODS)
@permission_required(Perm.SMS_TEMPLATES_MANAGE)
def template_add(request: MemberRequest) -> HttpResponse:
    _only_while_on(request)
    form = TemplateForm(request.POST or None, workspace_id=request.workspace.pk)
    if form.is_bound and form.is_valid():
        try:
            templates.add(request.workspace, **form.cleaned_data, user=request.user)
        except NameTaken as problem:
            form.add_error("name", str(problem))
        else:
            messages.success(request, _("The template was added."))
            return redirect("sms:templates")
    return _form_page(request, form, None)


@require_http_methods(FORM_METHODS)
@permission_required(Perm.SMS_TEMPLATES_MANAGE)
def template_edit(request: MemberRequest, pk: int) -> HttpResponse:
    _only_while_on(request)
    row = templates.template(pk)
    initial = {"name": row.name, "body": row.body}
    form = TemplateForm(request.POST or None, initial=initial, workspace_id=request.workspace.pk)
    if form.is_bound and form.is_valid():
        try:
            changed = templates.change(row, **form.cleaned_data, user=request.user)
        except NameTaken as problem:
            form.add_error("name", str(problem))
        else:
            if changed:
                messages.success(request, _("The template was saved. Steps that use it keep their text."))
            return redirect("sms:templates")
    return _form_page(request, form, row)


@require_POST
@permission_required(Perm.SMS_TEMPLATES_MANAGE)
def template_delete(request: MemberRequest, pk: int) -> HttpResponse:
    _only_while_on(request)
    if templates.remove(templates.template(pk), user=request.user):
        messages.success(request, _("The template was removed. Steps that use it keep their text."))
    return redirect("sms:templates")


@require_POST
@permission_required(Perm.SMS_TEMPLATES_MANAGE)
def template_preview(request: MemberRequest) -> HttpResponse:
    """The text for a made-up person, its parts, and the characters that make it expensive: a fragment."""
    _only_while_on(request)
    body = request.POST.get("body", "")[:MAX_PREVIEW].replace("\r\n", "\n")
    return render(request, "sms/_preview.html", _preview_context(request, body))


def _form_page(request: MemberRequest, form: TemplateForm, row: SmsTemplate | None) -> HttpResponse:
    body = str(form["body"].value() or "")[:MAX_PREVIEW]
    context = {
        "form": form,
        "row": row,
        "variables": text_tools().variables(),
        **_preview_context(request, body),
    }
    return render(request, "sms/template_form.html", context, status=422 if form.is_bound else 200)


def _preview_context(request: MemberRequest, body: str) -> dict[str, object]:
    wording = Wording.of(queries.settings_of(request.workspace.pk))
    return {"shown": preview(text_tools().sample(body)), "refused": wording.find(body, is_template=True)}


def _only_while_on(request: MemberRequest) -> None:
    if not switch.is_on(request.workspace.pk):
        raise NotFound

"""The answers of a step's page: the whole page, and the fragments for what is saved while it is typed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from automation import registry
from automation.action_specs import send_sms
from automation.builder.claiming import Base
from automation.builder.describing import describe
from automation.builder.editors import Editors
from automation.builder.kinds import kinds_like, profile_of
from automation.builder.preview import picker, preview
from automation.builder.queries import draft_of
from automation.builder.step_forms import StepForm, Surroundings
from automation.builder.step_menu import menu_of
from automation.builder.steps import draw, draw_card
from automation.checking import Report, check, node_names
from automation.models.definition import Workflow, WorkflowVersion
from automation.naming import step_label
from automation.publishing import load_definition
from engine.retry import DEFAULT_RULE, RetryRule, parse_retry
from engine.types import Definition, NodeSpec
from sms import templates as sms_templates
from workspaces.http import MemberRequest

MAX_TEMPLATES = 100


@dataclass(kw_only=True)
class StepPage:
    """One step of a draft, for one request."""

    request: MemberRequest
    workflow: Workflow
    draft: WorkflowVersion
    definition: Definition
    node: NodeSpec

    @property
    def is_fragment(self) -> bool:
        return self.request.headers.get("HX-Request") == "true"

    @property
    def is_message(self) -> bool:
        return self.node.subtype == send_sms.SUBTYPE

    @cached_property
    def report(self) -> Report:
        return check(self.definition, self.workflow.kind)

    def form(self, data: QueryDict | None) -> StepForm:
        """The form of this kind of step, bound to `data` when there is any."""
        node = self.node
        return Editors.form(node)(data, node=node, around=self._surroundings())

    def _surroundings(self) -> Surroundings:
        rule = parse_retry(self.draft.settings.get("retry"))
        names = node_names(self.definition)
        return Surroundings(
            base=Base.of(self.draft),
            timezone=self.request.workspace.timezone,
            retry=rule if isinstance(rule, RetryRule) else DEFAULT_RULE,
            lines=send_sms.lines(self.node.config) if self.is_message else (),
            steps=[
                (node.key, names[node.key])
                for node in self.definition.nodes
                if node.type not in ("start", "end")
            ],
            kinds=kinds_like(self.node, profile_of(self.workflow)),
        )

    # The answers

    def show(self, form: StepForm, *, stale: str = "", status: int = 200) -> HttpResponse:
        """The whole page."""
        context = self._whole(form, stale)
        return render(self.request, "automation/workflows/step.html", context, status=status)

    def sheet(self, form: StepForm) -> HttpResponse:
        """The same for the sheet over the list of steps."""
        context = self._whole(form, "") | {"in_sheet": True}
        return render(self.request, "automation/workflows/_step_sheet.html", context)

    def _whole(self, form: StepForm, stale: str) -> dict[str, Any]:
        zone = self.request.workspace.timezone
        drawing = draw(self.definition, timezone=zone)
        context = self._status(form) | {
            "form": form,
            "title": step_label(self.node),
            "drawing": drawing,
            "editor": form.template,
            "description": self._description(form),
            "stale": stale,
            "stored": draw_card(self.definition, self.node.key, zone) if stale else None,
            "is_message": self.is_message,
            "menu": menu_of(self.definition, self.node.key),
        }
        if self.is_message:
            context |= self._message(form)
        return context

    def invalid(self, form: StepForm, *, status: int = 422) -> HttpResponse:
        """Nothing was saved, since something typed cannot be stored."""
        if not self.is_fragment:
            return self.show(form, status=status)
        context = self._status(form) | {"form": form, "is_saved": False}
        response = render(self.request, "automation/workflows/_step_status.html", context, status=status)
        errors = {
            form[name].id_for_label: text[0] for name, text in form.errors.items() if name in form.fields
        }
        response["HX-Trigger"] = json.dumps({"ui:errors": errors})
        return response

    def stale(self, form: StepForm, why: str) -> HttpResponse:
        """Nothing was saved, since the draft was changed by somebody else."""
        if not self.is_fragment:
            return self.show(form, stale=why, status=409)
        stored = draw_card(self.definition, self.node.key, self.request.workspace.timezone)
        context = {"stale": why, "stored": stored, "over": Base.of(self.draft)} | self._about()
        response = render(self.request, "automation/workflows/_step_stale.html", context, status=409)
        response["HX-Trigger"] = json.dumps({"ui:conflict": {}})
        return response

    def saved(self, form: StepForm, what: str) -> HttpResponse:
        """It was stored: the list for the Save button, the status for typing, the editor for its buttons."""
        if not self.is_fragment:
            messages.success(self.request, _("Saved."))
            if what:
                return redirect("automation:step", self.workflow.pk, self.node.key)
            return redirect(f"{reverse('automation:builder', args=[self.workflow.pk])}#step-{self.node.key}")
        now = self._reloaded()
        context = now._status(form) | {"form": form, "is_saved": True}  # the same class
        template = "automation/workflows/_step_status.html"
        if what:
            template, context["saved"] = form.template, True
        response = render(self.request, template, context)
        response["HX-Trigger"] = json.dumps({"ui:saved": {"base": str(Base.of(now.draft))}, "ui:errors": {}})
        return response

    def _reloaded(self) -> StepPage:
        draft = draft_of(self.workflow) or self.draft
        definition = load_definition(draft)
        node = next((node for node in definition.nodes if node.key == self.node.key), self.node)
        return StepPage(
            request=self.request, workflow=self.workflow, draft=draft, definition=definition, node=node
        )

    def _about(self) -> dict[str, Any]:
        return {"workflow": self.workflow, "draft": self.draft, "node": self.node}

    def _status(self, form: StepForm) -> dict[str, Any]:
        key = self.node.key
        return self._about() | {
            "problems": [finding for finding in self.report.problems if finding.node == key],
            "warnings": [finding for finding in self.report.warnings if finding.node == key],
            "description": self._description(form),
        }

    def _description(self, form: StepForm) -> str:
        if self.is_message or not form.has_switch:
            return ""
        return describe(self.node, node_names(self.definition), self.request.workspace.timezone)

    def _message(self, form: StepForm) -> dict[str, Any]:
        body, opt_out = form["body"].value() or "", bool(form["append_opt_out"].value())
        return {
            "preview": preview(str(body), workspace=self.request.workspace, append_opt_out=opt_out),
            "blank": form["on_missing_variable"].value() == "send_blank",
            "variables": picker(registry.variables()),
            "sms_templates": list(sms_templates.all_templates()[:MAX_TEMPLATES]),
        }

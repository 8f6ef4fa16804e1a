"""The page of a trial: choose a person, see their way through the draft as it is now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from automation import checking, event_lines
from automation.builder import queries
from automation.builder.jumps import jumps
from automation.builder.people import Person, chosen_person, find
from automation.builder.steps import branch_label
from automation.builder.trial import Line, Trial, try_out
from automation.builder.unfinished import UNFINISHED, walkable
from automation.naming import step_label
from automation.publishing import load_definition
from automation.states import EndReason
from core import clock
from core.errors import NotFound
from engine.types import Definition, NodeSpec
from targets.models import ActivityKind
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

WORDS: Mapping[str, str | Promise] = {
    "sent": gettext_lazy("Would be sent"),
    "performed": gettext_lazy("Would be done"),
    "delay": gettext_lazy("Pause before the first step"),
    "wait": gettext_lazy("Waits"),
    "event_came": gettext_lazy("Waits; the trial lets the event happen"),
    "window": gettext_lazy("Waits for the sending hours"),
    "passed": gettext_lazy("The wait is over already"),
    "disabled": gettext_lazy("Switched off, passed over"),
    "holdout": gettext_lazy("Held out: no message"),
    "too_many_steps": gettext_lazy("The trial stops after 100 steps."),
    UNFINISHED: gettext_lazy("The trial goes no further: the draft is not finished here."),
    "never_ends": gettext_lazy("Nothing but the event ends this wait, and the trial cannot make it fit."),
    "reached": gettext_lazy("The goal is reached"),
    "not_reached": gettext_lazy("The goal is not reached yet"),
}
SUGGESTIONS: Mapping[str, str | Promise] = {
    "fallback": gettext_lazy("Write a replacement after a bar in the text, for people who lack the value."),
    "mobile": gettext_lazy("Give this person a mobile number, or ask for it in a condition before."),
    "time_limit": gettext_lazy("Give the wait a time limit."),
}
ICONS = {
    "visited": "pause", "branch": "condition", "effect": "send", "wait": "wait", "end": "end",
    "error": "error",
}  # fmt: skip
TONES = {"effect": "success", "wait": "warn", "branch": "info", "error": "danger"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a trial in words."""

    line: Line
    title: str
    words: str
    suggestion: str
    tone: str
    icon: str


@require_safe
@permission_required(Perm.WORKFLOWS_MANAGE)
def trial(request: MemberRequest, pk: int) -> HttpResponse:
    """One person's way through the draft, as far as it is finished; without a choice, somebody recent's."""
    workflow = queries.workflow_for(pk)
    draft = queries.draft_of(workflow)
    if draft is None:
        raise NotFound(_("There is no draft any more: it was published."))
    definition = load_definition(draft)
    report = checking.check(definition, workflow.kind)
    context: dict[str, Any] = {"workflow": workflow, "draft": draft}
    person = _person(request)
    context |= {"person": person, "problems": jumps(workflow, report.problems)}
    way = walkable(definition, report, workflow.kind)
    if person is not None and way.graph is not None:
        done = try_out(way.graph, person, request.workspace, clock.now(), settings=definition.settings)
        context |= _shown(definition, way.named(done))
    is_fragment = request.headers.get("HX-Request") == "true"
    template = "automation/workflows/_trial.html" if is_fragment else "automation/workflows/trial.html"
    return render(request, template, context)


def _person(request: MemberRequest) -> Person | None:
    raw = request.GET.get("person", "")
    if raw:
        return chosen_person(request.membership, raw)
    latest = find(request.membership, "")[:1]
    return chosen_person(request.membership, str(latest[0].pk)) if latest else None


def _shown(definition: Definition, done: Trial) -> dict[str, Any]:
    nodes = {node.key: node for node in definition.nodes}
    rows = [_row(line, nodes.get(line.node)) for line in done.lines]
    return {"trial": done, "rows": rows, "outcome": _words(done.outcome)}


def _row(line: Line, node: NodeSpec | None) -> Row:
    title = step_label(node) if node else ""
    words = _words(line.code)
    if line.kind == "branch" and node is not None and node.type != "goal":
        words = _("Takes the way “%(branch)s”") % {"branch": branch_label(node, line.code)}
        if line.data.get("fallback"):
            words = _("%(way)s, since the question cannot be answered for this person") % {"way": words}
    if line.code == "recorded":
        what = {"kind": ActivityKind(line.data["kind"]).label, "title": line.data["title"]}
        words = _("Would be recorded for the owner: %(kind)s “%(title)s”, due") % what
    kept_back = line.kind == "effect" and line.code not in ("sent", "performed", "recorded")
    return Row(
        line=line,
        title=title,
        words=words,
        suggestion=_suggestion(line),
        tone="warn" if kept_back else TONES.get(line.kind, ""),
        icon=ICONS[line.kind],
    )


def _suggestion(line: Line) -> str:
    missing = [f"{finding.message} {finding.remedy}".strip() for finding in line.data.get("findings", ())]
    return " ".join(missing) or str(SUGGESTIONS.get(line.suggestion, ""))


def _words(code: str) -> str:
    labels: Mapping[str, Any] = {**dict(EndReason.choices), **event_lines.REASONS, **WORDS}
    return str(labels.get(code, code))

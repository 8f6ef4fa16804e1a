"""The part of the builder that every change draws anew: problems, buttons and the list of steps."""

from __future__ import annotations

from typing import Any

from automation import checking
from automation.builder import history
from automation.builder.claiming import Base
from automation.builder.jumps import jumps
from automation.builder.kinds import kinds, profile_of
from automation.builder.steps import draw
from automation.forms import PublishForm
from automation.models.definition import Workflow, WorkflowVersion
from automation.publishing import load_definition
from automation.views import rights
from workspaces.http import MemberRequest


def region_context(request: MemberRequest, workflow: Workflow, draft: WorkflowVersion) -> dict[str, Any]:
    """What the templates need; a constant number of queries, whatever the number of steps."""
    definition = load_definition(draft)
    report = checking.check(definition, workflow.kind)
    zone = request.workspace.timezone
    return {
        "workflow": workflow,
        "draft": draft,
        "base": Base.of(draft),
        "can": rights(request),
        "report": report,
        "problems": jumps(workflow, report.problems),
        "warnings": jumps(workflow, report.warnings),
        "drawing": draw(definition, timezone=zone, problems=report.problems, warnings=report.warnings),
        "history": history.depths(draft),
        "kinds": kinds(profile_of(workflow)),
        "publish_form": PublishForm(),
    }

"""JSON of workflows: the catalogue, graphs of versions, checking, publishing; and a person's history."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Header, Query, Router, Status
from pydantic import Field

from automation import api_catalogue, checking, panels, publishing
from automation.api_schemas import (
    CatalogOut,
    CheckOut,
    GraphIn,
    GraphOut,
    PreviewIn,
    PreviewOut,
    PublishIn,
    SavedOut,
    TimelineOut,
    VersionOut,
)
from automation.builder import queries
from automation.builder.claiming import Base
from automation.builder.drafts import save_definition
from automation.builder.exchange import definition_of
from automation.builder.people import chosen_person
from automation.builder.preview import preview
from automation.checking import Report
from automation.models.definition import Workflow, WorkflowVersion
from core.pagination import paginate
from engine.portable import definition_to_json
from targets.queries import target_for
from workspaces.http import MemberRequest
from workspaces.json_api import Id, needs, problem_of, route
from workspaces.permissions import Perm

router = Router()
VERSION_PATH = "/workflows/{int:workflow_id}/versions/{int:number}"
TAG = {
    "ETag": {
        "description": "The state of the version; send it back as `If-Match`.",
        "schema": {"type": "string"},
    }
}
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]


@router.get("/catalog", **route("catalog", {200: CatalogOut}))
@needs(Perm.WORKFLOWS_VIEW)
def catalog(request: MemberRequest) -> CatalogOut:  # noqa: ARG001
    """Kinds of step, actions with the schema of their config, comparisons, fields, variables, templates."""
    return api_catalogue.catalogue()


@router.get(
    f"{VERSION_PATH}/graph",
    **route("graph", {200: GraphOut}, 404, extra={"responses": {200: {"headers": TAG}}}),
)
@needs(Perm.WORKFLOWS_VIEW)
def graph(request: MemberRequest, workflow_id: Id, number: Number, response: HttpResponse) -> GraphOut:  # noqa: ARG001
    """Steps, connections and settings of one version."""
    version = queries.version_for(queries.workflow_for(workflow_id), number)
    response["ETag"] = f'"{Base.of(version)}"'
    return GraphOut.model_validate(definition_to_json(publishing.load_definition(version)))


@router.put(
    f"{VERSION_PATH}/graph",
    **route("graph", {200: SavedOut}, 404, 409, body=True) | {"operation_id": "save-graph"},
)
@needs(Perm.WORKFLOWS_MANAGE)
def save_graph(
    request: MemberRequest,
    workflow_id: Id,
    number: Number,
    graph: GraphIn,
    if_match: Annotated[str, Header(alias="If-Match", max_length=40)] = "",
) -> SavedOut:
    """Let the draft say this. What keeps it from being published is listed, not refused; undo brings back
    what was there. With `If-Match` a draft that somebody changed meanwhile stays as it is (409).
    """
    workflow = queries.workflow_for(workflow_id)
    version = queries.version_for(workflow, number)
    base = Base.parse(if_match.strip().strip('"')) if if_match.strip() not in ("", "*") else None
    definition = definition_of(graph.model_dump())
    saved = save_definition(workflow, version, base=base, definition=definition, user=request.user)
    report = checking.check(definition, workflow.kind)
    return SavedOut(**_checked(report), revision=str(Base.of(saved)))


@router.post(f"{VERSION_PATH}/validate", **route("validate", {200: CheckOut}, 404))
@needs(Perm.WORKFLOWS_VIEW)
def validate(request: MemberRequest, workflow_id: Id, number: Number) -> CheckOut:  # noqa: ARG001
    """Whether the version could be published, and every reason why not. Changes nothing."""
    workflow = queries.workflow_for(workflow_id)
    version = queries.version_for(workflow, number)
    return CheckOut(**_checked(checking.check(publishing.load_definition(version), workflow.kind)))


@router.post(
    "/workflows/{int:workflow_id}/publish", **route("publish", {200: VersionOut}, 404, 409, body=True)
)
@needs(Perm.WORKFLOWS_PUBLISH)
def publish(request: MemberRequest, workflow_id: Id, note: PublishIn | None = None) -> VersionOut:
    """Publish the draft: new campaigns use it, whoever is on their way stays on their version."""
    workflow = queries.workflow_for(workflow_id)
    version = publishing.publish_within(workflow, user=request.user, note=note.note if note else "")
    return _version(workflow, version)


@router.post("/workflows/{int:workflow_id}/versions", **route("new-version", {201: VersionOut}, 404, 409))
@needs(Perm.WORKFLOWS_MANAGE)
def new_version(request: MemberRequest, workflow_id: Id) -> Status[VersionOut]:
    """A draft copied from the published version, with the same keys of steps."""
    workflow = queries.workflow_for(workflow_id)
    return Status(201, _version(workflow, publishing.new_draft(workflow, request.user)))


@router.post("/sms/preview", **route("sms-preview", {200: PreviewOut}, 404, body=True))
@needs(Perm.WORKFLOWS_MANAGE, Perm.SMS_TEMPLATES_MANAGE)
def sms_preview(request: MemberRequest, message: PreviewIn) -> PreviewOut:
    """A text as it would be sent: to the person `target`, or to somebody made up. Nothing is sent."""
    person = None
    if message.target is not None:
        target_for(request.membership, message.target)
        person = chosen_person(request.membership, str(message.target))
    shown = preview(
        message.text, workspace=request.workspace, append_opt_out=message.append_opt_out, person=person
    )
    return PreviewOut(
        text=shown.text,
        segments=shown.parts.parts,
        encoding=shown.parts.encoding,
        units=shown.parts.units,
        missing=list(shown.lacking),
        unknown=list(shown.unknown),
    )


@router.get("/targets/{int:target_id}/timeline", **route("timeline", {200: TimelineOut}, 404, 422))
@needs(Perm.CAMPAIGNS_VIEW)
def timeline(
    request: MemberRequest,
    target_id: Id,
    page: Annotated[int, Query(ge=1, le=10**6)] = 1,  # noqa: ARG001
) -> TimelineOut:
    """Everything that happened to a person, newest first, thirty a page; past the end is the last page."""
    target = target_for(request.membership, target_id)
    found = paginate(request, panels.moments(target), size=panels.PAGE)
    return TimelineOut.model_validate(
        {
            "events": [asdict(line) for line in panels.told(list(found.object_list))],
            "page": found.number,
            "pages": found.paginator.num_pages,
            "count": found.paginator.count,
        }
    )


def _checked(report: Report) -> dict[str, Any]:
    return {
        "valid": report.is_publishable,
        "problems": [problem_of(one) for one in report.problems],
        "warnings": [problem_of(one) for one in report.warnings],
    }


def _version(workflow: Workflow, version: WorkflowVersion) -> VersionOut:
    return VersionOut(
        workflow=workflow.pk,
        version=version.version_number,
        status=version.status,
        revision=str(Base.of(version)),
        published_at=version.published_at,
        note=version.note,
    )

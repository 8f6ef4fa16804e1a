"""Workflows and their versions: made, copied, published, put away.

A version is a draft until it is published, and never changes after that. A workflow has at most one
draft and at most one published version (the database holds both rules). Everything here runs inside
`workspace_scope` and writes its audit row in its own transaction.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from automation import audit_events, catalogue, own_templates
from automation.checking import check
from automation.in_use import in_use
from automation.models.definition import (
    VersionStatus,
    Workflow,
    WorkflowEdge,
    WorkflowNode,
    WorkflowStatus,
    WorkflowVersion,
)
from automation.models.draft_state import DraftState
from automation.models.execution import WorkflowExecution
from automation.states import LIVE
from core import clock
from core.errors import Invalid, NotFound, Refused
from core.tenancy import current_workspace_id
from core.text import normalize_text
from engine.types import Definition, EdgeSpec, NodeSpec
from workspaces import audit
from workspaces.models import User

KEY_BYTES = 3  # "n_" and six hexadecimal digits
RUNNING_CAMPAIGNS = ("scheduled", "active", "paused")


def load_definition(version: WorkflowVersion) -> Definition:
    """The steps, connections and settings of a version as the engine reads them. Two queries."""
    return load_with_ids(version)[0]


def load_with_ids(version: WorkflowVersion) -> tuple[Definition, dict[str, int]]:
    """The definition, and the row id of each step by its key. Two queries."""
    nodes = list(WorkflowNode.objects.filter(version_id=version.pk).order_by("id"))
    edges = (
        WorkflowEdge.objects.filter(version_id=version.pk)
        .order_by("id")
        .values_list("from_node__node_key", "port", "to_node__node_key")
    )
    definition = Definition(
        nodes=tuple(node_spec(node) for node in nodes),
        edges=tuple(EdgeSpec(source=source, port=port, target=target) for source, port, target in edges),
        settings=version.settings,
    )
    return definition, {node.node_key: node.pk for node in nodes}


def node_spec(node: WorkflowNode) -> NodeSpec:
    """One stored step as the engine reads it."""
    return NodeSpec(
        key=node.node_key,
        type=node.type,
        subtype=node.subtype,
        config=node.config,
        name=node.name,
        is_enabled=node.is_enabled,
    )


@transaction.atomic
def create_workflow(
    *, name: str, template_key: str | None, user: User | None, description: str = "", category: str = "sms"
) -> Workflow:
    """A new workflow with draft version 1, copied from a built-in template or with start and end only.

    The copy has node keys of its own, so two workflows from one template share none. Raises Invalid for
    an empty name, a name or category too long, or an unknown template.
    """
    definition = _template(template_key)
    workflow = Workflow.objects.create(
        workspace_id=current_workspace_id(),
        name=_name(name),
        description=normalize_text(description)[:2000],
        category=_category(category),
        created_by=user,
        updated_by=user,
    )
    version = _add_version(workflow, number=1, settings=dict(definition.settings))
    store(version, with_new_keys(definition))
    audit.record(
        audit_events.WORKFLOW_CREATED,
        entity=workflow,
        new={"name": workflow.name, "template": template_key or ""},
        user=user,
    )
    return workflow


@transaction.atomic
def new_draft(workflow: Workflow, user: User | None) -> WorkflowVersion:
    """A draft copied from the published version, with the same node keys.

    Raises Refused: `draft_exists`, `not_published` (there is nothing to copy), `workflow_archived`.
    """
    workflow = locked(workflow)
    if WorkflowVersion.objects.filter(workflow=workflow, status=VersionStatus.DRAFT).exists():
        raise Refused(_("This workflow has a draft already."), code="draft_exists")
    published = workflow.published_version
    if published is None:
        raise Refused(_("Nothing has been published yet, so there is nothing to copy."), code="not_published")
    numbers = WorkflowVersion.objects.filter(workflow=workflow).values_list("version_number", flat=True)
    number = 1 + max(numbers)
    draft = _add_version(workflow, number=number, settings=published.settings)
    store(draft, load_definition(published), positions=_positions(published))
    audit.record(audit_events.DRAFT_CREATED, entity=workflow, new={"version": number}, user=user)
    return draft


@transaction.atomic(durable=True)
def publish(workflow: Workflow, *, user: User | None, note: str = "") -> WorkflowVersion:
    """`publish_within`, stored when it returns."""
    return publish_within(workflow, user=user, note=note)


@transaction.atomic
def publish_within(workflow: Workflow, *, user: User | None, note: str = "") -> WorkflowVersion:
    """Publish the draft: from now on new campaigns receive it; whoever is on an older version stays there.

    One transaction: check, compute what uses up budget, replace the published version, audit. Raises
    Refused (`no_draft`, `workflow_archived`), or Invalid whose `problems` (`checking.Finding`) are all
    the reasons, each naming its step; nothing is changed then. Of two calls at once the second finds
    no draft.
    """
    workflow = locked(workflow)
    draft = WorkflowVersion.objects.filter(workflow=workflow, status=VersionStatus.DRAFT).first()
    if draft is None:
        raise Refused(_("There is no draft to publish."), code="no_draft")
    report = check(load_definition(draft), workflow.kind)
    graph = report.compiled.graph
    if graph is None or not report.is_publishable:
        raise Invalid(_("The draft cannot be published yet."), problems=list(report.problems))
    DraftState.objects.filter(version=draft).delete()  # what is published can no longer be undone
    replaced = workflow.published_version
    _mark_budget(draft, [key for key in graph.nodes if graph.consumes_budget(key)])
    _make_published(workflow, draft, user=user, note=note)
    audit.record(
        audit_events.WORKFLOW_PUBLISHED,
        entity=workflow,
        old={"version": replaced.version_number if replaced else None},
        new={"version": draft.version_number, "note": draft.note},
        user=user,
    )
    return draft


@transaction.atomic
def rename(workflow: Workflow, *, name: str, description: str, user: User | None) -> Workflow:
    """Change the name and the description. Raises Invalid for an empty or long name."""
    workflow = locked(workflow, even_archived=True)
    old = {"name": workflow.name, "description": workflow.description}
    workflow.name, workflow.description = _name(name), normalize_text(description)[:2000]
    new = {"name": workflow.name, "description": workflow.description}
    if new != old:
        workflow.updated_by = user
        workflow.save(update_fields=["name", "description", "updated_by", "updated_at"])
        audit.record(audit_events.WORKFLOW_RENAMED, entity=workflow, old=old, new=new, user=user)
    return workflow


@transaction.atomic
def archive(workflow: Workflow, *, user: User | None) -> Workflow:
    """Put a workflow away: no new campaigns, no new versions; history stays.

    Raises Refused `workflow_in_use` while people are on their way through it or a campaign runs it.
    """
    workflow = locked(workflow)
    campaigns = workflow.campaigns  # the reverse side of the campaign's foreign key
    inside = WorkflowExecution.objects.filter(campaign__in=campaigns.all(), status__in=LIVE)
    people = inside.count()
    holds = Q(status__in=RUNNING_CAMPAIGNS) | Q(status="draft", pk__in=inside.values("campaign_id"))
    held = list(campaigns.filter(holds).values_list("name", flat=True)[:3])
    if people or held:
        raise Refused(in_use(people, held), code="workflow_in_use")
    return _set_status(workflow, WorkflowStatus.ARCHIVED, audit_events.WORKFLOW_ARCHIVED, user)


@transaction.atomic
def restore(workflow: Workflow, *, user: User | None) -> Workflow:
    """Take a workflow out of the archive. Raises Refused `not_archived`."""
    workflow = locked(workflow, even_archived=True)
    if workflow.status != WorkflowStatus.ARCHIVED:
        raise Refused(_("This workflow is not archived."), code="not_archived")
    status = WorkflowStatus.ACTIVE if workflow.published_version_id else WorkflowStatus.DRAFT
    return _set_status(workflow, status, audit_events.WORKFLOW_RESTORED, user)


def locked(workflow: Workflow, *, even_archived: bool = False) -> Workflow:
    """The row as it is now, locked until the end of the transaction: changes of one workflow take turns.

    Raises NotFound, and Refused `workflow_archived` unless `even_archived`.
    """
    rows = Workflow.objects.filter(deleted_at__isnull=True).select_related("published_version")
    row = rows.select_for_update(of=("self",), no_key=True).filter(pk=workflow.pk).first()
    if row is None:
        raise NotFound(_("This workflow does not exist."))
    if row.status == WorkflowStatus.ARCHIVED and not even_archived:
        raise Refused(_("This workflow is archived."), code="workflow_archived")
    return row


def with_new_keys(definition: Definition) -> Definition:
    """The same definition with fresh node keys; connections and loop targets follow."""
    make = key_maker(())
    fresh = {node.key: make() for node in definition.nodes}
    nodes = tuple(
        replace(node, key=fresh[node.key], config=_with_loop_target(node.config, fresh))
        for node in definition.nodes
    )
    edges = tuple(
        replace(edge, source=fresh[edge.source], target=fresh[edge.target]) for edge in definition.edges
    )
    return replace(definition, nodes=nodes, edges=edges)


def store(
    version: WorkflowVersion,
    definition: Definition,
    *,
    positions: dict[str, tuple[int | None, int | None]] | None = None,
) -> None:
    """Write the steps and connections of `definition` into an empty version. Two statements."""
    places = positions or {}
    rows = [
        WorkflowNode(
            workspace_id=version.workspace_id,
            version=version,
            node_key=node.key,
            type=node.type,
            subtype=node.subtype,
            name=node.name,
            config=dict(node.config),
            is_enabled=node.is_enabled,
            position_x=places.get(node.key, (None, None))[0],
            position_y=places.get(node.key, (None, None))[1],
        )
        for node in definition.nodes
    ]
    by_key = {node.node_key: node for node in WorkflowNode.objects.bulk_create(rows)}
    WorkflowEdge.objects.bulk_create(
        WorkflowEdge(
            workspace_id=version.workspace_id,
            version=version,
            from_node=by_key[edge.source],
            to_node=by_key[edge.target],
            port=edge.port,
        )
        for edge in definition.edges
    )


def key_maker(taken: Iterable[str]) -> Callable[[], str]:
    """Makes keys for new steps; short ones, so each is drawn until it is neither `taken` nor made before."""
    used = set(taken)

    def make() -> str:
        while (key := "n_" + secrets.token_hex(KEY_BYTES)) in used:
            pass
        used.add(key)
        return key

    return make


def _with_loop_target(config: Any, fresh: dict[str, str]) -> dict[str, Any]:
    target = config.get("to_node")
    return {**config, "to_node": fresh.get(target, target)} if target else dict(config)


def _template(key: str | None) -> Definition:
    if not key:
        return catalogue.empty()
    own = own_templates.definition_for(key)
    if own is not None:
        return own
    template = catalogue.find(key)
    if template is None:
        raise Invalid(_("There is no such template."), code="template_unknown")
    return template.definition()


def _name(raw: str) -> str:
    name = normalize_text(raw).replace("\n", " ")
    if not name:
        raise Invalid(_("Give the workflow a name."), code="name_missing")
    if len(name) > 120:
        raise Invalid(_("The name may have 120 characters at most."), code="name_too_long")
    return name


def _category(raw: str) -> str:
    if len(raw) > 30:
        raise Invalid(_("The category may have 30 characters at most."), code="category_too_long")
    return raw


def _add_version(workflow: Workflow, *, number: int, settings: dict[str, Any]) -> WorkflowVersion:
    return WorkflowVersion.objects.create(
        workspace_id=workflow.workspace_id, workflow=workflow, version_number=number, settings=settings
    )


def _positions(version: WorkflowVersion) -> dict[str, tuple[int | None, int | None]]:
    rows = WorkflowNode.objects.filter(version=version).values_list("node_key", "position_x", "position_y")
    return {key: (x, y) for key, x, y in rows}


def _mark_budget(version: WorkflowVersion, keys: list[str]) -> None:
    nodes = WorkflowNode.objects.filter(version=version)
    nodes.update(consumes_budget=False)
    nodes.filter(node_key__in=keys).update(consumes_budget=True)


def _make_published(workflow: Workflow, draft: WorkflowVersion, *, user: User | None, note: str) -> None:
    now = clock.now()
    WorkflowVersion.objects.filter(workflow=workflow, status=VersionStatus.PUBLISHED).update(
        status=VersionStatus.SUPERSEDED, updated_at=now
    )
    draft.status, draft.note = VersionStatus.PUBLISHED, normalize_text(note)[:500]
    draft.published_at, draft.published_by = now, user
    draft.save(update_fields=["status", "note", "published_at", "published_by", "updated_at"])
    workflow.published_version, workflow.updated_by = draft, user
    if workflow.status == WorkflowStatus.DRAFT:
        workflow.status = WorkflowStatus.ACTIVE
    workflow.save(update_fields=["published_version", "status", "updated_by", "updated_at"])


def _set_status(workflow: Workflow, status: WorkflowStatus, event: str, user: User | None) -> Workflow:
    old, workflow.status, workflow.updated_by = workflow.status, status, user
    workflow.save(update_fields=["status", "updated_by", "updated_at"])
    audit.record(event, entity=workflow, old={"status": old}, new={"status": str(status)}, user=user)
    return workflow

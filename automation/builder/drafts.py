"""Changes of a draft, one at a time: each names the state it was made on, and loses to a newer one.

Every function runs in one transaction with its audit row, inside `workspace_scope`. A draft may be
incomplete at any time; what keeps it from being published is listed, never refused here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from automation import audit_events, registry
from automation.models.definition import NodeKind, VersionStatus, Workflow, WorkflowEdge, WorkflowNode
from automation.models.definition import WorkflowVersion as Version
from automation.problems import reason
from automation.publishing import load_definition, locked, new_key
from core.errors import Invalid, NotFound, Refused
from core.text import normalize_text
from engine.sequence import NotASequence, to_sequence
from engine.types import Port
from workspaces import audit
from workspaces.models import User

MAX_STEPS = 200


class StaleDraft(Refused):
    """The draft changed since the page was opened (or was published): nothing was saved."""

    code = "draft_changed"


@dataclass(frozen=True, slots=True)
class Base:
    """The state of a draft that a change was made on: its version number and revision, `2.5` in forms."""

    version: int
    revision: int

    @classmethod
    def of(cls, draft: Version) -> Base:
        return cls(draft.version_number, draft.revision)

    @classmethod
    def parse(cls, text: str) -> Base:
        """Read the hidden field of a form; what is no such text counts as an old state."""
        version, _dot, revision = text.partition(".")
        is_plain = version.isascii() and version.isdigit() and revision.isascii() and revision.isdigit()
        return cls(int(version[:9]), int(revision[:9])) if is_plain else cls(0, 0)

    def __str__(self) -> str:
        return f"{self.version}.{self.revision}"


@transaction.atomic
def save_step(
    workflow: Workflow,
    key: str,
    *,
    base: Base,
    name: str,
    config: Mapping[str, Any],
    is_enabled: bool,
    user: User | None,
) -> bool:
    """Store the name and the config of one step; the audit row holds the old and the new values.

    True when something changed. Raises StaleDraft, NotFound for a step that is gone, and Refused
    (`workflow_archived`, `not_a_list` for a draft the step list cannot show).
    """
    draft = _claim(workflow, base)
    node = _node(draft, key)
    before = _values(node)
    node.name = normalize_text(name).replace("\n", " ")[:120]
    node.config, node.is_enabled = dict(config), is_enabled
    after = _values(node)
    old, new = audit.changes(before, after)
    old |= {key: value for key, value in before.items() if key not in after}
    if not old and not new:
        return False
    node.save(update_fields=["name", "config", "is_enabled", "updated_at"])
    _grow(draft)
    about = {"version": draft.version_number, "step": node.name or node.node_key}
    audit.record(
        audit_events.DRAFT_STEP_CHANGED, entity=workflow, old=about | old, new=about | new, user=user
    )
    return True


@transaction.atomic
def save_settings(workflow: Workflow, *, base: Base, settings: Mapping[str, Any], user: User | None) -> bool:
    """Store the draft's settings (window, limit, unknown outcomes). True when something changed."""
    draft = _claim(workflow, base, any_shape=True)
    old, new = audit.changes(draft.settings, settings)
    if not new:
        return False
    draft.settings = draft.settings | dict(settings)
    draft.save(update_fields=["settings", "updated_at"])
    _grow(draft)
    audit.record(
        audit_events.DRAFT_SETTINGS_CHANGED,
        entity=workflow,
        old={"version": draft.version_number} | old,
        new={"version": draft.version_number} | new,
        user=user,
    )
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStep:
    """A kind of step that can be added: where its config begins."""

    type: str
    subtype: str
    name: str
    config: Mapping[str, Any]


def new_step(kind: str) -> NewStep:
    """The step that the add menu calls `kind`: an action's subtype, `wait`, `wait_until` or `end`.

    Raises Invalid for another word.
    """
    match kind:
        case "wait":
            config: dict[str, Any] = {"mode": "duration", "amount": 1, "unit": "day"}
            return NewStep(type=NodeKind.WAIT, subtype="duration", name=_("Wait"), config=config)
        case "wait_until":
            config = {"mode": "until", "at": "", "timezone": ""}
            return NewStep(type=NodeKind.WAIT, subtype="until", name=_("Wait until a date"), config=config)
        case "end":
            config = {"behavior": "complete"}
            return NewStep(type=NodeKind.END, subtype="complete", name=_("End"), config=config)
    plugin = registry.action(kind)
    if plugin is None:
        raise Invalid(_("There is no such step."), code="step_unknown")
    return NewStep(type=NodeKind.ACTION, subtype=kind, name=str(plugin.label), config=plugin.defaults())


@transaction.atomic
def add_step(
    workflow: Workflow, *, base: Base, source: str, port: str, kind: str, user: User | None
) -> WorkflowNode:
    """Put a new step behind the exit `port` of `source`; what followed there follows the new step.

    Raises StaleDraft, NotFound, Invalid (`step_unknown`, `port_unknown`), Refused (`not_a_list`,
    `end_in_between`, `draft_too_big`).
    """
    fresh = new_step(kind)
    draft = _claim(workflow, base)
    before = _node(draft, source)
    if port not in _exits_of(before):
        raise Invalid(_("There is no such exit."), code="port_unknown")
    if WorkflowNode.objects.filter(version=draft).count() >= MAX_STEPS:
        raise Refused(
            _("A workflow made here may have %(n)s steps at most.") % {"n": MAX_STEPS}, code="draft_too_big"
        )
    edge = WorkflowEdge.objects.filter(from_node=before, port=port).first()
    if edge is not None and fresh.type == NodeKind.END:
        raise Refused(_("An end can only stand where nothing follows."), code="end_in_between")
    node = WorkflowNode.objects.create(
        workspace_id=draft.workspace_id,
        version=draft,
        node_key=new_key(),
        type=fresh.type,
        subtype=fresh.subtype,
        name=fresh.name,
        config=dict(fresh.config),
    )
    _put_behind(draft, before, port, edge, node)
    _grow(draft)
    _record_shape(audit_events.DRAFT_STEP_ADDED, workflow, draft, node, user, is_new=True)
    return node


@transaction.atomic
def remove_step(workflow: Workflow, key: str, *, base: Base, user: User | None) -> None:
    """Take a message or a wait out; the steps around it close up.

    Other kinds stay: nothing could close up over them. Raises StaleDraft, NotFound, Refused
    (`not_a_list`, `step_stays`).
    """
    draft = _claim(workflow, base)
    node = _node(draft, key)
    if node.type not in (NodeKind.ACTION, NodeKind.WAIT):
        raise Refused(_("This step cannot be removed."), code="step_stays")
    onward = WorkflowEdge.objects.filter(from_node=node, port=Port.DEFAULT).select_related("to_node").first()
    ways_in = WorkflowEdge.objects.filter(to_node=node)
    if onward is None:
        ways_in.delete()
    else:
        after = onward.to_node
        onward.delete()
        ways_in.update(to_node=after)
    _record_shape(audit_events.DRAFT_STEP_REMOVED, workflow, draft, node, user, is_new=False)
    node.delete()
    _grow(draft)


def _claim(workflow: Workflow, base: Base, *, any_shape: bool = False) -> Version:
    """The draft, locked with its workflow, in the state the change was made on."""
    workflow = locked(workflow)
    draft = Version.objects.filter(workflow=workflow, status=VersionStatus.DRAFT).first()
    if draft is None:
        raise StaleDraft(_("There is no draft any more: it was published."), code="version_not_draft")
    if Base.of(draft) != base:
        raise StaleDraft(_("The draft was changed since you opened this page."))
    if not any_shape:
        try:
            to_sequence(load_definition(draft))
        except NotASequence as exc:
            raise Refused(reason(exc.code), code="not_a_list") from exc
    return draft


def _grow(draft: Version) -> None:
    draft.revision += 1
    draft.save(update_fields=["revision", "updated_at"])


def _node(draft: Version, key: str) -> WorkflowNode:
    node = WorkflowNode.objects.filter(version=draft, node_key=key).first()
    if node is None:
        raise NotFound(_("This step does not exist any more."))
    return node


def _exits_of(node: WorkflowNode) -> tuple[str, ...]:
    if node.type == NodeKind.CONDITION:
        return (Port.YES, Port.NO)
    return () if node.type == NodeKind.END else (Port.DEFAULT,)


def _connect(draft: Version, source: WorkflowNode, port: str, target: WorkflowNode) -> None:
    WorkflowEdge.objects.create(
        workspace_id=draft.workspace_id, version=draft, from_node=source, port=port, to_node=target
    )


def _put_behind(
    draft: Version, before: WorkflowNode, port: str, edge: WorkflowEdge | None, node: WorkflowNode
) -> None:
    """Let `edge` (what leaves `before` by `port`) lead to `node`, and `node` to where it led."""
    if edge is None:
        _connect(draft, before, port, node)
        return
    after = edge.to_node
    edge.to_node = node
    edge.save(update_fields=["to_node", "updated_at"])
    _connect(draft, node, Port.DEFAULT, after)


def _values(node: WorkflowNode) -> dict[str, Any]:
    return {"name": node.name, "is_enabled": node.is_enabled, **node.config}


def _record_shape(
    event: str, workflow: Workflow, draft: Version, node: WorkflowNode, user: User | None, *, is_new: bool
) -> None:
    about = {"version": draft.version_number, "step": node.name or node.node_key}
    old = about if is_new else about | _values(node)
    new = about | _values(node) if is_new else about
    audit.record(event, entity=workflow, old=old, new=new, user=user)

"""Changes of a draft, one at a time: each names the state it was made on, and loses to a newer one.

Every function runs in one transaction with its audit row, inside `workspace_scope`. A draft may be
incomplete at any time; what keeps it from being published is listed, never refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from automation import audit_events
from automation.builder import history, outline
from automation.builder.claiming import (
    Base,
    Claimed,
    attempt,
    claim,
    edit_lists,
    grow,
    record_shape,
    record_step,
    store,
)
from automation.builder.kinds import kind_for
from automation.builder.outline import Outline, Place
from automation.builder.storing import store_difference
from automation.models.definition import NodeKind, VersionStatus, Workflow
from automation.models.definition import WorkflowVersion as Version
from automation.models.draft_state import Stack
from automation.naming import step_label
from core.errors import Refused
from core.text import normalize_text
from engine.portable import definition_to_json
from engine.types import Definition, NodeSpec
from workspaces import audit
from workspaces.models import User

KEEPS_PLACE = (NodeKind.START, NodeKind.END)


# One step


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
    subtype: str = "",
    ways: Mapping[str, str] | None = None,
) -> bool:
    """Store the name, the config and the kind of one step; the audit row holds the old and new values.

    `ways` maps the exits that a fork has now to those it had (`outline.revise`). True when something
    changed. Raises StaleDraft, NotFound for a step that is gone, and Refused (`workflow_archived`,
    `not_a_list` for a draft the step list cannot show).
    """
    claimed = claim(workflow, base, user)
    lists = claimed.outline()
    old = claimed.node(key)
    new = replace(
        old,
        name=normalize_text(name).replace("\n", " ")[:120],
        config=dict(config),
        is_enabled=is_enabled or old.type in KEEPS_PLACE,
        subtype=subtype or old.subtype,
    )
    if new == old:
        return False
    if old.type == NodeKind.START:
        changed = replace(lists, start=new)
    else:
        changed = outline.revise(lists, new, _ways(lists, new, ways))
    store(claimed, changed, f"step:{key}")
    record_step(claimed, old, new)
    return True


def _ways(lists: Outline, new: NodeSpec, ways: Mapping[str, str] | None) -> Mapping[str, str] | None:
    """A wait for an event that becomes another wait keeps what follows and loses its second way."""
    if new.type == NodeKind.WAIT and new.subtype != "for_event" and lists.ports(new.key):
        return {}
    return ways


@transaction.atomic
def switch_step(workflow: Workflow, key: str, *, base: Base, user: User | None) -> bool:
    """Switch a step off or on again; True when it is on now. Raises as `save_step`, and `step_stays`."""
    claimed = claim(workflow, base, user)
    lists = claimed.outline()
    old = claimed.node(key)
    if old.type in KEEPS_PLACE:
        raise Refused(_("The start and the end cannot be switched off."), code="step_stays")
    new = replace(old, is_enabled=not old.is_enabled)
    store(claimed, outline.revise(lists, new), "switch")
    record_step(claimed, old, new)
    return new.is_enabled


@transaction.atomic
def save_settings(workflow: Workflow, *, base: Base, settings: Mapping[str, Any], user: User | None) -> bool:
    """Store the draft's settings (window, limit, unknown outcomes). True when something changed."""
    claimed = claim(workflow, base, user)
    old, new = audit.changes(claimed.draft.settings, settings)
    if not new:
        return False
    history.remember(claimed.draft, claimed.definition, "settings", user)
    claimed.draft.settings = claimed.draft.settings | dict(settings)
    grow(claimed.draft, settings=True)
    number = {"version": claimed.draft.version_number}
    audit.record(
        audit_events.DRAFT_SETTINGS_CHANGED, entity=workflow, old=number | old, new=number | new, user=user
    )
    return True


# The order of the steps


@transaction.atomic
def insert_step(workflow: Workflow, *, base: Base, place: str, kind: str, user: User | None) -> NodeSpec:
    """Put a new step at `place`; what followed there follows it, or stands in a fork's first branch.

    Raises StaleDraft, Invalid (`step_unknown`), Refused (`not_a_list`, `place_unknown`,
    `end_in_between`, `draft_too_big`, `too_deep`).
    """
    claimed = claim(workflow, base, user)
    wanted = kind_for(kind, claimed.profile)
    node = wanted.node(claimed.key_maker()())
    edit_lists(
        claimed, "insert", lambda lists: outline.insert(lists, Place.parse(place), node, tuple(wanted.ports))
    )
    record_shape(audit_events.DRAFT_STEP_ADDED, claimed, new=node)
    return node


@transaction.atomic
def move_step(workflow: Workflow, key: str, *, base: Base, place: str, user: User | None) -> bool:
    """Put a step with all its branches at `place`, counted without it. True when something changed."""
    claimed = claim(workflow, base, user)
    return _moved(claimed, key, lambda lists: outline.move(lists, key, Place.parse(place)))


@transaction.atomic
def shift_step(workflow: Workflow, key: str, *, base: Base, by: int, user: User | None) -> bool:
    """One place up (-1) or down (+1), into and out of branches. False when it stands at the edge."""
    claimed = claim(workflow, base, user)
    return _moved(claimed, key, lambda lists: outline.shift(lists, key, by))


def _moved(claimed: Claimed, key: str, edit: Callable[[Outline], Outline]) -> bool:
    node = claimed.node(key)
    changed = edit_lists(claimed, "move", edit)
    if changed:
        record_shape(audit_events.DRAFT_STEP_MOVED, claimed, old=None, new=None, about=node)
    return changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A step that was taken out, where it stood, and how many others went with it."""

    node: NodeSpec
    place: Place
    others: int


@transaction.atomic
def remove_step(workflow: Workflow, key: str, *, base: Base, user: User | None, keep: str = "") -> Removed:
    """Take a step out; the steps around it close up. Of a fork, the branch `keep` stays, if given.

    Raises StaleDraft, NotFound, Refused (`not_a_list`, `start_stays`).
    """
    claimed = claim(workflow, base, user)
    node = claimed.node(key)
    lists = claimed.outline()
    after = attempt(lambda: outline.remove(lists, key, keep=keep))
    store(claimed, after, "remove")
    left = {one.key for nodes in after.lists.values() for one in nodes}
    others = [one for one in lists.inside(key) if one.key not in left]
    record_shape(audit_events.DRAFT_STEP_REMOVED, claimed, old=node, others=others)
    return Removed(node=node, place=lists.find(key)[1], others=len(others))


@transaction.atomic
def copy_step(workflow: Workflow, key: str, *, base: Base, user: User | None, place: str = "") -> NodeSpec:
    """A copy of a step with its branches, right behind it or at `place`. Raises as `insert_step`."""
    claimed = claim(workflow, base, user)
    node, make_key = claimed.node(key), claimed.key_maker()
    found: list[str] = []

    def edit(lists: Outline) -> Outline:
        after, fresh = outline.copy(lists, key, Place.parse(place) if place else None, make_key)
        found.append(fresh)
        return after

    edit_lists(claimed, "copy", edit)
    record_shape(audit_events.DRAFT_STEP_ADDED, claimed, new=node)
    return replace(node, key=found[0])


# The whole draft


@transaction.atomic
def undo(workflow: Workflow, *, base: Base, user: User | None) -> str:
    """Take the newest change back; returns its label. Raises StaleDraft and Refused `nothing_to_undo`."""
    return _step_back(claim(workflow, base, user), Stack.UNDO)


@transaction.atomic
def redo(workflow: Workflow, *, base: Base, user: User | None) -> str:
    """Repeat what was undone last; returns its label. Raises StaleDraft and Refused `nothing_to_undo`."""
    return _step_back(claim(workflow, base, user), Stack.REDO)


def _step_back(claimed: Claimed, stack: Stack) -> str:
    found = history.step_back(claimed.draft, claimed.definition, stack, claimed.user)
    if found is None:
        words = _("There is nothing to undo.") if stack is Stack.UNDO else _("There is nothing to redo.")
        raise Refused(words, code="nothing_to_undo")
    definition, label = found
    _replace(claimed, definition, audit_events.DRAFT_RESTORED, {"change": str(stack)})
    return label


@transaction.atomic
def replace_definition(
    workflow: Workflow, *, base: Base, definition: Definition, user: User | None, source: str
) -> None:
    """Let the draft say `definition`, for example out of a file named `source`; undo brings the old back."""
    claimed = claim(workflow, base, user)
    history.remember(claimed.draft, claimed.definition, "import", user)
    _replace(claimed, definition, audit_events.DRAFT_IMPORTED, {"file": source[:200]})


@transaction.atomic
def save_definition(
    workflow: Workflow, version: Version, *, base: Base | None, definition: Definition, user: User | None
) -> Version:
    """Let the draft `version` say `definition`; undo brings the old back. Returns it as it is afterwards.

    With `base` only if it is still in that state. Raises Refused `version_not_draft`, and StaleDraft when
    somebody was faster.
    """
    if version.status != VersionStatus.DRAFT:
        raise Refused(_("Only a draft can be changed."), code="version_not_draft")
    claimed = claim(workflow, base or Base.of(version), user)
    if definition_to_json(definition) != definition_to_json(claimed.definition):
        history.remember(claimed.draft, claimed.definition, "import", user)
        _replace(claimed, definition, audit_events.DRAFT_SAVED, {})
    return claimed.draft


def _replace(claimed: Claimed, after: Definition, event: str, about: Mapping[str, Any]) -> None:
    before = claimed.definition
    store_difference(claimed.draft, before, after)
    claimed.draft.settings = dict(after.settings)
    grow(claimed.draft, settings=True)
    old, new = audit.changes(_texts(before), _texts(after))
    old |= {name: text for name, text in _texts(before).items() if name not in _texts(after)}
    about = {"version": claimed.draft.version_number, **about}
    audit.record(event, entity=claimed.workflow, old=about | old, new=about | new, user=claimed.user)


def _texts(definition: Definition) -> dict[str, str]:
    """The texts of all messages, by the name of their step."""
    return {
        step_label(node): str(node.config["body"]) for node in definition.nodes if node.config.get("body")
    }

"""Undo and redo of a draft: the definitions it had, stored with it, a bounded number of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from automation.models.definition import WorkflowVersion
from automation.models.draft_state import DraftState, Stack
from core import clock
from engine.portable import definition_from_json, definition_to_json
from engine.types import Definition
from workspaces.models import User

MAX_STATES = 50
ONE_SITTING = timedelta(minutes=5)  # what one person types into one step is undone together


@dataclass(frozen=True, slots=True)
class Depths:
    """The label of the change that undo and redo would take back or repeat; "" when there is none."""

    undo: str = ""
    redo: str = ""


def depths(draft: WorkflowVersion) -> Depths:
    """One query."""
    rows = DraftState.objects.filter(version=draft).order_by("position").values_list("stack", "label")
    newest = dict(rows)
    return Depths(undo=newest.get(Stack.UNDO, ""), redo=newest.get(Stack.REDO, ""))


def remember(draft: WorkflowVersion, before: Definition, label: str, user: User | None) -> None:
    """Keep `before` as what undoing the change `label` brings back; what was undone is forgotten."""
    forgotten, _by_model = DraftState.objects.filter(version=draft, stack=Stack.REDO).delete()
    top = _top(draft, Stack.UNDO)
    if not forgotten and top is not None and _is_one_sitting(top, label, user):
        top.save(update_fields=["updated_at"])
        return
    position = _push(draft, Stack.UNDO, before, label, user, after=top)
    DraftState.objects.filter(
        version=draft, stack=Stack.UNDO, position__lte=max(0, position - MAX_STATES)
    ).delete()


def step_back(
    draft: WorkflowVersion, now: Definition, stack: Stack, user: User | None
) -> tuple[Definition, str] | None:
    """Take the newest definition off `stack`, put `now` on the other one. None when there is nothing."""
    top = _top(draft, stack)
    if top is None:
        return None
    other = Stack.REDO if stack is Stack.UNDO else Stack.UNDO
    _push(draft, other, now, top.label, user, after=_top(draft, other))
    top.delete()
    return definition_from_json(top.definition), top.label


def _top(draft: WorkflowVersion, stack: Stack) -> DraftState | None:
    return DraftState.objects.filter(version=draft, stack=stack).order_by("-position").first()


def _push(
    draft: WorkflowVersion,
    stack: Stack,
    definition: Definition,
    label: str,
    user: User | None,
    *,
    after: DraftState | None,
) -> int:
    row = DraftState.objects.create(
        workspace_id=draft.workspace_id,
        version=draft,
        stack=stack,
        position=1 + (after.position if after else 0),
        definition=definition_to_json(definition),
        label=label[:60],
        made_by=user,
    )
    return row.position


def _is_one_sitting(top: DraftState, label: str, user: User | None) -> bool:
    return (
        label.startswith("step:")
        and top.label == label
        and top.made_by_id == (user.pk if user else None)
        and top.updated_at > clock.now() - ONE_SITTING
    )

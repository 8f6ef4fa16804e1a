"""What can be done with one step besides editing it: the menu of the list, and of the step's own page."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from automation.builder import outline, queries
from automation.builder.steps import branch_label
from automation.models.definition import NodeKind
from automation.naming import step_label
from automation.publishing import load_definition
from core.errors import NotFound
from engine.sequence import NotASequence
from engine.types import Definition
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


@dataclass(frozen=True, slots=True, kw_only=True)
class StepMenu:
    """`place`: a copy may stand right behind the step. `keeps`: branches that may stay when a fork goes."""

    key: str
    title: str
    is_enabled: bool
    has_switch: bool
    place: bool
    keeps: tuple[tuple[str, str], ...]


def menu_of(definition: Definition, key: str) -> StepMenu | None:
    """None for the start, for a step that is gone, and in a draft that no list can show."""
    try:
        lists = outline.read(definition)
        node, _place = lists.find(key)
    except (NotASequence, outline.CannotEdit):
        return None
    filled = [port for port in lists.ports(key) if lists.lists[key, port]]
    return StepMenu(
        key=key,
        title=step_label(node),
        is_enabled=node.is_enabled,
        has_switch=node.type != NodeKind.END,
        place=node.type != NodeKind.END and not lists.is_fork(node),
        keeps=tuple((port, branch_label(node, port)) for port in filled),
    )


@require_safe
@permission_required(Perm.WORKFLOWS_MANAGE)
def menu(request: MemberRequest, pk: int, key: str) -> HttpResponse:
    """The fragment that opens at the button "more" of a step."""
    workflow = queries.workflow_for(pk)
    draft = queries.draft_of(workflow)
    found = menu_of(load_definition(draft), key) if draft else None
    if found is None:
        raise NotFound(_("This step does not exist any more."))
    context = {
        "workflow": workflow,
        "key": found.key,
        "title": found.title,
        "is_enabled": found.is_enabled,
        "has_switch": found.has_switch,
        "place": found.place,
        "keeps": found.keeps,
    }
    return render(request, "automation/workflows/_step_menu.html", context)

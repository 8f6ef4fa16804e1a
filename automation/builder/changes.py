"""Changes of the step list: one address, one verb each, answered with the list drawn anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from automation.builder import drafts, outline, queries
from automation.builder.claiming import Base, StaleDraft
from automation.builder.describing import number
from automation.builder.outline import ListId, Outline, Place
from automation.builder.region import region_context
from automation.builder.steps import branch_label
from automation.models.definition import Workflow
from automation.naming import step_label
from automation.publishing import load_definition
from core.announce import announce, refusal
from core.errors import DomainError, Invalid, NotFound
from engine.types import NodeSpec
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

INDENT: Final = "\u2003"  # before a place for each branch it lies in: white space that a select keeps


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is asked for: `up:n_1`, `insert:wait`, `remove:n_1:yes`; `place` where the verb needs one."""

    workflow: Workflow
    base: Base
    key: str
    more: str
    place: str
    request: MemberRequest


@dataclass(frozen=True, slots=True)
class Done:
    """What is said about it, and the element that gets the focus ("" leaves it where it is)."""

    text: str
    focus: str = ""


@require_POST
@permission_required(Perm.WORKFLOWS_MANAGE)
def change(request: MemberRequest, pk: int) -> HttpResponse:
    """Make one change of the draft. 409 with the list as it is now for a change of an older state."""
    workflow = queries.workflow_for(pk)
    verb, _colon, rest = request.POST.get("do", "").partition(":")
    key, _colon, more = rest.partition(":")
    act = VERBS.get(verb)
    try:
        if act is None:
            raise Invalid(_("There is no such change."), code="change_unknown")
        order = Order(
            workflow=workflow,
            base=Base.parse(request.POST.get("base", "")),
            key=key,
            more=more,
            place=request.POST.get("at", ""),
            request=request,
        )
        done = act(order)
    except StaleDraft as exc:
        return _stale(request, workflow, exc)
    except DomainError as exc:
        return _refused(request, workflow, exc)
    return _answer(request, workflow, done)


def _answer(request: MemberRequest, workflow: Workflow, done: Done, *, status: int = 200) -> HttpResponse:
    if not _is_fragment(request):
        messages.success(request, done.text)
        return redirect("automation:builder", workflow.pk)
    draft = queries.draft_of(workflow)
    if draft is None:
        return _gone(workflow)
    context = region_context(request, workflow, draft)
    response = render(request, "automation/workflows/_draft.html", context, status=status)
    return say(response, done.text, focus=done.focus or request.POST.get("focus", ""))


def say(response: HttpResponse, text: str, *, focus: str = "") -> HttpResponse:
    """Let the builder's status line say `text`, and focus the element with id `focus`."""
    events: dict[str, Any] = {"ui:say": {"text": str(text)}, "ui:announce": {"text": "", "focus": focus}}
    response["HX-Trigger"] = json.dumps(events, ensure_ascii=True)
    return response


def _stale(request: MemberRequest, workflow: Workflow, exc: StaleDraft) -> HttpResponse:
    text = _("%(reason)s Your change was not made; the list shows what is stored now.") % {"reason": exc}
    draft = queries.draft_of(workflow)
    if not _is_fragment(request):
        messages.error(request, text)
        return redirect("automation:builder", workflow.pk)
    if draft is None:
        return _gone(workflow)
    context = region_context(request, workflow, draft)
    response = render(request, "automation/workflows/_draft.html", context, status=exc.status)
    response["HX-Trigger"] = json.dumps({"ui:conflict": {}})
    return announce(response, text, tone="warn", focus="steps")


def _refused(request: MemberRequest, workflow: Workflow, exc: DomainError) -> HttpResponse:
    if not _is_fragment(request):
        messages.error(request, str(exc))
        return redirect("automation:builder", workflow.pk)
    return refusal(str(exc), status=exc.status)


def _gone(workflow: Workflow) -> HttpResponse:
    response = HttpResponse(status=409)
    response["HX-Redirect"] = reverse("automation:builder", args=[workflow.pk])
    return response


def _is_fragment(request: MemberRequest) -> bool:
    return request.headers.get("HX-Request") == "true"


# The verbs


def _shift(by: int) -> Callable[[Order], Done]:
    def act(order: Order) -> Done:
        moved = drafts.shift_step(order.workflow, order.key, base=order.base, by=by, user=order.request.user)
        if not moved:
            return Done(_("The step is at the top already.") if by < 0 else _("The step is last already."))
        return Done(_whereabouts(order.workflow, order.key))

    return act


def _move(order: Order) -> Done:
    drafts.move_step(order.workflow, order.key, base=order.base, place=order.place, user=order.request.user)
    return Done(_whereabouts(order.workflow, order.key), f"title-{order.key}")


def _insert(order: Order) -> Done:
    node = drafts.insert_step(
        order.workflow, base=order.base, place=order.place, kind=order.key, user=order.request.user
    )
    said = _("Added: %(where)s") % {"where": _whereabouts(order.workflow, node.key)}
    return Done(said, f"title-{node.key}")


def _copy(order: Order) -> Done:
    node = drafts.copy_step(
        order.workflow, order.key, base=order.base, place=order.place, user=order.request.user
    )
    said = _("Copied: %(where)s") % {"where": _whereabouts(order.workflow, node.key)}
    return Done(said, f"title-{node.key}")


def _remove(order: Order) -> Done:
    gone = drafts.remove_step(
        order.workflow, order.key, base=order.base, keep=order.more, user=order.request.user
    )
    said = _("Removed: “%(step)s”.") % {"step": _name(gone.node)}
    if gone.others:
        more = ngettext(
            "%(n)s step of its branches went with it.",
            "%(n)s steps of its branches went with it.",
            gone.others,
        )
        said = f"{said} {more % {'n': number(gone.others)}}"
    return Done(said, f"title-{_before(order.workflow, gone.place)}")


def _switch(order: Order) -> Done:
    is_on = drafts.switch_step(order.workflow, order.key, base=order.base, user=order.request.user)
    name = {"step": _name(_lists(order.workflow).find(order.key)[0])}
    said = _("“%(step)s” is switched on.") if is_on else _("“%(step)s” is switched off and passed over.")
    return Done(said % name, f"title-{order.key}")


def _undo(order: Order) -> Done:
    label = drafts.undo(order.workflow, base=order.base, user=order.request.user)
    return Done(_("Undone: %(change)s") % {"change": change_label(label)}, "undo")


def _redo(order: Order) -> Done:
    label = drafts.redo(order.workflow, base=order.base, user=order.request.user)
    return Done(_("Done again: %(change)s") % {"change": change_label(label)}, "redo")


VERBS: dict[str, Callable[[Order], Done]] = {
    "up": _shift(-1),
    "down": _shift(1),
    "move": _move,
    "insert": _insert,
    "copy": _copy,
    "remove": _remove,
    "switch": _switch,
    "undo": _undo,
    "redo": _redo,
}


def change_label(label: str) -> str:
    """What undo and redo call a change, in the active language."""
    names = {
        "insert": _("a step added"),
        "move": _("a step moved"),
        "remove": _("a step removed"),
        "copy": _("a step copied"),
        "switch": _("a step switched"),
        "settings": _("settings changed"),
        "import": _("a file read in"),
        "step": _("a step edited"),
    }
    return names.get(label.partition(":")[0], label)


# Words about places


def _lists(workflow: Workflow) -> Outline:
    draft = queries.draft_of(workflow)
    if draft is None:
        raise NotFound(_("There is no draft any more: it was published."))
    return outline.read(load_definition(draft))


def _name(node: NodeSpec) -> str:
    return step_label(node)


def _whereabouts(workflow: Workflow, key: str) -> str:
    lists = _lists(workflow)
    node, place = lists.find(key)
    return place_in_words(lists, place, _name(node))


def _before(workflow: Workflow, place: Place) -> str:
    nodes = _lists(workflow).lists.get(place.list, ())
    return nodes[place.index - 1].key if 0 < place.index <= len(nodes) else place.source


def place_in_words(lists: Outline, place: Place, name: str) -> str:
    """“X” stands after “Y”; first in the branch “no” of “Z”."""
    if place.index:
        before = lists.lists[place.list][place.index - 1]
        return _("“%(step)s” stands after “%(other)s”.") % {"step": name, "other": _name(before)}
    if place.list == lists.root:
        return _("“%(step)s” stands first.") % {"step": name}
    fork = lists.find(place.source)[0]
    values = {"step": name, "branch": branch_label(fork, place.port), "other": _name(fork)}
    return _("“%(step)s” stands first in the branch “%(branch)s” of “%(other)s”.") % values


@require_safe
@permission_required(Perm.WORKFLOWS_MANAGE)
def places(request: MemberRequest, pk: int, key: str) -> HttpResponse:
    """The fragment of the sheet "Move to": every place where this step may stand."""
    lists, copying = _lists(queries.workflow_for(pk)), "copy" in request.GET
    if key == lists.start.key:
        context: dict[str, Any] = {"key": key, "name": _name(lists.start), "choices": []}
        return render(request, "automation/workflows/_places.html", context)
    try:
        node, now = lists.find(key)
        rest, found = outline.places_for(lists, key, stays=copying)
    except outline.CannotEdit as exc:
        raise NotFound(_("This step does not exist any more.")) from exc
    deep = _depths(rest)
    choices = [
        (str(place), INDENT * deep[place.list] + _choice(rest, place), not copying and place == now)
        for place in found
    ]
    context = {"key": key, "name": _name(node), "choices": choices, "copying": copying}
    return render(request, "automation/workflows/_places.html", context)


def _depths(lists: Outline) -> dict[ListId, int]:
    """How deep each list lies: names may be alike, and choices have no other order to show."""
    found, waiting = {lists.root: 0}, [lists.root]
    while waiting:
        at = waiting.pop()
        for node in lists.lists[at]:
            inner = [(node.key, port) for port in lists.ports(node.key)]
            found |= dict.fromkeys(inner, found[at] + 1)
            waiting += inner
    return found


def _choice(lists: Outline, place: Place) -> str:
    if place.index:
        return _("After “%(other)s”") % {"other": _name(lists.lists[place.list][place.index - 1])}
    if place.list == lists.root:
        return _("At the beginning")
    fork = lists.find(place.source)[0]
    values = {"branch": branch_label(fork, place.port), "other": _name(fork)}
    return _("First in the branch “%(branch)s” of “%(other)s”") % values

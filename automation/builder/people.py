"""The person that a preview or a trial walk is made for: found by name or number, as far as one may see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from automation.models import WorkflowExecution
from automation.runtime.facts import FactSheet
from automation.runtime.policy import RunPolicy
from automation.runtime.subjects import Subject
from automation.runtime.target_subject import load_targets
from core import clock
from core.text import search_key
from engine.types import Facts, Position
from targets.models import Target
from targets.queries import visible_to
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.models import Membership, Workspace
from workspaces.permissions import Perm

SHOWN = 8
MAX_ID = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody chosen, as the sending path would read them now."""

    target: Target
    subject: Subject

    @property
    def name(self) -> str:
        return self.target.display_name


def find(membership: Membership | None, text: str) -> list[Target]:
    """The first few people whose name, number or city holds every word of `text`; the newest without one."""
    people = visible_to(membership)
    for word in search_key(text).split()[:8]:
        people = people.filter(search_text__contains=word)
    return list(people.order_by("-pk")[:SHOWN])


def chosen_person(membership: Membership | None, raw: str) -> Person | None:
    """The person with that id; None for nobody, and for people whom this member may not see."""
    if not (raw.isascii() and raw.isdigit() and int(raw[:20]) <= MAX_ID):
        return None
    target = visible_to(membership).filter(pk=int(raw)).first()
    if target is None:
        return None
    subject = load_targets(target.workspace_id, [target.pk]).get(target.pk)
    return Person(target=target, subject=subject) if subject else None


def policy_of(workspace: Workspace, *, send_window: Any = None) -> RunPolicy:
    """The policy of a campaign that does not exist: no limits, the workspace's zone."""
    return RunPolicy(
        campaign_id=0,
        workspace_id=workspace.pk,
        workflow_id=0,
        version_id=0,
        timezone=workspace.timezone,
        send_window=send_window,
    )


def facts_of(
    person: Person, workspace: Workspace, *, at: datetime | None = None, position: Position | None = None
) -> Facts:
    """What conditions and texts read of them, made by what makes the facts of real executions. No query."""
    row = WorkflowExecution(
        subject_type="target",
        subject_id=person.target.pk,
        cycle=position.cycle if position else 1,
        last_action=position.last_action if position else "",
        started_at=at or clock.now(),
    )
    return FactSheet(workspace={"name": workspace.name}).facts(row, person.subject, policy_of(workspace))


@require_safe
@permission_required(Perm.WORKFLOWS_MANAGE)
def people(request: MemberRequest) -> HttpResponse:
    """The fragment with the people that the typed words fit."""
    text = request.GET.get("q", "")[:100]
    context = {"people": find(request.membership, text), "typed": text}
    return render(request, "automation/workflows/_people.html", context)

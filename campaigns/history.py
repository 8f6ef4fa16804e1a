"""A campaign's history in words: one line an event."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import QuerySet

from automation import event_lines
from automation.models import WorkflowExecutionEvent
from automation.panels import step_name
from campaigns.models import Campaign
from targets.models import Target
from targets.queries import Visibility, subjects_for

PAGE: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One event as the log shows it. `until` is a moment the event speaks of."""

    id: int
    at: datetime
    label: str
    tone: str
    step: str
    reason: str
    until: datetime | None
    target: Target | None
    subject_id: int
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage:
    """`older` is where the next page begins, None on the last one."""

    lines: list[Line]
    older: int | None


def log(campaign: Campaign, visibility: Visibility, *, kind: str = "", before: int | None = None) -> LogPage:
    """Events newest first, those before the id `before`. Two queries however deep the page lies."""
    rows = events(campaign, visibility, kind=kind)
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows.select_related("node", "actor_user").order_by("-pk")[: PAGE + 1])
    shown = found[:PAGE]
    people = subjects_for(campaign.workspace_id, [event.subject_id for event in shown])
    return LogPage(
        lines=[_line(event, people.get(event.subject_id)) for event in shown],
        older=shown[-1].pk if len(found) > PAGE else None,
    )


def events(campaign: Campaign, visibility: Visibility, *, kind: str = "") -> QuerySet[WorkflowExecutionEvent]:
    """The campaign's history of the people this member may see, of one kind or whole; without an order."""
    rows = WorkflowExecutionEvent.objects.filter(campaign_id=campaign.pk)
    if kind:
        rows = rows.filter(type=kind)
    return rows if not visibility.limited else rows.filter(subject_id__in=visibility.people().values("pk"))


def _line(event: WorkflowExecutionEvent, target: Target | None) -> Line:
    return Line(
        id=event.pk,
        at=event.occurred_at,
        label=event.get_type_display(),
        tone=event_lines.tone(event),
        step=step_name(event.node),
        reason=event.message or event_lines.reason(event.data),
        until=event_lines.until(event.data),
        target=target,
        subject_id=event.subject_id,
        actor=str(event.actor_user or ""),
    )

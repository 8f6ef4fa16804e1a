"""The automation tab of a person's page: where they are now, then everything that happened to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, QuerySet, Value
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from automation import event_lines
from automation.models import AutomationSettings, WorkflowExecution, WorkflowExecutionEvent, WorkflowNode
from automation.states import LIVE
from core import clock
from core.pagination import paginate
from sms import reasons as sms_reasons
from sms.inbound import queries as inbound
from sms.inbound.hooks import Subject
from sms.models import InboundSms, SmsLog
from targets.models import Target
from targets.panels import Built, Panel
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

PAGE = 30
EVENT, HEARD = "event", "heard"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One send as the timeline shows it: the real text, the number, and what became of it."""

    status: str
    label: str
    text: str
    number: str
    attempt: int
    provider_id: str
    error: str
    retry_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What the person wrote to one of our lines, and what it did."""

    text: str
    line: str
    effect: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    at: datetime
    label: str
    tone: str
    campaign: str
    step: str
    reason: str
    until: datetime | None
    actor: str
    message: Message | None
    heard: Heard | None = None


def is_visible(request: HttpRequest) -> bool:
    """With automation on, and for members who may see campaigns."""
    permissions: frozenset[str] = getattr(request, "permissions", frozenset())
    if Perm.CAMPAIGNS_VIEW not in permissions:
        return False
    settings = AutomationSettings.objects.first()
    return settings is None or settings.enabled


def build(request: MemberRequest, target: Target) -> Built:
    """Two live lists: current campaigns, then events and replies newest first. Constant queries."""
    page = paginate(request, _moments(target), size=PAGE)
    current = WorkflowExecution.objects.filter(
        subject_type="target", subject_id=target.pk, status__in=sorted(LIVE)
    ).select_related("campaign", "current_node")
    context: dict[str, Any] = {
        "current": list(current.order_by("-pk")),
        "lines": _told(list(page.object_list)),
        "page": page,
        "now": clock.now(),
    }
    return "automation/timeline.html", context


def _moments(target: Target) -> QuerySet[Any, tuple[datetime, str, int]]:
    """When something happened to the person or came from them: time, kind and row, newest first."""
    events = WorkflowExecutionEvent.objects.filter(subject_type="target", subject_id=target.pk)
    heard = inbound.of_person(Subject("target", target.pk), (target.mobile, target.landline))
    parts = [rows.annotate(at=F("received_at"), kind=Value(HEARD)) for rows in heard]
    told = events.annotate(at=F("occurred_at"), kind=Value(EVENT)).order_by()
    columns = ("at", "kind", "pk")
    listed = told.values_list(*columns).union(*(part.values_list(*columns) for part in parts), all=True)
    return listed.order_by("-at", "kind", "-pk")


def _told(moments: Sequence[tuple[datetime, str, int]]) -> list[Line]:
    """These moments in words, in their order. Three queries at most."""
    wanted = [pk for _at, kind, pk in moments if kind == EVENT]
    rows = WorkflowExecutionEvent.objects.filter(pk__in=wanted)
    events = list(rows.select_related("node", "campaign", "actor_user")) if wanted else []
    found = {(EVENT, event.pk): line for event, line in zip(events, lines(events), strict=True)}
    heard = inbound.by_ids(pk for _at, kind, pk in moments if kind == HEARD)
    found |= {(HEARD, pk): _heard(row) for pk, row in heard.items()}
    return [found[kind, pk] for _at, kind, pk in moments if (kind, pk) in found]


def _heard(row: InboundSms) -> Line:
    outcome = getattr(row, "outcome", None)
    return Line(
        at=row.received_at, label=str(_("Message received")), tone="info", campaign="", step="", reason="",
        until=None, actor="", message=None,
        heard=Heard(
            text=row.text, line=row.line, effect=outcome.effect if outcome else "",
            label=outcome.get_effect_display() if outcome else str(_("Waiting")),
        ),
    )  # fmt: skip


def lines(events: Sequence[WorkflowExecutionEvent]) -> list[Line]:
    """The events in words, with the messages they speak of. One query for all messages."""
    wanted = {int(e.data["sms_log_id"]) for e in events if isinstance(e.data.get("sms_log_id"), int)}
    messages = {row.pk: _message(row) for row in SmsLog.objects.filter(pk__in=wanted)}
    return [_line(event, messages.get(event.data.get("sms_log_id", 0))) for event in events]


def _line(event: WorkflowExecutionEvent, message: Message | None) -> Line:
    return Line(
        at=event.occurred_at,
        label=event.get_type_display(),
        tone=event_lines.tone(event),
        campaign=event.campaign.name,
        step=step_name(event.node),
        reason=event.message or event_lines.reason(event.data),
        until=event_lines.until(event.data),
        actor=str(event.actor_user or ""),
        message=message,
    )


def step_name(node: WorkflowNode | None) -> str:
    """The name a person gave the step, else its title, else its kind."""
    if node is None:
        return ""
    return node.name or str(node.config.get("title") or "") or str(node.get_type_display())


def _message(row: SmsLog) -> Message:
    explained = sms_reasons.explain(row.provider, row.error_code)
    return Message(
        status=row.status,
        label=sms_reasons.status_label(row),
        text=row.final_message,
        number=row.phone_number,
        attempt=row.attempt_number,
        provider_id=row.provider_message_id,
        error=f"{explained} {row.error_message}".strip(),
        retry_at=row.retry_scheduled_at,
    )


PANEL = Panel(key="automation", label=_("Automation"), build=build, visible=is_visible, order=10)

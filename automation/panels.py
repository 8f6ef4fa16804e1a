"""Everything that happened to a person, in words: events, replies and activities, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, QuerySet, Value
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from automation import event_lines, known_events
from automation.inbound import SOURCE, event_key
from automation.models import AutomationSettings, WorkflowExecution, WorkflowExecutionEvent, WorkflowNode
from automation.naming import is_default, kind_label
from core.pagination import paginate
from sms import reasons as sms_reasons
from sms.inbound import queries as inbound
from sms.inbound.hooks import Subject
from sms.models import InboundSms, SmsLog
from targets import events as person_events
from targets.models import Activity, Target, TargetEvent
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

PAGE = 30
EVENT, HEARD, NOTED, DONE, HAPPENED = "event", "heard", "noted", "done", "happened"
TOLD_ALREADY = (SOURCE, "activities")  # sources whose messages and activities stand here themselves
WORDS = {NOTED: _("Activity noted down"), DONE: _("Activity done")}


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
    is_event: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """What a colleague is to do with the person, or did."""

    title: str
    kind: str
    label: str
    due: datetime


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
    activity: Noted | None = None
    type: str = HEARD  # the event's own word, for programs


def is_visible(request: HttpRequest) -> bool:
    """With automation on, and for members who may see campaigns."""
    permissions: frozenset[str] = getattr(request, "permissions", frozenset())
    if Perm.CAMPAIGNS_VIEW not in permissions:
        return False
    settings = AutomationSettings.objects.first()
    return settings is None or settings.enabled


def history(request: MemberRequest, target: Target) -> dict[str, Any]:
    """What `automation/timeline.html` shows: one page of everything that happened. Constant queries."""
    page = paginate(request, moments(target), size=PAGE)
    return {"lines": told(list(page.object_list)), "page": page}


def moments(target: Target) -> QuerySet[Any, tuple[datetime, str, int]]:
    """When something happened to the person or came from them: time, kind and row, newest first."""
    walks = WorkflowExecution.objects.filter(subject_type="target", subject_id=target.pk)
    events = WorkflowExecutionEvent.objects.filter(execution__in=walks.order_by().values("pk"))
    heard = inbound.of_person(Subject("target", target.pk), (target.mobile, target.landline))
    parts: list[QuerySet[Any]] = [rows.annotate(at=F("received_at"), what=Value(HEARD)) for rows in heard]
    # What a workflow recorded is an event already.
    activities = Activity.objects.filter(target=target)
    parts.append(activities.filter(source="").annotate(at=F("created_at"), what=Value(NOTED)))
    parts.append(activities.filter(done_at__isnull=False).annotate(at=F("done_at"), what=Value(DONE)))
    happened = TargetEvent.objects.filter(target=target).exclude(source__in=TOLD_ALREADY)
    parts.append(happened.annotate(at=F("occurred_at"), what=Value(HAPPENED)))
    told = events.annotate(at=F("occurred_at"), what=Value(EVENT)).order_by()
    columns = ("at", "what", "pk")
    listed = told.values_list(*columns).union(*(part.values_list(*columns) for part in parts), all=True)
    return listed.order_by("-at", "what", "-pk")


def told(found_at: Sequence[tuple[datetime, str, int]]) -> list[Line]:
    """These moments in words, in their order. A constant number of queries."""
    wanted = [pk for _at, kind, pk in found_at if kind == EVENT]
    rows = WorkflowExecutionEvent.objects.filter(pk__in=wanted)
    events = list(rows.select_related("node", "campaign", "actor_user")) if wanted else []
    known = {(EVENT, event.pk): line for event, line in zip(events, lines(events), strict=True)}
    heard = inbound.by_ids(pk for _at, kind, pk in found_at if kind == HEARD)
    answers = person_events.by_keys(map(event_key, heard))
    known |= {(HEARD, pk): _heard(row, is_event=event_key(pk) in answers) for pk, row in heard.items()}
    known |= _activities(found_at)
    known |= _events(found_at)
    return [known[kind, pk] for _at, kind, pk in found_at if (kind, pk) in known]


def _activities(found_at: Sequence[tuple[datetime, str, int]]) -> dict[tuple[str, int], Line]:
    wanted = {pk for _at, kind, pk in found_at if kind in (NOTED, DONE)}
    rows = Activity.objects.filter(pk__in=wanted) if wanted else Activity.objects.none()
    known = {row.pk: row for row in rows.select_related("created_by", "done_by")}
    return {
        (kind, pk): _noted(known[pk], kind, at) for at, kind, pk in found_at if pk in known and kind in WORDS
    }


def _noted(row: Activity, kind: str, at: datetime) -> Line:
    return Line(
        at=at, type=kind, label=str(WORDS[kind]), tone="success" if kind == DONE else "info", campaign="",
        step="", reason="", until=None, actor=str((row.done_by if kind == DONE else row.created_by) or ""),
        message=None, activity=_activity(row),
    )  # fmt: skip


def _activity(row: Activity) -> Noted:
    return Noted(title=row.title, kind=row.kind, label=str(row.get_kind_display()), due=row.due_at)


def _events(found_at: Sequence[tuple[datetime, str, int]]) -> dict[tuple[str, int], Line]:
    wanted = [pk for _at, kind, pk in found_at if kind == HAPPENED]
    rows = TargetEvent.objects.filter(pk__in=wanted) if wanted else ()
    return {(HAPPENED, row.pk): _happened(row) for row in rows}


def _happened(row: TargetEvent) -> Line:
    return Line(
        at=row.occurred_at, type=HAPPENED, label=known_events.label_of(row.name), tone="info", campaign="",
        step="", reason=known_events.properties_in_words(row.name, row.properties), until=None, actor="",
        message=None,
    )  # fmt: skip


def _heard(row: InboundSms, *, is_event: bool) -> Line:
    outcome = getattr(row, "outcome", None)
    return Line(
        at=row.received_at, label=str(_("Message received")), tone="info", campaign="", step="", reason="",
        until=None, actor="", message=None,
        heard=Heard(
            text=row.text, line=row.line, effect=outcome.effect if outcome else "",
            label=outcome.get_effect_display() if outcome else str(_("Waiting")), is_event=is_event,
        ),
    )  # fmt: skip


def lines(events: Sequence[WorkflowExecutionEvent]) -> list[Line]:
    """The events in words, with the messages and activities they speak of. A query for each of the two."""
    messages = {row.pk: _message(row) for row in SmsLog.objects.filter(pk__in=_named(events, "sms_log_id"))}
    recorded = _named(events, "activity_id")
    activities = Activity.objects.filter(pk__in=recorded) if recorded else ()
    followups = {row.pk: _activity(row) for row in activities}
    return [
        _line(
            event,
            messages.get(event.data.get("sms_log_id", 0)),
            followups.get(event.data.get("activity_id", 0)),
        )
        for event in events
    ]


def _named(events: Sequence[WorkflowExecutionEvent], key: str) -> set[int]:
    return {event.data[key] for event in events if isinstance(event.data.get(key), int)}


def _line(event: WorkflowExecutionEvent, message: Message | None, activity: Noted | None) -> Line:
    return Line(
        at=event.occurred_at,
        type=event.type,
        label=event.get_type_display(),
        tone=event_lines.tone(event),
        campaign=event.campaign.name,
        step=step_name(event.node),
        reason=event.message or event_lines.reason(event.data),
        until=event_lines.until(event.data),
        actor=str(event.actor_user or ""),
        message=message,
        activity=activity,
    )


def step_name(node: WorkflowNode | None) -> str:
    """The name a person gave the step, else its title, else its kind."""
    if node is None:
        return ""
    if node.name and not is_default(node):
        return node.name
    return str(node.config.get("title") or "") or kind_label(node)


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

"""Settling unknown outcomes: one guarded UPDATE a verdict, the evidence as history, whoever cares told.

Everything of one settlement is in one transaction, in the product's lock order: what listeners hold
(executions) before messages, counters last. Only a message that is still unknown is settled, so a unit of a
budget goes back at most once, and an answer that came meanwhile wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol

import structlog
from django.db import transaction
from django.db.models import F, Q

from core.bulk import update_from_values
from core.tenancy import workspace_scope
from sms.evidence import Finding, Verdict
from sms.models import SmsLog, SmsLogEvent, SmsStatus
from sms.reports import lock_messages, storable
from sms.transitions import UNKNOWN_EDGES
from sms.usage import ledger

log = structlog.get_logger(__name__)
EVENT: Final = "lookup"
PROVEN_ABSENT: Final = "proven_absent"
FIRST_POLL: Final = timedelta(minutes=1)
FOR_GOOD: Final = datetime(9999, 1, 1, tzinfo=UTC)  # `lookup_at` of an outcome that nobody will ever know


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """An outcome that became known. `accepted`: it went out; else it surely did not."""

    log_id: int
    workspace_id: int
    accepted: bool
    requested_at: datetime
    execution_id: int | None
    campaign_id: int | None
    node_id: int | None
    cycle: int


class Listener(Protocol):
    """Who is told of settled messages of one workspace, inside its scope and the transaction."""

    def hold(self, execution_ids: Sequence[int]) -> None:
        """Lock what must be locked before messages are."""
        ...

    def settled(self, messages: Sequence[Settled], now: datetime) -> None: ...


_listeners: list[Listener] = []


def register_listener(listener: Listener) -> None:
    if listener not in _listeners:
        _listeners.append(listener)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A message that was looked up, with what came of it and when it is looked up next (None: never)."""

    log_id: int
    workspace_id: int
    execution_id: int | None
    finding: Finding
    next_at: datetime | None
    about: Mapping[str, Any]


def settle(questions: Sequence[Question], now: datetime) -> list[Settled]:
    """Store what was found of messages of one workspace, and move those that are decided.

    System code. A constant number of statements. Returns the messages whose outcome this call settled.
    """
    if not questions:
        return []
    workspace_id = questions[0].workspace_id
    with workspace_scope(workspace_id), transaction.atomic():
        executions = sorted({one.execution_id for one in questions if one.execution_id is not None})
        for listener in _listeners:
            listener.hold(executions)
        lock_messages(one.log_id for one in questions)
        SmsLogEvent.objects.bulk_create([_event(one, now) for one in questions], ignore_conflicts=True)
        moved = _move(questions, now)
        done = _describe(moved, questions)
        ledger.enter_messages([one.log_id for one in done if one.accepted])
        for listener in _listeners:
            listener.settled(done, now)
    if done:
        accepted = sum(one.accepted for one in done)
        log.info(
            "sms_outcomes_settled", workspace_id=workspace_id, accepted=accepted, absent=len(done) - accepted
        )
    return done


def _move(questions: Sequence[Question], now: datetime) -> set[int]:
    """The columns of each verdict change together; what was decided elsewhere meanwhile stays."""
    moved: set[int] = set()
    for verdict, to in UNKNOWN_EDGES.items():
        rows = [_columns(one, to, now) for one in questions if one.finding.verdict is verdict]
        moved |= set(update_from_values(SmsLog, rows, guard={"status": SmsStatus.UNKNOWN}))
    again = [
        {"id": one.log_id, "lookup_at": one.next_at or FOR_GOOD, "updated_at": now}
        for one in questions
        if one.finding.verdict is Verdict.UNDECIDED
    ]
    update_from_values(SmsLog, again, guard={"status": SmsStatus.UNKNOWN})
    return moved


def _columns(one: Question, to: str, now: datetime) -> dict[str, Any]:
    columns: dict[str, Any] = {"id": one.log_id, "status": to, "updated_at": now}
    if one.finding.verdict is Verdict.ABSENT:
        # Kept until the step that waits has taken note: then `note_taken` clears it.
        return {**columns, "error_code": PROVEN_ABSENT, "lookup_at": now}
    entry = one.finding.entry
    message_id = (entry.message_id if entry else str(one.about.get("message_id", "")))[:40]
    return {
        **columns,
        "error_code": "",
        "lookup_at": None,
        "provider_message_id": message_id,
        "poll_at": now + FIRST_POLL if message_id else None,
    }


def _event(one: Question, now: datetime) -> SmsLogEvent:
    entry = one.finding.entry
    payload: dict[str, Any] = {"why": one.finding.why, **one.about}
    if entry is not None:
        payload["listed"] = {"number": entry.reference, "sent_at": entry.sent_at.isoformat()}
    if one.next_at is not None and one.finding.verdict is Verdict.UNDECIDED:
        payload["next_look"] = one.next_at.isoformat()
    return SmsLogEvent(
        workspace_id=one.workspace_id,
        sms_log_id=one.log_id,
        event=EVENT,
        provider_status=one.finding.verdict,
        payload=storable(payload),
        dedupe_key=f"{EVENT}:{now.isoformat()}",
        occurred_at=now,
    )


def _describe(moved: set[int], questions: Iterable[Question]) -> list[Settled]:
    if not moved:
        return []
    verdicts = {one.log_id: one.finding.verdict for one in questions}
    rows = SmsLog.objects.filter(pk__in=moved).order_by("pk")
    return [
        Settled(
            log_id=row.pk, workspace_id=row.workspace_id, accepted=verdicts[row.pk] is Verdict.ACCEPTED,
            requested_at=row.request_at or row.created_at, execution_id=row.execution_id,
            campaign_id=row.campaign_id, node_id=row.node_id, cycle=row.cycle,
        )
        for row in rows
    ]  # fmt: skip


def note_taken(ids: Iterable[int], now: datetime) -> None:
    """The steps whose messages were proven absent have gone on from it (another try, or the end of tries)."""
    wanted = set(ids)
    if wanted:
        never_taken = (SmsStatus.FAILED, SmsStatus.REJECTED)
        rows = SmsLog.objects.filter(Q(lookup_at__isnull=False), pk__in=wanted, status__in=never_taken)
        rows.update(lookup_at=None, updated_at=now)


def note_absent(ids: Iterable[int], now: datetime) -> None:
    """Messages that were unknown and of which a late answer says that they were not sent: the steps that wait
    for them fail for now, once. The provider's own code moves to the detail of the message."""
    wanted = set(ids)
    if wanted:
        rows = SmsLog.objects.filter(pk__in=wanted, status__in=(SmsStatus.FAILED, SmsStatus.REJECTED))
        rows.update(error_message=F("error_code"), error_code=PROVEN_ABSENT, lookup_at=now, updated_at=now)

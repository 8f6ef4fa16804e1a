"""Asking providers what became of the messages they took: less and less often, until the line's finality."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, ClassVar
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from core.bulk import update_from_values
from core.locks import named_lock
from sms.channel import gateway_of
from sms.finality import Finality
from sms.models import ProviderAccount, SmsLog, SmsStatus
from sms.providers.base import SmsGateway
from sms.reports import Match, lock_messages, match_waiting, store
from sms.types import DeliveryReport

log = structlog.get_logger(__name__)

LOCK = "sms_poll_deliveries"
# After the first look, a minute after sending, the next one is this much later each time.
BACK_OFF = tuple(timedelta(minutes=m) for m in (5, 15, 60, 180, 360, 720))
SOON = timedelta(minutes=1)
OPEN_STATUSES = (SmsStatus.SUBMITTED, SmsStatus.SENT)
GIVE_UP_AFTER = 3  # unanswered questions in a row end an account's turn
MAX_AT_ONCE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PollReport:
    """What one round did. `busy`: another process was at it, and nothing was done here."""

    asked: int = 0
    answered: int = 0
    moved: int = 0
    late: int = 0  # reports that had waited for their message
    busy: bool = False

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Due:
    """One message to ask about."""

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "pk", "workspace_id", "provider_message_id", "provider_account_id", "polls", "request_at",
        "created_at", "sender_number",
    )  # fmt: skip

    pk: int
    workspace_id: int
    message_id: str
    account_id: UUID | None
    polls: int
    sent_at: datetime
    line: str


@dataclass(slots=True)
class _Turn:
    """One account's turn in a round: it ends when the provider stops answering.

    `every`: seconds between two questions at least, whatever the number of threads.
    """

    gateway: SmsGateway
    every: float = 0.0
    silent: int = 0
    free_at: float = 0.0
    lock: Lock = field(default_factory=Lock)

    def ask(self, ids: Sequence[str], until: float) -> tuple[bool, dict[str, DeliveryReport]]:
        """Whether the provider was asked, and what it said."""
        if not self._wait_for_turn(until):
            return False, {}
        reports = self.gateway.deliveries(ids)
        with self.lock:
            self.silent = 0 if reports else self.silent + 1
        return True, {report.provider_message_id: report for report in reports}

    def _wait_for_turn(self, until: float) -> bool:
        """Take the next free moment; False when the turn is over before it."""
        with self.lock:
            now = time.monotonic()
            slot = max(now, self.free_at)
            if self.silent >= GIVE_UP_AFTER or slot >= until:
                return False
            self.free_at = slot + self.every
        if slot > now:
            time.sleep(slot - now)
        return self.silent < GIVE_UP_AFTER


def next_poll(polls: int, now: datetime, last: datetime) -> datetime | None:
    """When to ask again after `polls` looks (0: the one under way is the first) and until `last`, the
    line's finality; None: never again."""
    if now >= last:
        return None
    return min(now + BACK_OFF[min(polls, len(BACK_OFF) - 1)], last)


def poll_due(now: datetime, limit: int = 200, *, seconds: float = 50) -> PollReport:
    """Ask about up to `limit` due messages, oldest first, and take in the answers.

    System code, all workspaces. The next look is written down before the first question, so a crash
    costs one look and nothing is asked in a loop. No transaction is open while a provider is asked.
    A constant number of statements whatever `limit` is. Ends after about `seconds`.
    """
    with named_lock(LOCK) as held:
        if not held:
            return PollReport(busy=True)
        late = match_waiting(now)
        due = _due(now, limit)
        if not due:
            return PollReport(late=late)
        turns = _turns(due)
        _schedule(due, now)
        answers = _ask_all(due, turns, time.monotonic() + seconds)
        report = _take_in(due, answers, now, late)
    log.info("sms_deliveries_polled", **report.as_dict())
    return report


def anything_due(now: datetime) -> bool:
    """Whether a round would find a message to ask about. System code, all workspaces; one query."""
    return due_rows(now).exists()


def due_rows(now: datetime) -> QuerySet[SmsLog]:
    """Those whose channel is closed are left for later: knocking on a locked door prolongs a block."""
    closed = ProviderAccount.unscoped.filter(paused_until__gt=now).values("pk")
    due = SmsLog.unscoped.filter(poll_at__lte=now, status__in=OPEN_STATUSES)
    return due.exclude(provider_account_id__in=closed)


def _due(now: datetime, limit: int) -> list[_Due]:
    rows = due_rows(now).order_by("poll_at", "pk").only(*_Due.COLUMNS)[:limit]
    return [
        _Due(
            row.pk, row.workspace_id, row.provider_message_id, row.provider_account_id, row.polls,
            row.request_at or row.created_at, row.sender_number,
        )
        for row in rows
    ]  # fmt: skip


def _turns(due: Iterable[_Due]) -> dict[UUID, _Turn]:
    wanted = {one.account_id for one in due if one.account_id}
    accounts = ProviderAccount.unscoped.filter(pk__in=wanted, is_active=True)
    every = 1 / settings.SMS_QUESTIONS_PER_SECOND
    return {account.pk: _Turn(gateway_of(account), every) for account in accounts}


def _schedule(due: Sequence[_Due], now: datetime) -> None:
    finality = Finality.load({one.workspace_id for one in due})
    rows = [
        {
            "id": one.pk,
            "poll_at": next_poll(one.polls, now, one.sent_at + finality.of(one.workspace_id, one.line)),
            "polls": one.polls + 1,
            "updated_at": now,
        }
        for one in due
    ]
    with transaction.atomic():
        lock_messages(one.pk for one in due)
        update_from_values(SmsLog, rows, guard={"status": OPEN_STATUSES})


def _ask_all(
    due: Sequence[_Due], turns: Mapping[UUID, _Turn], until: float
) -> dict[int, tuple[bool, DeliveryReport | None]]:
    """What became of each question, by message. A message whose account is gone is not asked about."""
    questions = [
        (turn, batch)
        for account_id, turn in turns.items()
        for batch in _batches([one for one in due if one.account_id == account_id], turn.gateway)
    ]
    if not questions:
        return {}
    at_once = min(MAX_AT_ONCE, settings.SEND_CONCURRENCY, len(questions))
    with ThreadPoolExecutor(at_once, thread_name_prefix="sms-poll") as pool:
        answers = pool.map(lambda one: one[0].ask([due.message_id for due in one[1]], until), questions)
        return {
            one.pk: (asked, reports.get(one.message_id))
            for (_turn, batch), (asked, reports) in zip(questions, answers, strict=True)
            for one in batch
        }


def _batches(due: Sequence[_Due], gateway: SmsGateway) -> list[Sequence[_Due]]:
    """As many messages in one question as the provider takes (`delivery_batch` of its gateway)."""
    size = int(getattr(gateway, "delivery_batch", 1))
    return [due[start : start + size] for start in range(0, len(due), size)]


def _take_in(
    due: Sequence[_Due], answers: Mapping[int, tuple[bool, DeliveryReport | None]], now: datetime, late: int
) -> PollReport:
    reports = {pk: report for pk, (_asked, report) in answers.items() if report is not None}
    matches = [
        Match(log_id=one.pk, workspace_id=one.workspace_id, reports=(reports[one.pk],))
        for one in due
        if one.pk in reports
    ]
    skipped = [pk for pk, (asked, _report) in answers.items() if not asked]
    with transaction.atomic():
        moved = store(matches, now)
        if skipped:  # their look was not used: soon again
            later = SmsLog.unscoped.filter(pk__in=skipped, status__in=OPEN_STATUSES)
            later.update(poll_at=now + SOON, updated_at=now)
    asked = len(answers) - len(skipped)
    return PollReport(asked=asked, answered=len(reports), moved=moved, late=late)

"""Looking up messages whose outcome is unknown: at the provider, by id where one is known, else in its list
of sent messages. Nothing here sends anything.

A round takes a batch of due messages, asks each account once (its list is read for all its messages
together, a bounded number of pages), and settles each workspace's messages apart. An account that does
not answer costs the others nothing.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import structlog
from django.conf import settings
from django.db.models import Q, QuerySet

from core.locks import named_lock
from sms.channel import gateway_of
from sms.evidence import NEARBY, TOLERANCE, Case, Finding, Ours, Verdict, judge
from sms.finality import Finality
from sms.models import ACCEPTED_STATUSES, ProviderAccount, SmsLog, SmsStatus
from sms.providers.base import OutboxReader, SmsGateway
from sms.settlement import Question, settle
from sms.types import DeliveryReport, DeliveryStatus, Outbox, Outcome

log = structlog.get_logger(__name__)

LOCK: Final = "sms_reconcile"
BATCH: Final = 100
AT_ONCE: Final = 8  # accounts asked at the same time
BY_ID: Final = 20  # single delivery questions to one account in one round
SOONEST, LATEST = timedelta(minutes=1), timedelta(hours=6)
WITNESS_IDS: Final = 25  # message numbers before and after ours in which witnesses are looked for
_Owner = tuple[int, UUID | None]  # workspace and account


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What one round did. `busy`: another process was at it, and nothing was done here."""

    looked_up: int = 0
    accepted: int = 0
    absent: int = 0
    undecided: int = 0
    accounts: int = 0
    failed: int = 0  # accounts whose messages could not be dealt with
    busy: bool = False

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(slots=True)
class _Turn:
    """One account's part of a round: its messages and, once asked, its answers."""

    gateway: SmsGateway | None
    rows: list[SmsLog] = field(default_factory=list)
    outbox: Outbox = field(default_factory=lambda: Outbox(outcome=Outcome.UNAVAILABLE, code="not_asked"))
    reports: dict[str, DeliveryReport] = field(default_factory=dict)

    def ask(self, until: float) -> None:
        """Network only, in a thread of its own."""
        if self.gateway is None or time.monotonic() >= until:
            return
        ids = [row.provider_message_id for row in self.rows if row.provider_message_id][:BY_ID]
        if ids:
            found = self.gateway.deliveries(ids)
            self.reports = {report.provider_message_id: report for report in found}
        begins = [_asked_at(row) for row in self.rows if not row.provider_message_id]
        if not begins:
            return
        if not isinstance(self.gateway, OutboxReader):
            self.outbox = Outbox(outcome=Outcome.UNAVAILABLE, code="no_list")
            return
        self.outbox = self.gateway.outbox(since=min(begins) - TOLERANCE, max_pages=settings.OUTBOX_PAGES)


def can_be_asked(gateway: SmsGateway) -> bool:
    """Whether an unknown outcome of this gateway's messages may become known by asking."""
    return isinstance(gateway, OutboxReader)


def next_lookup(asked_at: datetime, now: datetime, last: datetime) -> datetime | None:
    """When to look again: after as long as it is unknown already, six hours at most; None: never again."""
    if now >= last:
        return None
    return min(now + min(max(now - asked_at, SOONEST), LATEST), last)


def reconcile_due(now: datetime, *, limit: int = BATCH, seconds: float = 50) -> Round:
    """Look up to `limit` due messages up, oldest look first. System code, all workspaces.

    No transaction is open while a provider is asked. The number of statements grows with the accounts and
    workspaces of the batch, not with its messages. Ends after about `seconds`.
    """
    with named_lock(LOCK) as held:
        if not held:
            return Round(busy=True)
        rows = list(due_rows(now)[:limit])
        if not rows:
            return Round()
        finality = Finality.load({row.workspace_id for row in rows})
        turns = _turns(rows)
        _ask_all(list(turns.values()), time.monotonic() + seconds)
        report = _take_in(turns, finality, now)
    log.info("sms_reconciled", **report.as_dict())
    return report


def anything_due(now: datetime) -> bool:
    """Whether a round would find a message to look up. System code, all workspaces; one query."""
    return due_rows(now).exists()


def due_rows(now: datetime) -> QuerySet[SmsLog]:
    """Unknown messages whose look is due, and new ones. Those of a closed account wait with it."""
    closed = ProviderAccount.unscoped.filter(paused_until__gt=now).values("pk")
    new = Q(lookup_at__isnull=True, request_at__lte=now - SOONEST)
    rows = SmsLog.unscoped.filter(Q(lookup_at__lte=now) | new, status=SmsStatus.UNKNOWN)
    return rows.exclude(provider_account_id__in=closed).order_by("lookup_at", "pk")


def _turns(rows: Iterable[SmsLog]) -> dict[_Owner, _Turn]:
    """An account that is gone or switched off answers nothing: its messages stay undecided."""
    by_owner: dict[_Owner, list[SmsLog]] = defaultdict(list)
    for row in rows:
        by_owner[(row.workspace_id, row.provider_account_id)].append(row)
    wanted = [account_id for _workspace, account_id in by_owner if account_id]
    accounts = ProviderAccount.unscoped.filter(pk__in=wanted, is_active=True)
    gateways: dict[UUID | None, SmsGateway] = {account.pk: gateway_of(account) for account in accounts}
    return {key: _Turn(gateways.get(key[1]), found) for key, found in by_owner.items()}


def _ask_all(turns: Sequence[_Turn], until: float) -> None:
    def ask(turn: _Turn) -> None:
        try:
            turn.ask(until)
        except Exception:  # a mistake of ours in one adapter must not cost the other accounts their turn
            log.exception("sms_lookup_raised", provider=turn.gateway.key if turn.gateway else "")
            turn.outbox = Outbox(outcome=Outcome.UNAVAILABLE, code="internal_error")

    with ThreadPoolExecutor(min(AT_ONCE, len(turns)), thread_name_prefix="sms-lookup") as pool:
        list(pool.map(ask, turns))


def _take_in(turns: Mapping[_Owner, _Turn], finality: Finality, now: datetime) -> Round:
    looked, accepted, absent, failed = 0, 0, 0, 0
    for (workspace_id, account_id), turn in turns.items():
        try:
            done = settle(_questions(turn, finality, now), now)
        except Exception:  # one account's trouble is not the others'
            log.exception("sms_settlement_failed", workspace_id=workspace_id, account_id=str(account_id))
            failed += 1
            continue
        looked += len(turn.rows)
        accepted += sum(one.accepted for one in done)
        absent += sum(not one.accepted for one in done)
    return Round(
        looked_up=looked, accepted=accepted, absent=absent, undecided=looked - accepted - absent,
        accounts=len(turns), failed=failed,
    )  # fmt: skip


def _questions(turn: _Turn, finality: Finality, now: datetime) -> list[Question]:
    cases = _cases(turn.rows)
    return [_question(row, cases[row.pk], turn, finality.ends_at(row), now) for row in turn.rows]


def _question(row: SmsLog, case: Case, turn: _Turn, last: datetime, now: datetime) -> Question:
    about: dict[str, Any] = {}
    if row.provider_message_id:
        report = turn.reports.get(row.provider_message_id)
        finding, about = _by_id(report), {"message_id": row.provider_message_id}
        if report is not None:
            about["provider_status"] = report.provider_status
    else:
        finding = judge(case, turn.outbox, now)
        about = {"lines_read": len(turn.outbox.entries)}
        if turn.outbox.covers_since is not None:
            about["covers_since"] = turn.outbox.covers_since.isoformat()
    return Question(
        log_id=row.pk, workspace_id=row.workspace_id, execution_id=row.execution_id, finding=finding,
        next_at=next_lookup(_asked_at(row), now, last), about=about,
    )  # fmt: skip


def _by_id(report: DeliveryReport | None) -> Finding:
    """An answer about the very id proves that the provider took it; no answer proves nothing."""
    if report is None or report.status is DeliveryStatus.UNKNOWN:
        return Finding(verdict=Verdict.UNDECIDED, why="id_not_known")
    return Finding(verdict=Verdict.ACCEPTED, why="id_known")


def _cases(rows: Sequence[SmsLog]) -> dict[int, Case]:
    """The cases of one account's messages (at least one). Two queries."""
    mine = SmsLog.unscoped.filter(workspace_id=rows[0].workspace_id)
    begin = min(map(_asked_at, rows)) - 2 * NEARBY
    end = max(map(_asked_at, rows)) + 2 * NEARBY
    statuses = [*ACCEPTED_STATUSES, SmsStatus.UNKNOWN, SmsStatus.SENDING]
    to_numbers = mine.filter(
        Q(status__in=statuses) | ~Q(provider_message_id=""),
        phone_number__in={row.phone_number for row in rows},
        request_at__range=(begin, end),
    )
    others: dict[str, list[Ours]] = defaultdict(list)
    for row in to_numbers.order_by("pk"):
        others[row.phone_number].append(_ours(row))
    nearby = Q(pk__in=[])
    for row in rows:
        nearby |= Q(pk__range=(row.pk - WITNESS_IDS, row.pk + WITNESS_IDS))
    taken = mine.filter(nearby, provider_account_id=rows[0].provider_account_id, status__in=ACCEPTED_STATUSES)
    witnesses = [_ours(row) for row in taken.order_by("pk")]
    return {row.pk: _case(row, others[row.phone_number], witnesses) for row in rows}


def _case(row: SmsLog, to_number: Sequence[Ours], taken: Sequence[Ours]) -> Case:
    within = timedelta(seconds=settings.HTTP_BUDGET_SECONDS)
    lease = timedelta(seconds=settings.LEASE_SECONDS)
    absent_after = max(timedelta(minutes=settings.RECONCILE_ABSENT_MINUTES), lease + within)
    low, high = row.pk - WITNESS_IDS, row.pk + WITNESS_IDS
    return Case(
        message=_ours(row),
        others=[other for other in to_number if other.log_id != row.pk],
        witnesses=[one for one in taken if low <= one.log_id <= high],
        taken_within=lease + within,
        absent_after=absent_after,
    )


def _ours(row: SmsLog) -> Ours:
    return Ours(
        log_id=row.pk, to=row.phone_number, text=row.final_message, sender=row.sender_number,
        message_id=row.provider_message_id, requested_at=_asked_at(row),
        is_open=not row.provider_message_id and row.status not in ACCEPTED_STATUSES,
    )  # fmt: skip


def _asked_at(row: SmsLog) -> datetime:
    asked_at: datetime = row.request_at or row.created_at
    return asked_at

"""The send path of a chunk: attempts written before any call, one call each, every result recorded once.

Callers own the transactions: `insert` runs in the one that reserves, the calls (`sms.sending_calls`) in
none, `record` in the one that records. Nothing here is ever retried: an attempt row is at most one request,
for ever.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from core.bulk import insert_rows, update_from_values
from core.statements import read
from sms import breaker, queries
from sms.channel import Account
from sms.models import ACCEPTED_STATUSES, SmsLog, SmsStatus
from sms.settlement import PROVEN_ABSENT
from sms.types import Outcome, SendResult
from sms.usage import ledger

PRODUCER = "automation"  # the model's default: who asks for the messages of executions
FIRST_POLL = timedelta(minutes=1)
THROTTLE_PAUSE = timedelta(minutes=15)


class StepKey(NamedTuple):
    """One visit of an execution to a node: at most one message of it may ever be accepted."""

    execution_id: int
    cycle: int
    node_id: int


class Fate(StrEnum):
    """What the caller does next about one attempt."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    TRY_AGAIN = "try_again"
    CHANNEL_CLOSED = "channel_closed"
    IN_DOUBT = "in_doubt"


_FATES = {
    Outcome.ACCEPTED: (Fate.ACCEPTED, SmsStatus.SUBMITTED),
    Outcome.REFUSED: (Fate.REFUSED, SmsStatus.REJECTED),
    Outcome.NOT_SENT: (Fate.TRY_AGAIN, SmsStatus.FAILED),
    Outcome.UNAVAILABLE: (Fate.CHANNEL_CLOSED, SmsStatus.FAILED),
    Outcome.THROTTLED: (Fate.CHANNEL_CLOSED, SmsStatus.FAILED),
    Outcome.IN_DOUBT: (Fate.IN_DOUBT, SmsStatus.UNKNOWN),
}
STATUS_OF = {outcome: status for outcome, (_fate, status) in _FATES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A row to be written: a message that is about to leave (`sending`), or one that will not."""

    step: StepKey
    workflow_id: int
    campaign_id: int
    subject_type: str
    subject_id: int
    attempt_number: int
    status: str
    phone: str = field(default="", repr=False)
    template: str = field(default="", repr=False)
    text: str = field(default="", repr=False)
    parts: int = 1  # the text is billed as
    sender: str = ""
    account: Account | None = None
    has_next: bool = False  # another account can be tried if this one surely has nothing
    error_code: str = ""
    error_message: str = ""

    @property
    def is_trial(self) -> bool:
        """Whether it leaves by an account whose pause is over: then it is the only one."""
        return self.account is not None and self.account.half_open

    @property
    def idempotency_key(self) -> str:
        return f"{self.step.execution_id}:{self.step.cycle}:{self.step.node_id}:{self.attempt_number}"

    def identity(self) -> dict[str, str]:
        """The keys of the row besides `idempotency_key`: what is sent to whom, by which visit."""
        recipient = hashlib.blake2b(self.phone.encode(), digest_size=12).hexdigest()
        suffix = f"_{self.attempt_number}" if self.attempt_number > 1 else ""
        content = f"{self.phone}|{self.sender}|{self.text}".encode()
        return {
            "partition_key": f"{self.step.execution_id}:{self.step.cycle}",
            "row_key": f"{recipient}_sms_{self.step.node_id}{suffix}",
            "content_hash": hashlib.sha256(content).hexdigest(),
        }


@dataclass(slots=True, kw_only=True)
class Attempt:
    """A committed row. `budget` names the counters its unit was taken from (opaque to this module)."""

    log_id: int
    draft: Draft
    budget: Any = None
    on_unknown: str = "continue"  # what the caller does when nobody knows whether it went out
    skips_when_used_up: bool = False  # the caller passes the message by after its last try

    @property
    def step(self) -> StepKey:
        return self.draft.step


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An attempt with what the provider said."""

    attempt: Attempt
    result: SendResult

    @property
    def fate(self) -> Fate:
        return _FATES[self.result.outcome][0]

    @property
    def status(self) -> str:
        return _FATES[self.result.outcome][1]

    @property
    def uses_budget(self) -> bool:
        """Whether the reserved unit stays used: accepted, or it may have gone out."""
        return self.fate in (Fate.ACCEPTED, Fate.IN_DOUBT)

    def not_before(self, now: datetime) -> datetime | None:
        """How long the provider asked us to stay away, if it did."""
        seconds = self.result.retry_after_s
        return now + timedelta(seconds=seconds) if seconds else None

    def reopens_at(self, now: datetime) -> datetime:
        """When the channel is tried again."""
        if self.result.outcome is Outcome.UNAVAILABLE:
            account = self.attempt.draft.account
            return now + (account.backoff if account else queries.DEFAULT_BACKOFF)
        return self.not_before(now) or now + THROTTLE_PAUSE


@dataclass(slots=True)
class Past:
    """What earlier attempts of one visit came to."""

    last_attempt: int = 0
    accepted: bool = False
    unknown: bool = False
    in_flight_id: int = 0
    tried: Counter[UUID] = field(default_factory=Counter)  # accounts that surely have nothing of it
    absent_id: int = 0  # proven not sent by a look-up, and the step has not gone on from it yet
    asked_at: datetime | None = None  # when the unfinished or unknown one left
    account_id: UUID | None = None  # by which account

    @property
    def decided(self) -> bool:
        """Whether this visit must not send again."""
        return self.accepted or self.unknown or bool(self.in_flight_id)


class History(dict[StepKey, Past]):
    def next_attempt(self, key: StepKey) -> int:
        """1 for the first attempt. A number is a key: two workers that both count the same rows collide."""
        past = self.get(key)
        return past.last_attempt + 1 if past else 1


def attempts_of(keys: Iterable[StepKey]) -> History:
    """Earlier attempts of these visits. One query."""
    wanted = set(keys)
    history = History()
    columns = read(
        SmsLog,
        ("id", "execution_id", "cycle", "node_id", "attempt_number", "status", "provider_message_id",
         "error_code", "lookup_at", "request_at", "provider_account_id"),
        {"execution_id": {key.execution_id for key in wanted}},
        workspace_id=queries.current_workspace(),
    )  # fmt: skip
    for pk, execution, cycle, node, number, status, provider_id, error, lookup_at, asked_at, by in columns:
        key = StepKey(execution or 0, cycle, node or 0)
        if key not in wanted:
            continue
        past = history.setdefault(key, Past())
        past.last_attempt = max(past.last_attempt, number)
        # A report may call an accepted message failed or rejected later: it was taken all the same.
        past.accepted = past.accepted or status in ACCEPTED_STATUSES or bool(provider_id)
        past.unknown = past.unknown or status == SmsStatus.UNKNOWN
        if status == SmsStatus.SENDING:
            past.in_flight_id = pk
        if status == SmsStatus.FAILED and by is not None:
            past.tried[by] += 1
        if status in (SmsStatus.SENDING, SmsStatus.UNKNOWN):
            past.asked_at, past.account_id = asked_at, by
        elif error == PROVEN_ABSENT and lookup_at is not None:
            past.absent_id = pk
    return history


def close_unfinished(ids: Sequence[int], now: datetime) -> int:
    """sending -> unknown for attempts whose worker died: they may have gone out and are never sent again."""
    if not ids:
        return 0
    return SmsLog.objects.filter(pk__in=ids, status=SmsStatus.SENDING).update(
        status=SmsStatus.UNKNOWN, response_at=now, error_code="interrupted", updated_at=now
    )


def close_abandoned(execution_ids: Sequence[int], now: datetime) -> list[tuple[int, int]]:
    """`close_unfinished` for whatever these executions left; returns (message, execution) of those closed."""
    left = SmsLog.objects.filter(execution_id__in=execution_ids, status=SmsStatus.SENDING).order_by("pk")
    owners = dict(left.select_for_update(no_key=True).values_list("pk", "execution_id"))
    close_unfinished(list(owners), now)
    return [(pk, owner) for pk, owner in owners.items() if owner is not None]


def phones_in_flight(phones: Iterable[str]) -> set[str]:
    """Those of `phones` that a message is on its way to right now. One query."""
    workspace_id = queries.current_workspace()
    on_the_way = {"workspace_id": workspace_id, "status": SmsStatus.SENDING, "phone_number": set(phones)}
    return {phone for (phone,) in read(SmsLog, ("phone_number",), on_the_way)}


def insert(drafts: Sequence[Draft], token: UUID, now: datetime) -> dict[StepKey, Attempt]:
    """Write the rows; returns those that are ours. A key that exists already is left as it is.

    One statement: of two workers that computed the same key one inserts, the other gets nothing back.
    """
    workspace_id = queries.current_workspace()
    by_key = {draft.idempotency_key: draft for draft in drafts}
    rows = [_row(draft, key, workspace_id, token, now) for key, draft in by_key.items()]
    inserted = insert_rows(SmsLog, rows, skip_conflicts=True)
    return {by_key[key].step: Attempt(log_id=pk, draft=by_key[key]) for pk, key in inserted}


def _row(draft: Draft, key: str, workspace_id: int, token: UUID, now: datetime) -> dict[str, Any]:
    leaves = draft.status == SmsStatus.SENDING
    return {
        "idempotency_key": key,
        "workspace_id": workspace_id,
        "execution_id": draft.step.execution_id,
        "workflow_id": draft.workflow_id,
        "campaign_id": draft.campaign_id,
        "node_id": draft.step.node_id,
        "subject_type": draft.subject_type,
        "subject_id": draft.subject_id,
        "cycle": draft.step.cycle,
        "attempt_number": draft.attempt_number,
        "claim_token": token,
        "status": draft.status,
        "phone_number": draft.phone[:20],
        "sender_number": draft.sender[:20],
        "message_template": draft.template,
        "final_message": draft.text,
        "segments": draft.parts,
        "provider": draft.account.kind if draft.account else "",
        "provider_account_id": draft.account.id if draft.account else None,
        "request_at": now if leaves else None,
        "response_at": None if leaves else now,
        "error_code": draft.error_code,
        "error_message": draft.error_message[:500],
        **draft.identity(),
    }


def record(answers: Sequence[Answer], retry_at: Mapping[int, datetime], now: datetime) -> set[int]:
    """Store every result once; returns the ids of the rows that took theirs.

    Only a row that is still `sending` (or was closed as `unknown` while its answer was under way) takes
    a result. Each accepted message gets its row in the ledger. An account that cannot send is closed, one
    that passed its trial opens. Two statements when all is well.
    """
    rows = [
        _result_columns(answer, retry_at.get(answer.attempt.step.execution_id), now) for answer in answers
    ]
    recorded = set(update_from_values(SmsLog, rows, guard={"status": (SmsStatus.SENDING, SmsStatus.UNKNOWN)}))
    ledger.enter(_usage(answers, recorded, now))
    _judge_accounts(answers, now)
    return recorded


def _usage(answers: Sequence[Answer], recorded: set[int], now: datetime) -> list[ledger.Accepted]:
    return [
        ledger.Accepted(
            log_id=answer.attempt.log_id, event_type=PRODUCER, text=draft.text, counted=draft.parts,
            reported=answer.result.parts, line=draft.sender[:20], campaign_id=draft.campaign_id,
            provider=draft.account.kind if draft.account else "", at=now,
        )
        for answer in answers
        if answer.fate is Fate.ACCEPTED
        and answer.attempt.log_id in recorded
        and (draft := answer.attempt.draft)
    ]  # fmt: skip


def _result_columns(answer: Answer, retry_at: datetime | None, now: datetime) -> dict[str, Any]:
    result, draft = answer.result, answer.attempt.draft
    message_id = result.provider_message_id or ""
    return {
        "id": answer.attempt.log_id,
        "status": answer.status,
        "response_at": now,
        "provider_message_id": message_id[:40],
        "provider_response": dict(result.raw),
        "error_code": result.code[:40],
        "retry_scheduled_at": retry_at,
        "poll_at": now + FIRST_POLL if message_id else None,
        "segments": result.parts or draft.parts,
        "updated_at": now,
    }


def _judge_accounts(answers: Sequence[Answer], now: datetime) -> None:
    """What the answers say of the accounts they came from, by id: all workers take the rows in one order."""
    by_account: dict[UUID, list[Answer]] = {}
    for answer in answers:
        if (account := answer.attempt.draft.account) is not None:
            by_account.setdefault(account.id, []).append(answer)
    for account_id, given in sorted(by_account.items()):
        shut = [a for a in given if a.fate is Fate.CHANNEL_CLOSED and a.result.code != "channel_closed"]
        if shut:
            until = max(answer.reopens_at(now) for answer in shut)
            breaker.close(account_id, until=until, reason=shut[0].result.code, now=now)
        elif any(answer.attempt.draft.is_trial for answer in given):
            if any(answer.fate in (Fate.ACCEPTED, Fate.REFUSED) for answer in given):
                breaker.reopen(account_id, now)  # a refusal is about the message: the account works
            else:
                breaker.release_trials([account_id], now)

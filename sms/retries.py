"""Trying a failed message again by hand: a new attempt with a key of its own, asked for by support.

    ask        the failed row stays as it is; a new one is written, `retry_ready`     one transaction, audited
    send_due   retry_ready -> sending by one conditional UPDATE, then one call         nothing writes it again

Only what surely reached nobody is tried: a message that failed or was refused before the provider took it,
never one that was accepted or whose outcome is unknown. Two wishes for one message compute the same key, and
the database takes one of them. Blacklist, pause, hours and limits are asked again when it is about to leave.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

import structlog
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from blacklist.queries import is_blocked
from core import clock
from core.bulk import insert_rows
from core.errors import NotFound, Refused
from core.locks import lock_contacts
from core.queue import enqueue
from sms import breaker, single, switch
from sms.channel import Account, Channel
from sms.line_windows import LineWindows
from sms.lines import LineKind, MessageKind, choose
from sms.models import ACCEPTED_STATUSES, SmsLog, SmsLogEvent, SmsStatus, SmsUsage
from sms.reasons import retry_refusal
from sms.retry_hooks import Turn, owner_of
from sms.types import SendResult
from workspaces import audit
from workspaces.models import User
from workspaces.queries import sending_is_stopped

log = structlog.get_logger(__name__)

SEND: Final = "sms.send_retries"
EVENT: Final = "support_retry"
RETRYABLE: Final = (SmsStatus.FAILED, SmsStatus.REJECTED)
WENT: Final = (*ACCEPTED_STATUSES, SmsStatus.SENDING, SmsStatus.UNKNOWN)
TOO_LATE: Final = timedelta(hours=24)  # of a wish that found no moment to leave
LOOK_AGAIN: Final = timedelta(minutes=1)
GRACE: Final = timedelta(seconds=30)  # the queue's, before the tick asks again
AT_ONCE: Final = 50


class CannotRetry(Refused):
    code = "cannot_retry"


class _NotNow(Exception):
    """Rolls a claim back."""

    def __init__(self, turn: Turn) -> None:
        super().__init__(turn.refused)
        self.turn = turn


def refusal(row: SmsLog) -> str:
    """A reason word why `row` may not be tried again by hand; "" when it may. Constant queries."""
    if row.status not in RETRYABLE:
        return "not_failed"
    if not row.final_message or not row.phone_number:
        return "nothing_to_send"
    if row.provider_message_id or SmsUsage.objects.filter(sms_log_id=row.pk).exists():
        return "was_accepted"
    if SmsLog.objects.filter(idempotency_key=_next_key(row)).exists() or _others(row).exists():
        return "tried_already"
    return owner_of(row).refusal(row)


def ask(pk: int, *, reason: str, user: User) -> int:
    """Have a failed message tried again; returns the number of the new attempt.

    Raises NotFound, and CannotRetry with the reason in words.
    """
    with transaction.atomic():
        row = SmsLog.objects.filter(pk=pk).first()
        if row is None:
            raise NotFound
        owner_of(row).hold(row)
        row = SmsLog.objects.select_for_update(no_key=True).get(pk=pk)
        refused = refusal(row)
        inserted = [] if refused else insert_rows(SmsLog, [_next_row(row)], skip_conflicts=True)
        if not inserted:
            raise CannotRetry(retry_refusal(refused or "tried_already"))
        new_pk: int = inserted[0][0]
        _remember(row, new_pk, reason, user)
        transaction.on_commit(lambda: wake(row.workspace_id))
    return new_pk


def _remember(row: SmsLog, new_pk: int, reason: str, user: User) -> None:
    SmsLogEvent.objects.create(
        workspace_id=row.workspace_id, sms_log_id=row.pk, event=EVENT, provider_status="",
        payload={"sms_log": new_pk, "reason": reason, "user": user.pk}, dedupe_key=EVENT,
        occurred_at=clock.now(),
    )  # fmt: skip
    new = {"sms_log": new_pk, "retry_of": row.pk, "retry_reason": reason}
    audit.record("sms.retry_asked", entity=row, old={"status": row.status}, new=new, user=user)


def _others(row: SmsLog) -> QuerySet[SmsLog]:
    """Attempts of the same visit that went out, may have, or are newer than `row`."""
    if row.execution_id is None:
        return SmsLog.objects.none()
    visit = SmsLog.objects.filter(execution_id=row.execution_id, cycle=row.cycle, node_id=row.node_id)
    later = Q(attempt_number__gt=row.attempt_number) | Q(status__in=WENT) | ~Q(provider_message_id="")
    return visit.filter(later).exclude(pk=row.pk)


def _next_key(row: SmsLog) -> str:
    return f"{_base(row.idempotency_key, row)}:{row.attempt_number + 1}"


def _base(key: str, row: SmsLog) -> str:
    """The key without its attempt: a step's keys always end in one, others from the second on."""
    if row.execution_id is not None or row.attempt_number > 1:
        return key.removesuffix(f":{row.attempt_number}")
    return key


def _next_row(row: SmsLog) -> dict[str, object]:
    kept = (
        "workspace_id", "producer", "execution_id", "workflow_id", "campaign_id", "node_id", "subject_type",
        "subject_id", "cycle", "partition_key", "content_hash", "phone_number", "sender_number",
        "message_template", "final_message", "segments", "provider", "provider_account_id",
    )  # fmt: skip
    row_key = row.row_key
    if row.attempt_number > 1:  # older rows have a colon there
        row_key = row_key.removesuffix(f"_{row.attempt_number}").removesuffix(f":{row.attempt_number}")
    return {name: getattr(row, name) for name in kept} | {
        "idempotency_key": _next_key(row),
        "row_key": f"{row_key}_{row.attempt_number + 1}",
        "attempt_number": row.attempt_number + 1,
        "status": SmsStatus.RETRY_READY,
    }


def wake(workspace_id: int) -> None:
    """Have the due retries of a workspace sent soon. Raises nothing."""
    try:
        enqueue(SEND, {"workspace_id": workspace_id}, group="default")
    except Exception:  # whatever a broker raises: the next tick asks again
        log.exception("retries_not_queued", workspace_id=workspace_id)


def due_rows(now: datetime) -> QuerySet[SmsLog]:
    """Retries that the queue should have sent by now. System code, all workspaces."""
    waiting = SmsLog.unscoped.filter(status=SmsStatus.RETRY_READY, created_at__lte=now - GRACE)
    return waiting.exclude(not_before__gt=now)


def send_due(now: datetime) -> int:
    """Send the retries of the active workspace that are due; returns how many left.

    Call it outside a transaction. Each is claimed by one conditional UPDATE and called once at most.
    """
    waiting = SmsLog.objects.filter(status=SmsStatus.RETRY_READY)
    waiting.filter(created_at__lt=now - TOO_LATE).update(
        status=SmsStatus.EXPIRED, error_code="expired", response_at=now, updated_at=now
    )
    rows = list(waiting.exclude(not_before__gt=now).order_by("pk")[:AT_ONCE])
    if not rows or not switch.is_on(rows[0].workspace_id):
        return 0
    return sum(_send(row) for row in single.in_time(rows))


def _send(row: SmsLog) -> bool:
    """Everything is asked at this moment: the calls before may have taken minutes, and closed an account."""
    now, channel, windows = clock.now(), Channel.load(row.workspace_id), LineWindows.load()
    account = _account(row, channel, now)
    if account is None or not account.is_open(now):
        closed_until = account.paused_until if account else None
        return _put_off(row, max(closed_until or now, now + LOOK_AGAIN))
    sender, refused = _sender(row, channel, account)
    if refused:
        return _end(row, SmsStatus.CANCELLED, refused, now)
    opens_at = windows.next_open(sender, row.phone_number, now)
    if opens_at > now:
        return _put_off(row, opens_at)
    if account.half_open and not breaker.take_trial(account.id, now):
        return _put_off(row, now + LOOK_AGAIN)
    if not single.permitted(account.id) or not _claim(row, account, sender, now):
        if account.half_open:
            breaker.release_trials([account.id], now)
        return False
    row.sender_number, row.request_at = sender[:20], now
    _record(row, account, single.offer(account, row, sender))
    return True


def _account(row: SmsLog, channel: Channel, now: datetime) -> Account | None:
    """The account it was for, if that may send now; else whichever may."""
    own = channel.accounts.get(str(row.provider_account_id))
    return own if own is not None and own.is_open(now) else channel.route(None, {}, now).account


def _sender(row: SmsLog, channel: Channel, account: Account) -> tuple[str, str]:
    """The line and why it can not leave by it. Another account uses its own line of the same kind."""
    kind = MessageKind.PROMOTIONAL if owner_of(row).is_promotional(row) else MessageKind.SERVICE
    wanted = row.sender_number if row.sender_number in account.lines else ""
    own = channel.accounts.get(str(row.provider_account_id))
    lines = own.sender_lines if own else ()
    approved = any(one.number == row.sender_number and one.kind is LineKind.PATTERN for one in lines)
    if approved and not wanted:
        return "", "line_gone"  # an approved text belongs to one account
    line, refused = choose(account.sender_lines, wanted, kind)
    return (line.number if line else ""), refused


def _claim(row: SmsLog, account: Account, sender: str, now: datetime) -> bool:
    """retry_ready -> sending. False: it does not leave now, and its row says why or when."""
    try:
        with transaction.atomic():
            lock_contacts(row.workspace_id, [row.phone_number], exclusive=True, sends=True)
            owner_of(row).hold(row)
            if sending_is_stopped(row.workspace_id):
                return _put_off(row, now + LOOK_AGAIN)
            if is_blocked(row.workspace_id, "sms", row.phone_number):
                return _end(row, SmsStatus.BLACKLISTED, "blacklisted", now)
            if _others(row).exclude(status__in=RETRYABLE).exists():
                return _end(row, SmsStatus.CANCELLED, "tried_already", now)
            claimed = SmsLog.objects.filter(pk=row.pk, status=SmsStatus.RETRY_READY).update(
                status=SmsStatus.SENDING, sender_number=sender[:20], provider=account.kind,
                provider_account_id=account.id, request_at=now, updated_at=now,
            )  # fmt: skip
            turn = owner_of(row).take(row, now) if claimed else Turn()
            if not turn.is_now:
                raise _NotNow(turn)
            return claimed == 1
    except IntegrityError:  # another message to the number is on its way
        return _put_off(row, now + LOOK_AGAIN)
    except _NotNow as stop:
        if stop.turn.refused:
            return _end(row, SmsStatus.CANCELLED, stop.turn.refused, now)
        return _put_off(row, stop.turn.until or now + LOOK_AGAIN)


def _record(row: SmsLog, account: Account, result: SendResult) -> None:
    now = clock.now()
    owner, status = owner_of(row), single.status_of(result)
    with transaction.atomic():
        # Whoever settled it meanwhile has told it, and given its unit back.
        stored = single.store_result(row, result, now, still=[SmsStatus.SENDING, SmsStatus.UNKNOWN])
        if stored:
            owner.tell(row, status, result.code, now)
        single.judge(account, result, now)
        if stored and status in RETRYABLE:
            owner.give_back(row)


def _put_off(row: SmsLog, until: datetime) -> bool:
    waiting = SmsLog.objects.filter(pk=row.pk, status=SmsStatus.RETRY_READY)
    waiting.update(not_before=until, updated_at=clock.now())
    return False


def _end(row: SmsLog, status: SmsStatus, code: str, now: datetime) -> bool:
    SmsLog.objects.filter(pk=row.pk, status=SmsStatus.RETRY_READY).update(
        status=status, error_code=code[:40], response_at=now, updated_at=now
    )
    return False

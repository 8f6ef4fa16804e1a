"""The one message that an opt-out answers: "you get no more messages from us".

It is a message row like any other, written in the transaction of the opt-out and sent afterwards by the
queue. The block that the opt-out made does not stop it; nothing else of this module is exempt from
anything. A message of a person is answered at most once, and a number at most once a day, so two machines
that answer each other fall silent.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

import structlog
from django.db import IntegrityError, transaction

from core import clock
from core.bulk import insert_rows
from core.locks import lock_contacts
from core.phones import mobile_or_none
from core.queue import enqueue
from core.text import normalize_text
from sms import breaker, single, switch
from sms.channel import Account, Channel
from sms.inbound.hooks import Subject
from sms.lines import MessageKind, choose
from sms.models import InboundSms, SmsLog, SmsStatus
from sms.parts import count_parts
from sms.types import SendResult
from workspaces.queries import sending_is_stopped

log = structlog.get_logger(__name__)

PRODUCER = "opt_out"
SEND = "sms.send_replies"
ONE_IN = timedelta(hours=24)  # for one number
TOO_LATE = timedelta(hours=24)  # an answer after a day confuses more than it tells
LOOK_AGAIN = timedelta(minutes=1)
AT_ONCE = 50


def reserve(inbound: InboundSms, confirmation: str, subject: Subject | None) -> int | None:
    """Write the answer's row and have it sent soon; returns its number, None when there is no answer.

    Call it in the transaction that blocks the number, whose lock keeps two opt-outs of one number apart.
    """
    text = normalize_text(confirmation)
    if not switch.is_on(inbound.workspace_id):  # what people say is heard, and nothing is sent
        return None
    if not text or mobile_or_none(inbound.number) is None or _answered_lately(inbound.number):
        return None
    row = _row(inbound, text, subject)
    inserted = insert_rows(SmsLog, [row], skip_conflicts=True)
    if not inserted:
        return None
    transaction.on_commit(lambda: wake(inbound.workspace_id))
    return inserted[0][0]


def _answered_lately(number: str) -> bool:
    since = clock.now() - ONE_IN
    return SmsLog.objects.filter(phone_number=number, producer=PRODUCER, created_at__gt=since).exists()


def _row(inbound: InboundSms, text: str, subject: Subject | None) -> dict[str, object]:
    recipient = hashlib.blake2b(inbound.number.encode(), digest_size=12).hexdigest()
    content = f"{inbound.number}|{inbound.line}|{text}".encode()
    return {
        "idempotency_key": f"{PRODUCER}:{inbound.pk}",
        "workspace_id": inbound.workspace_id,
        "producer": PRODUCER,
        "subject_type": subject.subject_type if subject else "",
        "subject_id": subject.subject_id if subject else None,
        "partition_key": f"{PRODUCER}:{inbound.pk}",
        "row_key": f"{recipient}_sms",
        "content_hash": hashlib.sha256(content).hexdigest(),
        "status": SmsStatus.QUEUED,
        "phone_number": inbound.number,
        "sender_number": inbound.line,  # where they wrote to, if that line can still answer
        "message_template": text,
        "final_message": text,
        "segments": count_parts(text).parts,
    }


def wake(workspace_id: int) -> None:
    """Have the due answers of a workspace sent soon. Raises nothing."""
    try:
        enqueue(SEND, {"workspace_id": workspace_id}, group="default")
    except Exception:  # whatever a broker raises: the next tick asks again
        log.exception("replies_not_queued", workspace_id=workspace_id)


def send_due(now: datetime) -> int:
    """Send the answers of the active workspace that are due; returns how many left.

    Call it outside a transaction. Each is claimed by one conditional UPDATE and called once at most.
    """
    waiting = SmsLog.objects.filter(campaign_id__isnull=True, producer=PRODUCER, status=SmsStatus.QUEUED)
    waiting.filter(created_at__lt=now - TOO_LATE).update(
        status=SmsStatus.EXPIRED, response_at=now, updated_at=now
    )
    due = waiting.exclude(not_before__gt=now).order_by("pk")
    rows = list(due[:AT_ONCE])
    if not rows:
        return 0
    if not switch.is_on(rows[0].workspace_id):
        return 0
    return sum(_send(row) for row in single.in_time(rows))


def _send(row: SmsLog) -> bool:
    """Everything is asked at this moment: the calls before may have taken minutes, and closed an account."""
    now, channel = clock.now(), Channel.load(row.workspace_id)
    account = _account(channel, row.sender_number, now)
    if account is None or not account.is_open(now):
        closed_until = account.paused_until if account else None
        return _put_off(row, max(closed_until or now, now + LOOK_AGAIN))
    if account.half_open and not breaker.take_trial(account.id, now):
        return _put_off(row, now + LOOK_AGAIN)
    sender = _sender(account, row.sender_number)
    if not single.permitted(account.id) or not _claim(row, account, sender, now):
        if account.half_open:
            breaker.release_trials([account.id], now)
        return _put_off(row, now + LOOK_AGAIN)
    _record(row, account, single.offer(account, row, sender))
    return True


def _account(channel: Channel, line: str, now: datetime) -> Account | None:
    """The account that has the line the person wrote to, if it may send; else whichever may."""
    own = next((one for one in channel.accounts.values() if _own_line(one, line)), None)
    if own is not None and own.is_open(now):
        return own
    return channel.route(None, {}, now).account


def _own_line(account: Account, line: str) -> str:
    """The line of the account that `line`, in the provider's spelling, names; "" when it has none such."""
    national = line.removeprefix("00").removeprefix("98")
    spellings = {line, national, f"0{national}"} - {"", "0"}
    return next((number for number in account.lines if number in spellings), "")


def _sender(account: Account, line: str) -> str:
    """The line the person wrote to, else the account's own choice for a message that advertises nothing."""
    chosen, _why = choose(account.sender_lines, _own_line(account, line), MessageKind.SERVICE)
    return chosen.number if chosen else account.default_line


def _claim(row: SmsLog, account: Account, sender: str, now: datetime) -> bool:
    """queued -> sending. False: somebody else has it, or another message to the number is on its way."""
    try:
        with transaction.atomic():
            lock_contacts(row.workspace_id, [], exclusive=False, sends=True)
            if sending_is_stopped(row.workspace_id):
                return False
            claimed = SmsLog.objects.filter(pk=row.pk, status=SmsStatus.QUEUED).update(
                status=SmsStatus.SENDING,
                sender_number=sender[:20],
                provider=account.kind,
                provider_account_id=account.id,
                request_at=now,
                updated_at=now,
            )
    except IntegrityError:
        return False
    return claimed == 1


def _put_off(row: SmsLog, until: datetime) -> bool:
    waiting = SmsLog.objects.filter(pk=row.pk, status=SmsStatus.QUEUED)
    waiting.update(not_before=until, updated_at=clock.now())
    return False


def _record(row: SmsLog, account: Account, result: SendResult) -> None:
    now = clock.now()
    with transaction.atomic():
        single.store_result(row, result, now, still=[SmsStatus.SENDING, SmsStatus.UNKNOWN])
        single.judge(account, result, now)

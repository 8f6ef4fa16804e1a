"""A message that somebody sends from the settings page to see whether an account works."""

from __future__ import annotations

import hashlib
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from blacklist.queries import is_blocked
from core import clock
from core.errors import Refused
from core.locks import lock_contacts
from sms.channel import account_of
from sms.lines import PROMOTIONAL_ON_SERVICE, MessageKind, choose
from sms.models import ProviderAccount, SmsLog, SmsStatus
from sms.parts import count_parts
from sms.single import store_result
from sms.types import SendResult
from workspaces import audit
from workspaces.models import User
from workspaces.queries import sending_is_stopped

PRODUCER = "test"


class SendingStopped(Refused):
    code = "sending_stopped"


class AlreadySent(Refused):
    code = "test_already_sent"


class NumberBlocked(Refused):
    code = "number_blocked"


class NotApproved(Refused):
    code = "text_not_approved"


class WrongLine(Refused):
    code = PROMOTIONAL_ON_SERVICE


def send_test(
    account: ProviderAccount,
    *,
    to: str,
    text: str,
    sender: str,
    key: UUID,
    user: User,
    kind: str = MessageKind.PROMOTIONAL,
) -> SendResult:
    """Send one text to one canonical mobile number through `account`, whatever state the channel is in.

    `key` names this wish: asked for twice (a double click), it is sent once. The message is a row
    like any other, committed before the provider is called; call this outside a transaction.
    Raises SendingStopped, NumberBlocked for a number on the blacklist, AlreadySent for a known `key` or while
    another message to the number is under way, NotApproved for a text that is not the line's approved one,
    WrongLine for a promotional text on a line that may not carry it.
    """
    channel = account_of(account)
    _line, refused = choose(channel.sender_lines, sender, kind)
    if refused:
        raise WrongLine(_("This line is not for promotional messages."))
    sms = channel.outbound(to=to, text=text, sender=sender, reference=f"{PRODUCER}:{key}")
    if sms is None:
        raise NotApproved(_("This line sends its approved text only, with values in the places of it."))
    row = _reserve(account, to=to, text=text, sender=sender, key=key, user=user)
    result = channel.gateway.send(sms, deadline_s=float(settings.HTTP_BUDGET_SECONDS))
    with transaction.atomic():
        store_result(row, result, clock.now(), still=[SmsStatus.SENDING])
    return result


def _reserve(account: ProviderAccount, *, to: str, text: str, sender: str, key: UUID, user: User) -> SmsLog:
    try:
        with transaction.atomic():
            lock_contacts(account.workspace_id, [to], exclusive=False, sends=True)
            if sending_is_stopped(account.workspace_id):
                raise SendingStopped(_("All sending is stopped in this workspace; nothing was sent."))
            if is_blocked(account.workspace_id, "sms", to):
                raise NumberBlocked(_("This number is on the blacklist; nothing was sent."))
            row = SmsLog.objects.create(
                workspace_id=account.workspace_id,
                producer=PRODUCER,
                subject_type="",
                idempotency_key=f"{PRODUCER}:{account.workspace_id}:{key}",
                partition_key=f"{PRODUCER}:{account.pk}",
                row_key=str(key),
                content_hash=hashlib.sha256(f"{to}|{sender}|{text}".encode("utf-8", "replace")).hexdigest(),
                status=SmsStatus.SENDING,
                phone_number=to,
                sender_number=sender,
                message_template=text,
                final_message=text,
                segments=count_parts(text).parts,
                provider=account.kind,
                provider_account_id=account.pk,
                request_at=clock.now(),
            )
            audit.record("sms.test_sent", entity=account, new={"sms_log": row.pk}, user=user)
    except IntegrityError as exc:
        raise AlreadySent(_("This test was sent already, or a message to the number is on its way.")) from exc
    return row

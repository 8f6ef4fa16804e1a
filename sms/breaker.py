"""The circuit breaker of a provider account.

    healthy    `paused_until` is empty: messages pass
    closed     `paused_until` is ahead: nothing is tried, nothing used up
    half open  `paused_until` has passed: exactly one message is the trial, whatever the number of workers;
               its outcome opens the account or closes it again

Every move is one conditional UPDATE of the account's row. Callers own the transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import structlog
from django.conf import settings
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce

from sms.models import ProviderAccount, SmsSettings
from workspaces import audit

log = structlog.get_logger(__name__)
NOTICE_EVERY: Final = timedelta(hours=6)
TRIAL_WAIT: Final = timedelta(minutes=1)  # those who are not the trial look again after it


def close(account_id: UUID, *, until: datetime, reason: str, now: datetime) -> bool:
    """Nothing is tried through the account until `until`; never shortens a pause. True: this call did it."""
    rows = ProviderAccount.objects.filter(pk=account_id)
    open_now = rows.filter(Q(paused_until__isnull=True) | Q(paused_until__lt=until))
    closed = open_now.update(
        paused_until=until,
        paused_since=Coalesce(F("paused_since"), Value(now)),
        paused_reason=reason[:40],
        trial_until=None,
        updated_at=now,
    )
    if closed:
        log.warning("sms_account_closed", account_id=str(account_id), reason=reason, until=until.isoformat())
        _notify(account_id, now)
    return closed == 1


def take_trial(account_id: UUID, now: datetime) -> bool:
    """Become the one message that tries the account after its pause. False: another one is.

    The right expires with a worker's lease, so that a worker that died does not keep the account closed.
    """
    rows = ProviderAccount.objects.filter(
        Q(trial_until__isnull=True) | Q(trial_until__lte=now), pk=account_id, paused_until__lte=now
    )
    until = now + timedelta(seconds=settings.LEASE_SECONDS)
    return rows.update(trial_until=until, updated_at=now) == 1


def release_trials(account_ids: Collection[UUID], now: datetime) -> None:
    """The trial said nothing of the account (or never left): the next message is the trial."""
    if account_ids:
        ProviderAccount.objects.filter(pk__in=account_ids).update(trial_until=None, updated_at=now)


def reopen(account_id: UUID, now: datetime) -> bool:
    """The trial passed: the outage is over. A pause that began meanwhile stays."""
    rows = ProviderAccount.objects.filter(pk=account_id, paused_until__lte=now)
    reopened = rows.update(
        paused_until=None, paused_since=None, paused_reason="", trial_until=None, updated_at=now
    )
    if reopened:
        log.info("sms_account_reopened", account_id=str(account_id))
    return reopened == 1


Reopened = Callable[[int, Collection[datetime]], None]
_listeners: list[Reopened] = []


def register_listener(listener: Reopened) -> None:
    """`listener(workspace_id, moments)`: a person ended the pauses that ran until `moments`."""
    if listener not in _listeners:
        _listeners.append(listener)


def tell_reopened(workspace_id: int, moments: Collection[datetime]) -> None:
    """Inside the transaction that ended the pauses: whoever was put off until then is due now."""
    for listener in _listeners if moments else ():
        listener(workspace_id, moments)


def _notify(account_id: UUID, now: datetime) -> None:
    """Tell the owner: once an outage, and at most every six hours in a workspace.

    One conditional UPDATE decides, so two workers that find the same outage tell of it once. The notice
    is a line in the audit log; while the outage lasts the pages show a banner.
    """
    account = ProviderAccount.objects.get(pk=account_id)
    due = Q(last_outage_notice_at__isnull=True) | Q(
        last_outage_notice_at__lte=now - NOTICE_EVERY, last_outage_notice_at__lt=account.paused_since
    )
    SmsSettings.objects.get_or_create(workspace_id=account.workspace_id)
    rows = SmsSettings.objects.filter(due, workspace_id=account.workspace_id)
    if rows.update(last_outage_notice_at=now, updated_at=now) == 1:
        new = {"paused_until": account.paused_until, "paused_reason": account.paused_reason}
        audit.record("sms.channel_closed", entity=account, new=new, user=None)

"""What is left on the provider accounts: asked for on a schedule, kept with its time, told when it runs low.

Credit is information. What stops sending is the provider's own answer to a message (`sms/breaker.py`).
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from core.tenancy import workspace_scope
from sms.channel import gateway_of
from sms.models import ProviderAccount, SmsSettings
from sms.providers.base import SmsGateway
from sms.types import CreditResult, Outcome
from workspaces import audit

log = structlog.get_logger(__name__)
NOTICE_EVERY: Final = timedelta(hours=6)
AT_ONCE: Final = 8
MOST: Final = Decimal(999_999_999_999)  # no account has more; SQLite keeps decimals as floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Low:
    """An account whose credit is below what the workspace wants to be told of."""

    account: ProviderAccount
    below: Decimal


def anything_due(now: datetime) -> bool:
    """Whether an account is to be asked. System code, all workspaces; one query."""
    return due_rows(now).exists()


def check_due(now: datetime, *, seconds: float = 50) -> int:
    """Ask the accounts that are due, eight at a time; returns how many answered. System code.

    The question is written down before it is asked, so a provider that hangs is not asked in a loop.
    """
    accounts = list(due_rows(now).select_related("workspace").order_by("credit_check_at", "pk")[:200])
    if not accounts:
        return 0
    ProviderAccount.unscoped.filter(pk__in=[one.pk for one in accounts]).update(credit_check_at=now)
    until = time.monotonic() + seconds
    gateways = [gateway_of(account) for account in accounts]
    with ThreadPoolExecutor(min(AT_ONCE, len(accounts)), thread_name_prefix="sms-credit") as pool:
        answers = list(pool.map(lambda gateway: _ask(gateway, until), gateways))
    for account, answer in zip(accounts, answers, strict=True):
        _keep(account, answer, now)
    return sum(answer is not None and answer.amount is not None for answer in answers)


def check_now(account: ProviderAccount, now: datetime) -> CreditResult:
    """Ask one account at once, for a person who wants to see it, and keep the answer."""
    answer = gateway_of(account).credit()
    _keep(account, answer, now)
    return answer


def low_accounts(workspace_id: int) -> list[Low]:
    """The active accounts of the workspace that have less than its threshold. Two queries."""
    row = SmsSettings.objects.filter(workspace_id=workspace_id).first()
    if row is None or row.low_credit_below is None:
        return []
    below = row.low_credit_below
    rows = ProviderAccount.objects.filter(workspace_id=workspace_id, is_active=True, credit__lt=below)
    return [Low(account=account, below=below) for account in rows.order_by("-is_primary", "created_at")]


def due_rows(now: datetime) -> QuerySet[ProviderAccount]:
    before = now - timedelta(minutes=settings.CREDIT_CHECK_MINUTES)
    rows = ProviderAccount.unscoped.filter(is_active=True, workspace__is_active=True)
    rows = rows.filter(Q(credit_check_at__isnull=True) | Q(credit_check_at__lte=before))
    return rows.exclude(sealed_credentials="")


def _ask(gateway: SmsGateway, until: float) -> CreditResult | None:
    if time.monotonic() >= until:
        return None
    try:
        return gateway.credit()
    except Exception:  # a mistake of ours in one adapter must not cost the other accounts their turn
        log.exception("sms_credit_raised", provider=gateway.key)
        return None


def _keep(account: ProviderAccount, answer: CreditResult | None, now: datetime) -> None:
    """The last known amount stays when a question has no answer; the fault is kept beside it."""
    if answer is None:
        return
    with workspace_scope(account.workspace_id), transaction.atomic():
        row = ProviderAccount.objects.filter(pk=account.pk)
        if answer.outcome is Outcome.ACCEPTED and answer.amount is not None:
            amount = max(-MOST, min(MOST, answer.amount)).quantize(Decimal("0.01"))
            row.update(credit=amount, credit_at=now, credit_check_at=now, credit_fault="")
            _tell_if_low(account, amount, now)
        else:
            row.update(credit_check_at=now, credit_fault=(answer.code or "unlisted")[:40])


def _tell_if_low(account: ProviderAccount, amount: Decimal, now: datetime) -> None:
    """A line in the audit log, at most every six hours in a workspace: one conditional UPDATE decides."""
    due = Q(last_credit_notice_at__isnull=True) | Q(last_credit_notice_at__lte=now - NOTICE_EVERY)
    rows = SmsSettings.objects.filter(due, workspace_id=account.workspace_id, low_credit_below__gt=amount)
    if rows.update(last_credit_notice_at=now, updated_at=now) == 1:
        log.warning("sms_credit_low", account_id=str(account.pk))
        audit.record("sms.credit_low", entity=account, new={"credit": amount}, user=None)

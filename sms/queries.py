"""Reads of the SMS channel. Every query is limited to the active workspace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.tenancy import current_workspace_id
from sms.models import ProviderAccount, SmsSettings

DEFAULT_BACKOFF = timedelta(minutes=30)


def current_workspace() -> int:
    return current_workspace_id()


def settings_of(workspace_id: int) -> SmsSettings | None:
    return SmsSettings.objects.filter(workspace_id=workspace_id).first()


def provider_ready(workspace_id: int) -> bool:
    """Whether an active account with credentials exists."""
    accounts = ProviderAccount.objects.filter(workspace_id=workspace_id, is_active=True)
    return accounts.exclude(sealed_credentials="").exists()


def usable_accounts(workspace_id: int) -> list[ProviderAccount]:
    """The accounts that are switched on, the one that sends by default first. One query."""
    rows = ProviderAccount.objects.filter(workspace_id=workspace_id, is_active=True)
    return list(rows.order_by("-is_primary", "created_at"))


def backoff_of(row: SmsSettings | None) -> timedelta:
    """How long an account rests after a fault of its own."""
    return timedelta(minutes=row.backoff_minutes) if row else DEFAULT_BACKOFF


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Which accounts may be tried at one moment."""

    now: datetime
    backoff: timedelta
    accounts: Mapping[str, ProviderAccount]

    def closed_until(self, wanted: str | None = None) -> datetime | None:
        """Until when nothing may be tried through the wanted account (else the default one). None: it may.

        No account, or one without credentials, is asked about again after the pause of a fault.
        """
        account = self.accounts.get(wanted or "") or next(iter(self.accounts.values()), None)
        if account is None or not account.sealed_credentials:
            return self.now + self.backoff
        paused_until: datetime | None = account.paused_until
        return paused_until if paused_until is not None and paused_until > self.now else None


def gate(workspace_id: int, now: datetime) -> Gate:
    """Two queries."""
    accounts = {str(row.pk): row for row in usable_accounts(workspace_id)}
    return Gate(now=now, backoff=backoff_of(settings_of(workspace_id)), accounts=accounts)


def closed_until(workspace_id: int, now: datetime) -> datetime | None:
    """Until when nothing may be tried through the default account; None: it may. Two queries."""
    return gate(workspace_id, now).closed_until()


def outages(workspace_id: int) -> list[ProviderAccount]:
    """The accounts whose breaker is not healthy: closed, or waiting for the outcome of a trial."""
    return [row for row in usable_accounts(workspace_id) if row.paused_until is not None]


def readiness(workspace_id: int, now: datetime) -> str:  # noqa: ARG001  # the breaker is asked when sending
    """Why the scheduler should leave this workspace's messages alone; "" when it should not."""
    return "" if provider_ready(workspace_id) else "provider_not_ready"

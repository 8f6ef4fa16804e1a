"""Reads of the SMS channel. Every query is limited to the active workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

from core.statements import load
from core.tenancy import current_workspace_id
from sms.models import ProviderAccount, SmsSettings

T = TypeVar("T")
DEFAULT_BACKOFF = timedelta(minutes=30)


_answers: ContextVar[dict[tuple[str, int], Any] | None] = ContextVar("sms_answers", default=None)


@contextmanager
def one_moment() -> Iterator[None]:
    """Inside, accounts and settings are read once: every question is about the same moment of sending."""
    token = _answers.set({})
    try:
        yield
    finally:
        _answers.reset(token)


def _asked(key: tuple[str, int], ask: Callable[[], T]) -> T:
    answers = _answers.get()
    if answers is None:
        return ask()
    if key not in answers:
        answers[key] = ask()
    return cast("T", answers[key])


def current_workspace() -> int:
    return current_workspace_id()


def settings_of(workspace_id: int) -> SmsSettings | None:
    return _asked(
        ("settings", workspace_id),
        lambda: next(iter(load(SmsSettings, {"workspace_id": workspace_id})), None),
    )


def provider_ready(workspace_id: int) -> bool:
    """Whether an active account with credentials exists."""
    accounts = ProviderAccount.objects.filter(workspace_id=workspace_id, is_active=True)
    return accounts.exclude(sealed_credentials="").exists()


def usable_accounts(workspace_id: int) -> list[ProviderAccount]:
    """The accounts that are switched on, the one that sends by default first. One query."""
    switched_on = {"workspace_id": workspace_id, "is_active": True}
    return _asked(
        ("accounts", workspace_id),
        lambda: load(ProviderAccount, switched_on, order=("-is_primary", "created_at")),
    )


def chain_of(rows: Sequence[ProviderAccount]) -> list[ProviderAccount]:
    """Of `usable_accounts` the one that sends by default, then those that stand in for it, in order."""
    stand_ins = [row for row in rows[1:] if row.fallback_position is not None]
    return [*rows[:1], *sorted(stand_ins, key=lambda row: row.fallback_position or 0)]


def sends_by_default(rows: Sequence[ProviderAccount], now: datetime) -> ProviderAccount | None:
    """The first account of the chain that may be tried at `now`, else the first one."""
    chain = chain_of(rows)
    able = (
        row
        for row in chain
        if row.sealed_credentials and (row.paused_until is None or row.paused_until <= now)
    )
    return next(able, next(iter(chain), None))


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
        """Until when nothing may be tried through the wanted account, else through the default one and
        those that stand in for it. None: it may.

        No account, or one without credentials, is asked about again after the pause of a fault.
        """
        named = self.accounts.get(wanted or "")
        chain = [named] if named else chain_of(list(self.accounts.values()))
        until = [self._closed_until(account) for account in chain]
        if not until:
            return self.now + self.backoff
        return None if None in until else min(moment for moment in until if moment)

    def _closed_until(self, account: ProviderAccount) -> datetime | None:
        if not account.sealed_credentials:
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

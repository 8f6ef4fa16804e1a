"""Changes of accounts and of the channel's settings: each one transaction, each one line of the audit log."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from core import clock
from core.crypto import SecretUnreadable, open_sealed, seal
from sms import breaker
from sms.models import ProviderAccount, SmsSettings
from workspaces import audit
from workspaces.models import User, Workspace

TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountValues:
    """What a person typed of an account. An empty user name or password keeps the stored one."""

    title: str
    kind: str
    base_url: str
    lines: Sequence[str]
    rate_per_second: int
    is_active: bool
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)


def add_account(workspace: Workspace, values: AccountValues, *, user: User) -> ProviderAccount:
    """A new account; the first one of a workspace is its primary one."""
    with transaction.atomic():
        first = not ProviderAccount.objects.filter(workspace=workspace, is_primary=True).exists()
        account = ProviderAccount(workspace=workspace, is_primary=first)
        _fill(account, values)
        account.save(force_insert=True)
        audit.record("sms.account_added", entity=account, new=_shown(account, values), user=user)
    return account


def change_account(account: ProviderAccount, values: AccountValues, *, user: User) -> bool:
    """True when anything differs from before. Credentials are told in the log as set, never by value."""
    with transaction.atomic():
        stored = ProviderAccount.objects.select_for_update(no_key=True).get(pk=account.pk)
        before = _shown(stored, None)
        _fill(stored, values)
        old, new = audit.changes(before, _shown(stored, values))
        if new:
            stored.save()
            audit.record("sms.account_changed", entity=stored, old=old, new=new, user=user)
    return bool(new)


def make_primary(account: ProviderAccount, *, user: User) -> bool:
    """Send through this account from now on. False when it was the primary one already."""
    with transaction.atomic():
        rows = ProviderAccount.objects.select_for_update(no_key=True).order_by("pk")
        primary = next((row for row in rows if row.is_primary), None)
        if primary is not None and primary.pk == account.pk:
            return False
        now = clock.now()
        ProviderAccount.objects.filter(is_primary=True).update(is_primary=False, updated_at=now)
        ProviderAccount.objects.filter(pk=account.pk).update(is_primary=True, updated_at=now)
        old = {"primary_account": primary.title if primary else None}
        audit.record(
            "sms.account_made_primary",
            entity=account,
            old=old,
            new={"primary_account": account.title},
            user=user,
        )
    return True


def change_settings(workspace: Workspace, values: Mapping[str, Any], *, user: User) -> bool:
    """Texts and pauses of the channel. True when anything differs from before."""
    with transaction.atomic():
        row = _settings_row(workspace)
        old, new = audit.changes({name: getattr(row, name) for name in values}, values)
        if new:
            SmsSettings.objects.filter(pk=row.pk).update(**new, updated_at=clock.now())
            audit.record("sms.settings_changed", entity=row, old=old, new=new, user=user)
    return bool(new)


def renew_webhook(workspace: Workspace, *, user: User) -> str:
    """A new secret for the webhook's address. The old address is a 404 from this moment on."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with transaction.atomic():
        row = _settings_row(workspace)
        SmsSettings.objects.filter(pk=row.pk).update(webhook_token=token, updated_at=clock.now())
        audit.record("sms.webhook_renewed", entity=row, new={"webhook_token": True}, user=user)
    return token


def reopen_channel(workspace: Workspace, *, user: User) -> bool:
    """End the pauses that faults began: somebody says it is mended. False when there was none.

    Whoever was put off until the end of a pause is due at once.
    """
    now = clock.now()
    with transaction.atomic():
        rows = ProviderAccount.objects.select_for_update(no_key=True).order_by("pk")
        paused = list(rows.filter(workspace=workspace, paused_until__gt=now))
        for account in paused:
            ProviderAccount.objects.filter(pk=account.pk).update(
                paused_until=None, paused_since=None, paused_reason="", trial_until=None, updated_at=now
            )
            old = {"paused_until": account.paused_until, "paused_reason": account.paused_reason}
            new = {"paused_until": None, "paused_reason": ""}
            audit.record("sms.channel_reopened", entity=account, old=old, new=new, user=user)
        breaker.tell_reopened(workspace.pk, {account.paused_until for account in paused})
    return bool(paused)


def has_credentials(account: ProviderAccount) -> bool:
    """Whether both parts are stored and can be read with the keys of this installation."""
    stored = _credentials(account)
    return bool(stored.get("username") and stored.get("password"))


def _credentials(account: ProviderAccount) -> dict[str, str]:
    if not account.sealed_credentials:
        return {}
    try:
        stored: dict[str, str] = json.loads(
            open_sealed(account.sealed_credentials, bound_to=account.seal_binding)
        )
    except (SecretUnreadable, ValueError):
        return {}
    return stored


def _fill(account: ProviderAccount, values: AccountValues) -> None:
    for name in ("title", "kind", "base_url", "rate_per_second", "is_active"):
        setattr(account, name, getattr(values, name))
    account.lines = list(values.lines)
    typed = {"username": values.username, "password": values.password}
    given = {name: value for name, value in typed.items() if value}
    if given:
        credentials = json.dumps({**_credentials(account), **given})
        account.sealed_credentials = seal(credentials, bound_to=account.seal_binding)


def _shown(account: ProviderAccount, typed: AccountValues | None) -> dict[str, Any]:
    """What the audit log may hold. A newly typed secret differs from the stored one without saying how."""
    shown = {
        "title": account.title,
        "kind": account.kind,
        "base_url": account.base_url,
        "lines": list(account.lines),
        "rate_per_second": account.rate_per_second,
        "is_active": account.is_active,
    }
    if typed is not None and (typed.username or typed.password):
        shown["credentials"] = True
    return shown


def _settings_row(workspace: Workspace) -> SmsSettings:
    row, _made = SmsSettings.objects.get_or_create(workspace=workspace)
    return row

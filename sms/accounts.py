"""Changes of accounts and of the channel's settings: each one transaction, each one line of the audit log."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from core import clock
from core.address_keys import without_keys, without_keys_in
from core.crypto import SecretUnreadable, open_sealed, seal
from sms import breaker
from sms.models import ProviderAccount, SmsSettings
from sms.providers.generic import ADDRESSES, SEALED
from sms.providers.registry import gateway_kind
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
    batch_size: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)  # the description of a provider, in clear
    sealed: Mapping[str, Any] = field(default_factory=dict, repr=False)  # and what of it is sealed
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
        before, sealed, addresses = _shown(stored, None), stored.sealed_credentials, _addresses(stored)
        _fill(stored, values)
        after = _shown(stored, values)
        other_key = any(
            address != old and without_keys(address) == without_keys(old)
            for address, old in zip(_addresses(stored), addresses, strict=True)
        )
        if stored.sealed_credentials != sealed or other_key:
            after["credentials"] = True  # also fields and headers: nothing that is shown tells of them
        old, new = audit.changes(before, after)
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
        ProviderAccount.objects.filter(pk=account.pk).update(
            is_primary=True, fallback_position=None, updated_at=now
        )
        old = {"primary_account": primary.title if primary else None}
        audit.record(
            "sms.account_made_primary",
            entity=account,
            old=old,
            new={"primary_account": account.title},
            user=user,
        )
    return True


def arrange_fallback(account: ProviderAccount, move: str, *, user: User) -> bool:
    """Change the order in which accounts stand in for the primary one. False when nothing changed.

    `move`: `in` puts the account last, `up` before the one before it, `out` takes it out.
    """
    with transaction.atomic():
        rows = list(ProviderAccount.objects.select_for_update(no_key=True).order_by("pk"))
        before = sorted(
            (row for row in rows if row.fallback_position is not None),
            key=lambda row: row.fallback_position or 0,
        )
        after = _moved(before, next((row for row in rows if row.pk == account.pk), None), move)
        if [row.pk for row in before] == [row.pk for row in after]:
            return False
        now = clock.now()
        ProviderAccount.objects.filter(fallback_position__isnull=False).update(
            fallback_position=None, updated_at=now
        )
        for position, row in enumerate(after, start=1):
            ProviderAccount.objects.filter(pk=row.pk).update(fallback_position=position, updated_at=now)
        audit.record(
            "sms.fallback_changed",
            entity=account,
            old={"fallback": [row.title for row in before]},
            new={"fallback": [row.title for row in after]},
            user=user,
        )
    return True


def _moved(
    chain: Sequence[ProviderAccount], account: ProviderAccount | None, move: str
) -> list[ProviderAccount]:
    rest = [row for row in chain if account is None or row.pk != account.pk]
    if account is None or account.is_primary or move == "out":
        return rest
    if move == "in":
        return [*rest, account]
    place = next((n for n, row in enumerate(chain) if row.pk == account.pk), None)
    if place is None:
        return list(chain)
    rest.insert(max(0, place - 1), account)
    return rest


def set_line_details(account: ProviderAccount, details: Mapping[str, Any], *, user: User) -> bool:
    """What each line of the account may carry. True when anything differs from before."""
    with transaction.atomic():
        stored = ProviderAccount.objects.select_for_update(no_key=True).get(pk=account.pk)
        old, new = audit.changes({"line_details": stored.line_details}, {"line_details": dict(details)})
        if new:
            ProviderAccount.objects.filter(pk=stored.pk).update(
                line_details=dict(details), updated_at=clock.now()
            )
            audit.record("sms.lines_changed", entity=stored, old=old, new=new, user=user)
    return bool(new)


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
    """Whether all that its kind asks for is stored and can be read with the keys of this installation."""
    known = gateway_kind(account.kind)
    return known is not None and set(known.secrets) <= stored_credentials(account)


def stored_credentials(account: ProviderAccount) -> set[str]:
    """The names of the credentials that are stored and can be read."""
    stored = _credentials(account)
    return {name for name in ("username", "password") if stored.get(name)}


def described(account: ProviderAccount) -> dict[str, Any]:
    """The sealed part of a provider's description, for its own form."""
    stored = _credentials(account)
    return {name: stored[name] for name in SEALED if name in stored}


def _credentials(account: ProviderAccount) -> dict[str, Any]:
    if not account.sealed_credentials:
        return {}
    try:
        stored: dict[str, Any] = json.loads(
            open_sealed(account.sealed_credentials, bound_to=account.seal_binding)
        )
    except (SecretUnreadable, ValueError):
        return {}
    return stored


def _fill(account: ProviderAccount, values: AccountValues) -> None:
    for name in ("title", "kind", "base_url", "rate_per_second", "is_active", "batch_size"):
        setattr(account, name, getattr(values, name))
    account.lines, account.options = list(values.lines), dict(values.options)
    account.line_details = {
        line: detail for line, detail in account.line_details.items() if line in account.lines
    }
    stored = _credentials(account)
    typed = {"username": values.username, "password": values.password, **values.sealed}
    given = {name: value for name, value in typed.items() if value or name in SEALED}
    if {**stored, **given} != stored or not account.sealed_credentials:
        account.sealed_credentials = seal(json.dumps({**stored, **given}), bound_to=account.seal_binding)


def _shown(account: ProviderAccount, typed: AccountValues | None) -> dict[str, Any]:
    """What the audit log may hold. A newly typed secret differs from the stored one without saying how."""
    shown = {
        "title": account.title,
        "kind": account.kind,
        "base_url": without_keys(account.base_url),
        "lines": list(account.lines),
        "rate_per_second": account.rate_per_second,
        "is_active": account.is_active,
        "batch_size": account.batch_size,
        "options": {
            name: without_keys_in(value) if isinstance(value, str) else value
            for name, value in account.options.items()
        },
    }
    if typed is not None and (typed.username or typed.password):
        shown["credentials"] = True
    return shown


def _addresses(account: ProviderAccount) -> tuple[str, ...]:
    return (account.base_url, *(str(account.options.get(name) or "") for name in ADDRESSES))


def _settings_row(workspace: Workspace) -> SmsSettings:
    row, _made = SmsSettings.objects.get_or_create(workspace=workspace)
    return row

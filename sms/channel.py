"""What a workspace sends by: its accounts with their gateways, and the texts that every message may carry."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import structlog

from core.crypto import SecretUnreadable, open_sealed
from core.text import normalize_text
from sms import queries
from sms.models import ProviderAccount, SmsSettings
from sms.providers.base import SmsGateway
from sms.providers.registry import gateway_for

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A provider account with its gateway; `lines[0]` is the default sender."""

    id: UUID
    kind: str
    lines: tuple[str, ...]
    gateway: SmsGateway
    backoff: timedelta = timedelta(minutes=30)  # how long it rests after a fault of its own
    half_open: bool = False  # its pause is over: one message tries it

    @property
    def default_line(self) -> str:
        return self.lines[0] if self.lines else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """The workspace's accounts and texts as they are at this moment."""

    accounts: Mapping[str, Account]
    primary: Account | None
    opt_out_text: str

    @classmethod
    def load(cls, workspace_id: int) -> Channel:
        """Two queries. An account whose secrets cannot be read answers "not configured"."""
        settings_row = SmsSettings.objects.filter(workspace_id=workspace_id).first()
        backoff = queries.backoff_of(settings_row)
        rows = queries.usable_accounts(workspace_id)
        accounts = {str(row.pk): _account(row, backoff) for row in rows}
        return cls(
            accounts=accounts,
            primary=next(iter(accounts.values()), None),
            opt_out_text=settings_row.opt_out_text if settings_row else "",
        )

    def account(self, wanted: str | None) -> Account | None:
        """The wanted account, else the primary one."""
        return self.accounts.get(wanted or "", self.primary)

    def compose(self, text: str, *, append_opt_out: bool) -> str:
        """The final message: normalised letters, the opt-out text on a line of its own."""
        message = normalize_text(text)
        if append_opt_out and self.opt_out_text and message:
            message = f"{message}\n{self.opt_out_text}"
        return message


def _account(row: ProviderAccount, backoff: timedelta) -> Account:
    return Account(
        id=row.pk, kind=row.kind, lines=tuple(row.lines), gateway=gateway_of(row), backoff=backoff,
        half_open=row.paused_until is not None,
    )  # fmt: skip


def gateway_of(row: ProviderAccount) -> SmsGateway:
    """The gateway of a stored account."""
    try:
        secrets = json.loads(open_sealed(row.sealed_credentials, bound_to=row.seal_binding))
    except (SecretUnreadable, ValueError):
        log.error("credentials_unreadable", account_id=str(row.pk))
        secrets = {}
    config = {**secrets, "base_url": row.base_url, "sender": row.lines[0] if row.lines else ""}
    return gateway_for(row.kind, config)

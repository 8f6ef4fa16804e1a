"""What a workspace sends by: its accounts with their gateways, and the texts that every message may carry."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog

from core import installation
from core.crypto import SecretUnreadable, open_sealed
from core.text import normalize_text
from sms import queries
from sms.lines import Line, LineKind, lines_of, pattern_of
from sms.models import ProviderAccount, SmsSettings
from sms.providers.base import SmsGateway
from sms.providers.closed import ClosedGateway
from sms.providers.registry import gateway_for
from sms.types import OutboundSms
from sms.wording import Wording

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
    details: Mapping[str, Any] = field(default_factory=dict)  # of the lines, see `sms.lines`
    batch_size: int = 1  # messages in one call at most
    paused_until: datetime | None = None
    has_secrets: bool = True

    @property
    def default_line(self) -> str:
        return self.lines[0] if self.lines else ""

    @property
    def sender_lines(self) -> tuple[Line, ...]:
        return lines_of(self.lines, self.details)

    def is_open(self, now: datetime) -> bool:
        """Whether it may be tried at all."""
        return self.has_secrets and (self.paused_until is None or self.paused_until <= now)

    def outbound(self, *, to: str, text: str, sender: str, reference: str) -> OutboundSms | None:
        """The message as this account offers it. None: the line has an approved text, and this is another."""
        if not self.details:
            return OutboundSms(to=to, text=text, sender=sender, reference=reference)
        line = next((one for one in self.sender_lines if one.number == sender), None)
        if line is None or line.kind is not LineKind.PATTERN:
            return OutboundSms(to=to, text=text, sender=sender, reference=reference)
        pattern = pattern_of(line, text)
        if pattern is None:
            return None
        return OutboundSms(to=to, text=text, reference=reference, pattern=pattern)


@dataclass(frozen=True, slots=True)
class Route:
    """`stands_in`: for the primary account. `has_next`: should the provider surely have nothing
    afterwards, another account can be tried at once."""

    account: Account | None
    stands_in: bool = False
    has_next: bool = False


@dataclass(frozen=True, slots=True)
class FrequencyCap:
    """So many promotional messages to one number in so many calendar days, today included."""

    messages: int
    days: int

    @classmethod
    def of(cls, row: SmsSettings | None) -> FrequencyCap | None:
        if row is None or row.frequency_messages is None:
            return None
        return cls(row.frequency_messages, max(1, row.frequency_days))


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """The workspace's accounts and texts as they are at this moment."""

    accounts: Mapping[str, Account]
    primary: Account | None
    opt_out_text: str
    chain: tuple[Account, ...] = ()  # the primary one and those that stand in for it, in their order
    wording: Wording = field(default_factory=Wording)
    frequency: FrequencyCap | None = None
    notes: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)  # of whoever asks it often

    @classmethod
    def load(cls, workspace_id: int) -> Channel:
        """Two queries. An account whose secrets cannot be read answers "not configured"."""
        settings_row = queries.settings_of(workspace_id)
        backoff = queries.backoff_of(settings_row)
        rows = queries.usable_accounts(workspace_id)
        accounts = {str(row.pk): account_of(row, backoff) for row in rows}
        return cls(
            accounts=accounts,
            primary=next(iter(accounts.values()), None),
            chain=tuple(accounts[str(row.pk)] for row in queries.chain_of(rows)),
            opt_out_text=settings_row.opt_out_text if settings_row else "",
            wording=Wording.of(settings_row),
            frequency=FrequencyCap.of(settings_row),
        )

    def account(self, wanted: str | None) -> Account | None:
        """The wanted account, else the primary one."""
        return self.accounts.get(wanted or "", self.primary)

    def route(self, wanted: str | None, tried: Mapping[UUID, int], now: datetime) -> Route:
        """The account the next attempt of a message leaves by.

        A step that names an account uses no other. Otherwise the open account of the chain that was
        tried least (`tried`: attempts of this message that surely reached nobody), in the chain's order.
        """
        if wanted and wanted in self.accounts:
            return Route(self.accounts[wanted])
        able = [account for account in self.chain if account.is_open(now)]
        if not able:
            return Route(self.primary)
        chosen = min(able, key=lambda account: tried.get(account.id, 0))
        others = [account for account in able if account.id != chosen.id]
        fresh = any(tried.get(one.id, 0) <= tried.get(chosen.id, 0) for one in others)
        return Route(chosen, stands_in=chosen is not self.chain[0], has_next=fresh)

    def compose(self, text: str, *, append_opt_out: bool) -> str:
        """The final message: normalised letters, the opt-out text on a line of its own."""
        message = normalize_text(text)
        if append_opt_out and self.opt_out_text and message:
            message = f"{message}\n{self.opt_out_text}"
        return message


def account_of(row: ProviderAccount, backoff: timedelta = timedelta(minutes=30)) -> Account:
    """A stored account as messages leave by it."""
    return Account(
        id=row.pk, kind=row.kind, lines=tuple(row.lines), gateway=gateway_of(row), backoff=backoff,
        half_open=row.paused_until is not None, details=row.line_details, batch_size=row.batch_size,
        paused_until=row.paused_until, has_secrets=bool(row.sealed_credentials),
    )  # fmt: skip


def gateway_of(row: ProviderAccount) -> SmsGateway:
    """The gateway of a stored account; one that reaches nobody while this database may not send."""
    if refused := installation.refusal():
        second = refused is installation.Refusal.SECOND_HOST
        return ClosedGateway("second_host") if second else ClosedGateway()
    try:
        secrets = json.loads(open_sealed(row.sealed_credentials, bound_to=row.seal_binding))
    except (SecretUnreadable, ValueError):
        log.error("credentials_unreadable", account_id=str(row.pk))
        secrets = {}
    config = {
        **secrets,
        "base_url": row.base_url,
        "sender": row.lines[0] if row.lines else "",
        "options": row.options,
    }
    return gateway_for(row.kind, config)

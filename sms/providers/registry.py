"""The kinds of provider the product knows, and the gateways this process has made."""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from sms.providers.base import SmsGateway
from sms.providers.codes import CodeTable, Meaning, meaning_of
from sms.providers.melipayamak import DEFAULT_BASE_URL, MelipayamakConfig, MelipayamakGateway
from sms.providers.melipayamak_codes import SEND_CODES
from sms.providers.null import NullGateway

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

Config = Mapping[str, str]
Factory = Callable[[Config], SmsGateway]

MAX_GATEWAYS = 256


@dataclass(frozen=True, slots=True)
class GatewayKind:
    """One registered provider. `codes` explains its codes to people."""

    kind: str
    label: StrPromise
    factory: Factory
    codes: CodeTable


_kinds: dict[str, GatewayKind] = {}
_made: OrderedDict[str, SmsGateway] = OrderedDict()
_made_lock = threading.Lock()
_salt = secrets.token_bytes(16)  # so that the cache's keys are no digests of passwords


def register_gateway(kind: str, label: StrPromise, factory: Factory, codes: CodeTable) -> None:
    """Make a provider known under `kind`, a stable word stored with accounts and messages.

    `factory` gets the account's stored fields and raises ValueError when they do not suffice.
    """
    _kinds[kind] = GatewayKind(kind, label, factory, codes)


def gateway_kinds() -> list[GatewayKind]:
    """Every registered kind, in order of registration."""
    return list(_kinds.values())


def gateway_for(kind: str, config: Config) -> SmsGateway:
    """The gateway of one account; the same object for the same account, so connections stay open.

    An unknown kind, or fields that do not make an account, give the gateway that always answers
    "not configured".
    """
    fingerprint = _fingerprint(kind, config)
    with _made_lock:
        if fingerprint in _made:
            _made.move_to_end(fingerprint)
        else:
            _made[fingerprint] = _make(kind, config)
        gateway = _made[fingerprint]
        while len(_made) > MAX_GATEWAYS:
            _made.popitem(last=False)
    return gateway


def meaning(kind: str, code: str) -> Meaning:
    """What `code`, stored with a message of provider `kind`, means; unlisted codes leave it in doubt."""
    known = _kinds.get(kind)
    return meaning_of(code, known.codes if known else {})


def _make(kind: str, config: Config) -> SmsGateway:
    if kind not in _kinds:
        return NullGateway()
    try:
        return _kinds[kind].factory(config)
    except ValueError:
        return NullGateway()


def _fingerprint(kind: str, config: Config) -> str:
    account = json.dumps([kind, sorted(config.items())])
    return hashlib.blake2b(account.encode("utf-8", "replace"), key=_salt).hexdigest()


def _melipayamak(config: Config) -> SmsGateway:
    username, password = config.get("username", ""), config.get("password", "")
    if not username or not password:
        raise ValueError("an account has a user name and a password")
    account = MelipayamakConfig(
        username=username,
        password=password,
        base_url=config.get("base_url") or DEFAULT_BASE_URL,
        sender=config.get("sender", ""),
    )
    return MelipayamakGateway(account)


register_gateway("melipayamak", _("Melipayamak"), _melipayamak, SEND_CODES)

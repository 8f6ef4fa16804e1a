"""The kinds of provider the product knows, and the gateways this process has made."""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from sms.providers.addresses import host_trusted
from sms.providers.base import SmsGateway
from sms.providers.codes import CodeTable, Meaning, meaning_of
from sms.providers.console_sentences import CONSOLE_CODES
from sms.providers.generic import GENERIC_CODES, SEALED, GenericConfig, GenericGateway
from sms.providers.melipayamak import DEFAULT_BASE_URL, MelipayamakConfig, MelipayamakGateway
from sms.providers.melipayamak_codes import SEND_CODES
from sms.providers.melipayamak_console import DEFAULT_CONSOLE_URL, ConsoleConfig, MelipayamakConsoleGateway
from sms.providers.null import NullGateway
from sms.providers.stdout import StdoutGateway

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

Config = Mapping[str, Any]
Factory = Callable[[Config], SmsGateway]

MAX_GATEWAYS = 256


@dataclass(frozen=True, slots=True)
class GatewayKind:
    """One registered provider. `codes` explains its codes to people.

    `secrets`: the credentials an account of it needs. `patterns`: it sends approved texts. `batches`: it
    takes many messages in one call. `described`: the account's form describes the provider itself.
    `lists_lines`: it tells which sender lines belong to the account.
    `development`: it sends nothing and exists only while the installation is in debug mode.
    """

    kind: str
    label: StrPromise
    factory: Factory
    codes: CodeTable
    secrets: tuple[str, ...] = ("username", "password")
    patterns: bool = False
    batches: bool = False
    described: bool = False
    lists_lines: bool = False
    development: bool = False


_kinds: dict[str, GatewayKind] = {}
_made: OrderedDict[str, SmsGateway] = OrderedDict()
_made_lock = threading.Lock()
_salt = secrets.token_bytes(16)  # so that the cache's keys are no digests of passwords


def register_gateway(kind: str, label: StrPromise, factory: Factory, codes: CodeTable, **traits: Any) -> None:
    """Make a provider known under `kind`, a stable word stored with accounts and messages.

    `factory` gets the account's stored fields and raises ValueError when they do not suffice. `traits`
    are those of `GatewayKind`.
    """
    _kinds[kind] = GatewayKind(kind, label, factory, codes, **traits)


def gateway_kinds() -> list[GatewayKind]:
    """Every kind an account can have here, in order of registration."""
    return [one for one in _kinds.values() if settings.DEBUG or not one.development]


def simulated_kinds() -> frozenset[str]:
    """Kinds that bring nothing to anybody: what they accept is not billed."""
    return frozenset(one.kind for one in _kinds.values() if one.development)


def gateway_kind(kind: str) -> GatewayKind | None:
    """The registered kind of that name."""
    return _kinds.get(kind)


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
    known = _kinds.get(kind)
    if known is None or (known.development and not settings.DEBUG):
        return NullGateway()
    try:
        return known.factory(config)
    except ValueError:
        return NullGateway()


def _fingerprint(kind: str, config: Config) -> str:
    account = json.dumps([kind, sorted(config.items())])
    return hashlib.blake2b(account.encode("utf-8", "replace"), key=_salt).hexdigest()


def _melipayamak(config: Config) -> SmsGateway:
    return MelipayamakGateway(_panel_account(config, DEFAULT_BASE_URL))


def _melipayamak_soap(config: Config) -> SmsGateway:
    # Here, so that only a process that speaks SOAP pays for loading zeep.
    from sms.providers.melipayamak_soap import DEFAULT_SOAP_URL, MelipayamakSoapGateway

    return MelipayamakSoapGateway(_panel_account(config, DEFAULT_SOAP_URL))


def _panel_account(config: Config, default_url: str) -> MelipayamakConfig:
    username, password = config.get("username", ""), config.get("password", "")
    if not username or not password:
        raise ValueError("an account has a user name and a password")
    base_url = config.get("base_url") or default_url
    return MelipayamakConfig(
        username=username,
        password=password,
        base_url=base_url,
        sender=config.get("sender", ""),
        public_only=_public_only(config.get("base_url", "")),
    )


def _melipayamak_console(config: Config) -> SmsGateway:
    key = config.get("password", "")
    if not key:
        raise ValueError("an account has a key")
    typed = config.get("base_url", "")
    account = ConsoleConfig(
        key=key,
        base_url=typed or DEFAULT_CONSOLE_URL,
        sender=config.get("sender", ""),
        public_only=_public_only(typed),
    )
    return MelipayamakConsoleGateway(account)


def _generic(config: Config) -> SmsGateway:
    options = {**(config.get("options") or {}), **{name: config[name] for name in SEALED if name in config}}
    names = (
        "method", "fields", "headers", "success_path", "success_value", "id_path", "code_path", "codes",
        "delivery_url", "delivery_path", "delivery_words", "credit_url", "credit_path",
    )  # fmt: skip
    url = config.get("base_url", "")
    description = GenericConfig(
        url=url,
        username=config.get("username", ""),
        password=config.get("password", ""),
        sender=config.get("sender", ""),
        public_only=_public_only(url),
        **{name: options[name] for name in names if name in options},
    )
    return GenericGateway(description)


def _public_only(url: str) -> bool:
    """An address that was typed, and that nobody who runs this installation vouches for, leads to the
    public internet or nowhere."""
    return bool(url) and not host_trusted(urlsplit(url).hostname or "")


register_gateway(
    "melipayamak",
    _("Melipayamak"),
    _melipayamak,
    SEND_CODES,
    patterns=True,
    batches=True,
    lists_lines=True,
)
register_gateway(
    "melipayamak_soap", _("Melipayamak (SOAP)"), _melipayamak_soap, SEND_CODES, patterns=True, batches=True
)
register_gateway(
    "melipayamak_console",
    _("Melipayamak (console)"),
    _melipayamak_console,
    CONSOLE_CODES,
    secrets=("password",),
    patterns=True,
    batches=True,
)
register_gateway(
    "generic", _("Another provider by HTTP"), _generic, GENERIC_CODES, secrets=(), described=True
)
register_gateway(
    "stdout", _("Development: print only"), lambda _config: StdoutGateway(), {}, secrets=(), development=True
)

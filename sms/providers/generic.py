"""A provider that a customer describes in a form: where to send, what to send, and how to read the answer.

Whatever the description does not settle leaves the message in doubt. A description can not make a message
leave twice: there is one request, and only answers that the customer listed as "not taken" are tried again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from django.utils.translation import gettext_lazy as _

from core.address_keys import keys_in
from sms.providers.codes import CodeTable, Meaning, http_code, meaning_of
from sms.providers.generic_questions import DELIVERY_WORDS, read_credit, read_delivery
from sms.providers.generic_reading import (
    PLACEHOLDER,
    InexactNumber,
    TruthValue,
    at,
    document_of,
    possible_keys,
)
from sms.providers.http import CallFault, Channel, Reply
from sms.providers.masking import masked
from sms.providers.melipayamak_slots import body_of, secrets_of
from sms.types import CreditResult, DeliveryReport, OutboundSms, Outcome, SendResult

SEALED: Final = ("fields", "headers")  # parts of a description that people write their keys straight into
ADDRESSES: Final = ("delivery_url", "credit_url")  # what else of a description is an address
METHODS: Final = ("post_form", "post_json", "get")
MESSAGE_WORDS: Final = frozenset({"to", "to98", "to_plus", "text", "sender", "reference"})
SECRET_WORDS: Final = frozenset({"username", "password"})
QUESTION_S: Final = 10.0
# What the customer may say of a code of the provider, and under which word it is stored.
MAPPED: Final[Mapping[str, Outcome]] = {
    "refused": Outcome.REFUSED,
    "not_sent": Outcome.NOT_SENT,
    "unavailable": Outcome.UNAVAILABLE,
    "throttled": Outcome.THROTTLED,
}
GENERIC_CODES: CodeTable = {
    "mapped_refused": Meaning(Outcome.REFUSED, _("The provider refused the message.")),
    "mapped_not_sent": Meaning(
        Outcome.NOT_SENT, _("The provider did not take the message; nothing was sent.")
    ),
    "mapped_unavailable": Meaning(
        Outcome.UNAVAILABLE, _("The provider takes no messages of this account. Look at its panel.")
    ),
    "mapped_throttled": Meaning(
        Outcome.THROTTLED, _("A limit of the provider is reached; nothing was sent.")
    ),
}

_ID = re.compile(r"(?!0+\Z)[A-Za-z0-9][A-Za-z0-9._:-]{0,39}")  # zeros and negative numbers say no
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]{1,60}")
# Ours to set: a second one could split the request or send it to another host.
CLOSED_HEADERS: Final = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection", "upgrade", "expect", "te"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GenericConfig:
    """The description. `fields` and `headers` are templates by name; `codes` says what a code means. The
    path and query of `url` may name the user name and the password too: many providers want a key there.

    A message is accepted when the answer has `success_value` at `success_path`; without that rule, when it
    has an id at `id_path`. One of the two is needed. Paths are names and places joined by dots.

    `delivery_url` (with `{id}` in it) and `credit_url` can be asked by GET with the same headers; they lie at
    the origin of `url`.
    """

    url: str = field(repr=False)  # addresses of before may hold keys
    method: str = "post_form"
    fields: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    success_path: str = ""
    success_value: str = ""
    id_path: str = ""
    code_path: str = ""
    codes: Mapping[str, str] = field(default_factory=dict)
    delivery_url: str = field(default="", repr=False)
    delivery_path: str = ""
    delivery_words: Mapping[str, str] = field(default_factory=dict)
    credit_url: str = field(default="", repr=False)
    credit_path: str = ""
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    sender: str = ""
    public_only: bool = True

    def __post_init__(self) -> None:
        """Raises ValueError for a description that can not be followed."""
        wrong = (
            self.method not in METHODS
            or not (self.success_path or self.id_path)
            or not set(self.codes.values()) <= set(MAPPED)
            or any(not header_allowed(name) for name in self.headers)
            or any(set(PLACEHOLDER.findall(value)) - SECRET_WORDS for value in self.headers.values())
            or any(one and origin(one) != origin(self.url) for one in (self.delivery_url, self.credit_url))
            or not set(self.delivery_words.values()) <= DELIVERY_WORDS
        )
        if wrong:
            raise ValueError("the description of the provider is incomplete")


def origin(url: str) -> str:
    """Where `url` leads, without its path: two addresses of one provider have the same."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def header_allowed(name: str) -> bool:
    """Whether a customer may set the header."""
    return bool(_HEADER_NAME.fullmatch(name)) and name.lower() not in CLOSED_HEADERS


class GenericGateway:
    """See `SmsGateway`. Deliveries and credit are asked for where the description says how; no lines."""

    key = "generic"

    def __init__(self, config: GenericConfig) -> None:
        parts = urlsplit(config.url)
        self._config = config
        self._channel = Channel(f"{parts.scheme}://{parts.netloc}", public_only=config.public_only)
        self._own = {
            "username": quote(config.username, safe="", errors="replace"),
            "password": quote(config.password, safe="", errors="replace"),
        }
        self._path = _filled(parts.path or "/", self._own)
        self._query = _filled(parts.query, self._own)
        literals = possible_keys([*config.fields.values(), *config.headers.values()])
        written_out = [
            key for url in (config.url, config.delivery_url, config.credit_url) for key in keys_in(url)
        ]
        self._secrets = [config.username, config.password, *sorted(literals), *written_out]

    def send(self, sms: OutboundSms, *, deadline_s: float) -> SendResult:
        sender = sms.sender or self._config.sender
        if not sender:
            return SendResult(outcome=Outcome.UNAVAILABLE, code="no_sender")
        words = self._words(sms, sender)
        fields = {name: _filled(value, words) for name, value in self._config.fields.items()}
        verb, path, body, kind = self._request(fields)
        headers = {**self._headers(), **({"Content-Type": kind} if kind else {})}
        if any(not _sound(value) for value in headers.values()):
            return SendResult(outcome=Outcome.UNAVAILABLE, code="not_configured")
        reply = self._channel.request(verb, path, body, headers, deadline_s=deadline_s)
        secrets = secrets_of([sms], [*self._secrets, words["to98"]])
        return read_send(reply, self._config, secrets=secrets)

    def deliveries(self, ids: Sequence[str]) -> list[DeliveryReport]:
        config = self._config
        if not config.delivery_url or not config.delivery_path:
            return []
        asked = ((one, self._ask(config.delivery_url, one)) for one in ids)
        reports = (
            read_delivery(
                one, reply, path=config.delivery_path, words=config.delivery_words, secrets=self._secrets
            )
            for one, reply in asked
        )
        return [report for report in reports if report is not None]

    def credit(self) -> CreditResult:
        config = self._config
        if not config.credit_url or not config.credit_path:
            return CreditResult(outcome=Outcome.REFUSED, code="not_offered")
        return read_credit(self._ask(config.credit_url), path=config.credit_path, secrets=self._secrets)

    def _ask(self, url: str, message_id: str = "") -> Reply | CallFault:
        parts = urlsplit(url)
        words = {**self._own, "id": quote(message_id, safe="", errors="replace")}
        path = _filled(parts.path or "/", words)
        query = f"?{_filled(parts.query, words)}" if parts.query else ""
        headers = self._headers()
        if any(not _sound(value) for value in headers.values()):
            return CallFault("not_configured")
        return self._channel.request("GET", f"{path}{query}", None, headers, deadline_s=QUESTION_S)

    def _headers(self) -> dict[str, str]:
        words = {"username": self._config.username, "password": self._config.password}
        return {
            "User-Agent": "Peyk",
            **{name: _filled(value, words) for name, value in self._config.headers.items()},
        }

    def lines(self) -> list[str]:
        return []

    def _words(self, sms: OutboundSms, sender: str) -> dict[str, str]:
        national = sms.to[1:] if sms.to.startswith("0") else sms.to
        return {
            "to": sms.to,
            "to98": f"98{national}",
            "to_plus": f"+98{national}",
            "text": sms.text,
            "sender": sender,
            "reference": sms.reference,
            "username": self._config.username,
            "password": self._config.password,
        }

    def _request(self, fields: Mapping[str, str]) -> tuple[str, str, bytes | None, str]:
        """The verb, the path with its query, the body and its type."""
        path = f"{self._path}?{self._query}" if self._query else self._path
        if self._config.method == "post_json":
            body = json.dumps(_nested(fields), ensure_ascii=False).encode("utf-8", "replace")
            return "POST", path, body, "application/json; charset=utf-8"
        form = urlencode(fields, errors="replace")
        if self._config.method == "post_form":
            return "POST", path, form.encode(), "application/x-www-form-urlencoded"
        return "GET", f"{path}{'&' if self._query else '?'}{form}", None, ""


def _filled(template: str, words: Mapping[str, str]) -> str:
    """The template with its placeholders replaced, once: what is put in is not looked at again."""
    return PLACEHOLDER.sub(lambda found: words.get(found[1], found[0]), template)


def _sound(header: str) -> bool:
    return header.isascii() and header.isprintable()


def _nested(fields: Mapping[str, str]) -> dict[str, object]:
    """`a.b = x` as an object in an object, `a[] = x` as a list of one."""
    document: dict[str, object] = {}
    for name, value in fields.items():
        *way, last = name.removesuffix("[]").split(".")
        inside = document
        for step in way:
            following = inside.setdefault(step, {})
            inside = following if isinstance(following, dict) else {}
        inside[last] = [value] if name.endswith("[]") else value
    return document


def read_send(reply: Reply | CallFault, config: GenericConfig, *, secrets: Sequence[str] = ()) -> SendResult:
    """The verdict of one answer by the customer's description. Pure; never raises."""
    if isinstance(reply, CallFault):
        return _result(reply.code, {"error": reply.detail})
    raw: dict[str, object] = {"http_status": reply.status, "body": body_of(reply, secrets)}
    document = document_of(reply.body)
    code = at(document, config.code_path) if config.code_path else None
    if code is not None and (mapped := config.codes.get(code)):
        return _result(f"mapped_{mapped}", {**raw, "code": masked(code, secrets)})
    if not 200 <= reply.status < 300:
        mapped = config.codes.get(http_code(reply.status))
        lone = _result(f"mapped_{mapped}" if mapped else http_code(reply.status), raw)
        wait = reply.retry_after_s
        return SendResult(outcome=lone.outcome, code=lone.code, raw=raw, retry_after_s=wait)
    if document is None:
        return _result("unreadable_answer", raw)
    found = at(document, config.id_path) if config.id_path else None
    known = (
        found is not None and not isinstance(found, InexactNumber | TruthValue) and bool(_ID.fullmatch(found))
    )
    rule = config.success_path
    if not (at(document, rule) == config.success_value if rule else known):
        return _result("unlisted", raw)
    return SendResult(outcome=Outcome.ACCEPTED, provider_message_id=found if known else None, raw=raw)


def _result(code: str, raw: Mapping[str, object]) -> SendResult:
    return SendResult(outcome=meaning_of(code, GENERIC_CODES).outcome, code=code, raw=raw)

"""Melipayamak (and Farapayamak, its second brand on the same hosts): the classic REST interface.

Its HTTP status is 200 for refusals too and `RetStatus` 35 only says "not done": the verdict is
`Value`, where a long number is the message's id and a short one is a code. Ids have 19 digits, more
than a float holds, so numbers are never read as anything but text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from sms.providers.codes import http_code, http_meaning, meaning_of
from sms.providers.http import CallFault, Channel, Reply
from sms.providers.masking import masked
from sms.providers.melipayamak_codes import DELIVERY_CODES, SEND_CODES
from sms.types import CreditResult, DeliveryReport, DeliveryStatus, OutboundSms, Outcome, SendResult

PATH = "/api/SendSMS/"
DEFAULT_BASE_URL = "https://rest.payamak-panel.com"

_ID = re.compile(r"[0-9]{10,32}")  # no code of the provider is longer than four characters
_CODE = re.compile(r"-?[0-9]{1,9}")
_ANSWER_KEYS = ("Value", "RetStatus", "StrRetStatus")
# `RetStatus` is a last resort, for an answer without `Value`: only these say by themselves what is wrong.
_RET_STATUS_CODES = frozenset({"0", "-108", "-109", "-110", "-111", "-112"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MelipayamakConfig:
    """One account. `password` is the panel's API key on newer accounts. `sender` is the line used by
    a message that names none. `query_deadline_s` bounds every call that sends nothing."""

    username: str
    password: str = field(repr=False)
    base_url: str = DEFAULT_BASE_URL
    sender: str = ""
    query_deadline_s: float = 10.0


class MelipayamakGateway:
    """See `SmsGateway`. Raises ValueError when made for an address a password must not go to."""

    key = "melipayamak"

    def __init__(self, config: MelipayamakConfig) -> None:
        self._config = config
        self._channel = Channel(config.base_url)

    def send(self, sms: OutboundSms, *, deadline_s: float) -> SendResult:
        sender = sms.sender or self._config.sender
        if not sender:
            return SendResult(outcome=Outcome.UNAVAILABLE, code="no_sender")
        form = {"to": sms.to, "from": sender, "text": sms.text, "isFlash": "false"}
        reply = self._call("SendSMS", form, deadline_s)
        return read_send(reply, secrets=(*self._credentials, sms.to, sms.to[-10:], sms.text))

    def deliveries(self, ids: Sequence[str]) -> list[DeliveryReport]:
        asked = ((one, self._call("GetDeliveries2", {"recId": one})) for one in ids)
        reports = (read_delivery(one, reply, secrets=self._credentials) for one, reply in asked)
        return [report for report in reports if report is not None]

    def credit(self) -> CreditResult:
        return read_credit(self._call("GetCredit"), secrets=self._credentials)

    def lines(self) -> list[str]:
        return read_lines(self._call("GetUserNumbers"))

    @property
    def _credentials(self) -> tuple[str, str]:
        return (self._config.username, self._config.password)

    def _call(
        self, method: str, form: Mapping[str, str] | None = None, deadline_s: float | None = None
    ) -> Reply | CallFault:
        username, password = self._credentials
        return self._channel.post(
            PATH + method,
            {"username": username, "password": password, **(form or {})},
            deadline_s=self._config.query_deadline_s if deadline_s is None else deadline_s,
        )


def read_send(reply: Reply | CallFault, *, secrets: Sequence[str] = ()) -> SendResult:
    """The verdict of one answer to `SendSMS` for one number. Pure; never raises."""
    if isinstance(reply, CallFault):
        return _failed(reply.code, {"error": reply.detail})
    raw = _kept(reply, secrets)
    if not 200 <= reply.status < 300:
        meaning = http_meaning(reply.status)
        return SendResult(
            outcome=meaning.outcome,
            code=http_code(reply.status),
            raw=raw,
            retry_after_s=reply.retry_after_s,
        )
    answer = _answer(reply.body)
    if answer is None:
        return _failed("unreadable_answer", raw)
    slots = [_read_slot(slot, raw) for slot in (answer.get("Value") or "").split(",") if slot.strip()]
    if not slots:
        return _without_value(answer, raw)
    # One number was sent, so one slot comes back. Several that disagree prove nothing.
    if {slot.outcome for slot in slots} == {slots[0].outcome}:
        return slots[0]
    return _failed("unlisted", raw)


def _read_slot(slot: str, raw: Mapping[str, object]) -> SendResult:
    value = slot.strip()
    if _ID.fullmatch(value):
        return SendResult(outcome=Outcome.ACCEPTED, provider_message_id=value, raw=raw)
    return _failed(value if _CODE.fullmatch(value) else "unlisted", raw)


def _without_value(answer: Mapping[str, str], raw: Mapping[str, object]) -> SendResult:
    """An answer whose `Value` is missing or empty: accepted without an id, or a bare account fault."""
    status = answer.get("RetStatus", "").strip()
    if status == "1":
        return SendResult(outcome=Outcome.ACCEPTED, raw=raw)
    return _failed(status if status in _RET_STATUS_CODES else "unlisted", raw)


def _failed(code: str, raw: Mapping[str, object]) -> SendResult:
    return SendResult(outcome=meaning_of(code, SEND_CODES).outcome, code=code, raw=raw)


def read_delivery(
    message_id: str, reply: Reply | CallFault, *, secrets: Sequence[str] = ()
) -> DeliveryReport | None:
    """What one answer to `GetDeliveries2` says, or None if it is not an answer about the message.

    `Value` "0" with `RetStatus` 35 is a wrong password; with 1 it is a message on its way.
    """
    answer = _answer(reply.body) if isinstance(reply, Reply) and reply.status == 200 else None
    if answer is None or not isinstance(reply, Reply):
        return None
    word = answer.get("Value", "").strip()
    if not _CODE.fullmatch(word) or answer.get("RetStatus", "1") != "1":
        return None
    return DeliveryReport(
        provider_message_id=message_id,
        status=DELIVERY_CODES.get(word, DeliveryStatus.UNKNOWN),
        provider_status=word,
        raw=_kept(reply, secrets),
    )


def read_credit(reply: Reply | CallFault, *, secrets: Sequence[str] = ()) -> CreditResult:
    """What one answer to `GetCredit` says. Zero is told from a wrong password by `RetStatus`."""
    sent = read_send(reply, secrets=secrets)  # faults of the call and codes read the same way
    answer = _answer(reply.body) if isinstance(reply, Reply) and 200 <= reply.status < 300 else None
    if answer is None or answer.get("RetStatus") != "1":
        code = sent.code or "unlisted"
        return CreditResult(outcome=meaning_of(code, SEND_CODES).outcome, code=code, raw=sent.raw)
    try:
        amount = Decimal(answer.get("Value", "").strip()[:32])
    except InvalidOperation:
        return CreditResult(outcome=Outcome.IN_DOUBT, code="unreadable_answer", raw=sent.raw)
    if not amount.is_finite():
        return CreditResult(outcome=Outcome.IN_DOUBT, code="unreadable_answer", raw=sent.raw)
    return CreditResult(outcome=Outcome.ACCEPTED, amount=amount, raw=sent.raw)


def read_lines(reply: Reply | CallFault) -> list[str]:
    """The lines named by one answer to `GetUserNumbers`; empty when it is anything else."""
    document = _document(reply.body) if isinstance(reply, Reply) and reply.status == 200 else None
    rows = document.get("Data") if isinstance(document, dict) else None
    numbers = [row.get("Number") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [number.strip() for number in numbers if isinstance(number, str) and number.strip()]


def _document(body: bytes) -> object:
    """The JSON document of an answer, every number in it as text; None if it is none."""
    try:
        return json.loads(body.decode("utf-8-sig"), parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None


def _answer(body: bytes) -> dict[str, str] | None:
    """The three fields of a scalar answer as text, null and absent alike left out; None if the body
    has none of them or holds anything but text and numbers there."""
    document = _document(body)
    if not isinstance(document, dict):
        return None
    by_name = {str(name).lower(): value for name, value in document.items()}
    fields = {key: by_name[key.lower()] for key in _ANSWER_KEYS if by_name.get(key.lower()) is not None}
    if not fields or not all(isinstance(value, str) for value in fields.values()):
        return None
    return fields


def _kept(reply: Reply, secrets: Sequence[str]) -> dict[str, object]:
    """What is stored of an answer: its status, and its three fields or else its beginning."""
    answer = _answer(reply.body)
    kept: dict[str, object] = {"http_status": reply.status}
    if answer is None:
        kept["body"] = masked(reply.body.decode("utf-8", "replace"), secrets)
    else:
        kept.update({key: masked(value, secrets) for key, value in answer.items()})
    return kept

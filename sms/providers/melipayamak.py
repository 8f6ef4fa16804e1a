"""Melipayamak (and Farapayamak, its second brand on the same hosts): the classic REST interface.

Its HTTP status is 200 for refusals too and `RetStatus` 35 only says "not done": the verdict is
`Value`, where a long number is the message's id and a short one is a code. Ids have 19 digits, more
than a float holds, so numbers are never read as anything but text.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation

from sms.providers import melipayamak_outbox
from sms.providers.codes import meaning_of
from sms.providers.http import MAX_ANSWER_BYTES, MAX_LIST_BYTES, CallFault, Channel, Reply
from sms.providers.masking import masked
from sms.providers.melipayamak_codes import DELIVERY_CODES, SEND_CODES
from sms.providers.melipayamak_slots import (
    BATCH_LIMIT,
    CODE,
    batch_key,
    failed,
    joined_variables,
    no_answer,
    read_slot,
    read_slots,
    secrets_of,
)
from sms.types import CreditResult, DeliveryReport, DeliveryStatus, OutboundSms, Outbox, Outcome, SendResult

PATH = "/api/SendSMS/"
DEFAULT_BASE_URL = "https://rest.payamak-panel.com"

_ANSWER_KEYS = ("Value", "RetStatus", "StrRetStatus")
_NUMBERS_AS_TEXT = json.JSONDecoder(parse_int=str, parse_float=str)
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
    public_only: bool = False  # see `http.Channel`


class MelipayamakGateway:
    """See `SmsGateway`. Raises ValueError when made for an address a password must not go to."""

    key = "melipayamak"

    def __init__(self, config: MelipayamakConfig) -> None:
        self._config = config
        self._channel = Channel(config.base_url, public_only=config.public_only)

    batch_limit = BATCH_LIMIT

    def send(self, sms: OutboundSms, *, deadline_s: float) -> SendResult:
        secrets = secrets_of([sms], self._credentials)
        if sms.pattern is not None:
            variables = joined_variables(sms)
            if variables is None:
                return failed("value_not_possible", {})
            form = {"to": sms.to, "text": variables, "bodyId": str(sms.pattern.body_id)}
            return read_send(self._call("BaseServiceNumber", form, deadline_s), secrets=secrets)
        sender = sms.sender or self._config.sender
        if not sender:
            return SendResult(outcome=Outcome.UNAVAILABLE, code="no_sender")
        form = {"to": sms.to, "from": sender, "text": sms.text, "isFlash": "false"}
        return read_send(self._call("SendSMS", form, deadline_s), secrets=secrets)

    def batch_key(self, sms: OutboundSms) -> Hashable | None:
        """One text for all: this interface has no place for each person's own."""
        line = batch_key(sms, sms.sender or self._config.sender)
        return (line, sms.text) if line else None

    def send_many(self, messages: Sequence[OutboundSms], *, deadline_s: float) -> list[SendResult]:
        first = messages[0]
        form = {
            "to": ",".join(sms.to for sms in messages),
            "from": first.sender or self._config.sender,
            "text": first.text,
            "isFlash": "false",
        }
        reply = self._call("SendSMS", form, deadline_s)
        return read_many(reply, len(messages), secrets=secrets_of(messages, self._credentials))

    def deliveries(self, ids: Sequence[str]) -> list[DeliveryReport]:
        asked = ((one, self._call("GetDeliveries2", {"recId": one})) for one in ids)
        reports = (read_delivery(one, reply, secrets=self._credentials) for one, reply in asked)
        return [report for report in reports if report is not None]

    def credit(self) -> CreditResult:
        return read_credit(self._call("GetCredit"), secrets=self._credentials)

    def lines(self) -> list[str]:
        return read_lines(self._call("GetUserNumbers"))

    def outbox(self, *, since: datetime, max_pages: int) -> Outbox:
        def ask(first: int, count: int) -> Sequence[Mapping[str, str]] | str:
            form = {"location": "2", "from": "", "index": str(first), "count": str(count)}
            return melipayamak_outbox.rows_of(self._call("GetMessages", form, max_bytes=MAX_LIST_BYTES))

        return melipayamak_outbox.collect(ask, since=since, max_pages=max_pages)

    @property
    def _credentials(self) -> tuple[str, str]:
        return (self._config.username, self._config.password)

    def _call(
        self,
        method: str,
        form: Mapping[str, str] | None = None,
        deadline_s: float | None = None,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> Reply | CallFault:
        username, password = self._credentials
        return self._channel.post(
            PATH + method,
            {"username": username, "password": password, **(form or {})},
            deadline_s=self._config.query_deadline_s if deadline_s is None else deadline_s,
            max_bytes=max_bytes,
        )


def read_send(reply: Reply | CallFault, *, secrets: Sequence[str] = ()) -> SendResult:
    """The verdict of one answer about one number. Pure; never raises."""
    answer, raw = _read(reply, secrets)
    if (settled := no_answer(reply, raw)) is not None:
        return settled
    if answer is None:
        return failed("unreadable_answer", raw)
    slots = [read_slot(slot, raw) for slot in (answer.get("Value") or "").split(",") if slot.strip()]
    if not slots:
        return _without_value(answer, raw)
    # One number was sent, so one slot comes back. Several that disagree prove nothing.
    if {slot.outcome for slot in slots} == {slots[0].outcome}:
        return slots[0]
    return failed("unlisted", raw)


def read_many(reply: Reply | CallFault, count: int, *, secrets: Sequence[str] = ()) -> list[SendResult]:
    """The verdicts of one answer about `count` numbers, in their order. Pure; never raises."""
    answer, raw = _read(reply, secrets)
    if (settled := no_answer(reply, raw)) is not None:
        return [settled] * count
    if answer is None:
        return [failed("unreadable_answer", raw)] * count
    value = (answer.get("Value") or "").strip()
    if not value:
        # "Accepted" without one id says nothing of each recipient.
        lone = _without_value(answer, raw)
        return [failed("answer_incomplete", raw) if lone.outcome is Outcome.ACCEPTED else lone] * count
    return read_slots(value.split(","), count, raw)


def _without_value(answer: Mapping[str, str], raw: Mapping[str, object]) -> SendResult:
    """An answer whose `Value` is missing or empty: accepted without an id, or a bare account fault."""
    status = answer.get("RetStatus", "").strip()
    if status == "1":
        return SendResult(outcome=Outcome.ACCEPTED, raw=raw)
    return failed(status if status in _RET_STATUS_CODES else "unlisted", raw)


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
    if not CODE.fullmatch(word) or answer.get("RetStatus", "1") != "1":
        return None
    return DeliveryReport(
        provider_message_id=message_id,
        status=DELIVERY_CODES.get(word, DeliveryStatus.UNKNOWN),
        provider_status=word,
        raw=_kept(reply, answer, secrets),
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
        document: object = _NUMBERS_AS_TEXT.decode(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return document


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


def _read(
    reply: Reply | CallFault, secrets: Sequence[str]
) -> tuple[dict[str, str] | None, dict[str, object]]:
    """The fields of an answer, if it has them, and what is stored of it."""
    if not isinstance(reply, Reply):
        return None, {}
    answer = _answer(reply.body)
    return answer, _kept(reply, answer, secrets)


def _kept(reply: Reply, answer: Mapping[str, str] | None, secrets: Sequence[str]) -> dict[str, object]:
    """What is stored of an answer: its status, and its three fields or else its beginning."""
    kept: dict[str, object] = {"http_status": reply.status}
    if answer is None:
        kept["body"] = masked(reply.body.decode("utf-8", "replace"), secrets)
    else:
        kept.update({key: masked(value, secrets) for key, value in answer.items()})
    return kept

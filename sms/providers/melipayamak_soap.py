"""Melipayamak by SOAP. What it has over the REST interface: each person's own text in one call.

A value here is read as on REST: a long number is an id, a short one a code.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from sms.providers import melipayamak_outbox, soap_wire
from sms.providers.codes import http_code, meaning_of
from sms.providers.http import MAX_ANSWER_BYTES, MAX_LIST_BYTES, CallFault, Channel, Reply
from sms.providers.masking import masked
from sms.providers.melipayamak import MelipayamakConfig
from sms.providers.melipayamak_codes import DELIVERY_CODES, SEND_CODES
from sms.providers.melipayamak_slots import (
    BATCH_LIMIT,
    CODE,
    ID,
    Raw,
    batch_key,
    body_of,
    failed,
    no_answer,
    read_slot,
    read_slots,
    secrets_of,
)
from sms.types import CreditResult, DeliveryReport, DeliveryStatus, OutboundSms, Outbox, Outcome, SendResult

DEFAULT_SOAP_URL = "https://api.payamak-panel.com"
ASK_AT_ONCE = 100
MAX_LONG = 2**63 - 1  # the service's type for an id


class MelipayamakSoapGateway:
    """See `SmsGateway`, `BulkSmsGateway` and `OutboxReader`. Raises ValueError for an unsafe address."""

    key = "melipayamak_soap"
    delivery_batch = ASK_AT_ONCE
    batch_limit = BATCH_LIMIT

    def __init__(self, config: MelipayamakConfig) -> None:
        self._config = config
        self._channel = Channel(config.base_url, public_only=config.public_only)

    def send(self, sms: OutboundSms, *, deadline_s: float) -> SendResult:
        secrets = secrets_of([sms], self._credentials)
        if sms.pattern is not None:
            variables = [soap_wire.xml_text(value) for value in sms.pattern.variables]
            arguments = {
                "text": soap_wire.array("string", variables),
                "to": sms.to,
                "bodyId": sms.pattern.body_id,
            }
            reply = self._call("SendByBaseNumber", arguments, deadline_s)
            return read_one("SendByBaseNumber", reply, secrets=secrets)
        sender = sms.sender or self._config.sender
        if not sender:
            return SendResult(outcome=Outcome.UNAVAILABLE, code="no_sender")
        arguments = {"to": sms.to, **_line(sender), "text": soap_wire.xml_text(sms.text)}
        reply = self._call("SendSimpleSMS2", arguments, deadline_s)
        return read_one("SendSimpleSMS2", reply, secrets=secrets)

    def batch_key(self, sms: OutboundSms) -> Hashable | None:
        return batch_key(sms, sms.sender or self._config.sender) or None

    def send_many(self, messages: Sequence[OutboundSms], *, deadline_s: float) -> list[SendResult]:
        secrets, count = secrets_of(messages, self._credentials), len(messages)
        arguments: dict[str, object] = {
            "to": soap_wire.array("string", [sms.to for sms in messages]),
            **_line(messages[0].sender or self._config.sender),
        }
        texts = [soap_wire.xml_text(sms.text) for sms in messages]
        if len(set(texts)) == 1:
            reply = self._call("SendSimpleSMS", {**arguments, "text": texts[0]}, deadline_s)
            return read_list(reply, count, secrets=secrets)
        arguments |= {"text": soap_wire.array("string", texts), "udh": ""}
        return read_multiple(self._call("SendMultipleSMS", arguments, deadline_s), count, secrets=secrets)

    def deliveries(self, ids: Sequence[str]) -> list[DeliveryReport]:
        known = [one for one in ids if ID.fullmatch(one) and int(one) <= MAX_LONG]
        reports: list[DeliveryReport] = []
        for start in range(0, len(known), ASK_AT_ONCE):
            asked = known[start : start + ASK_AT_ONCE]
            reply = self._call("GetDeliveries", {"recIds": soap_wire.array("long", asked)})
            reports += read_deliveries(asked, reply)
        return reports

    def credit(self) -> CreditResult:
        credit = read_credit(self._call("GetCredit"), secrets=self._credentials)
        if credit.amount != 0:
            return credit
        # Zero is also what a wrong password gets; another question tells them apart.
        inbox = read_one("GetInboxCount", self._call("GetInboxCount", {"isRead": False}))
        wrong = inbox.code == "-1"
        return CreditResult(outcome=Outcome.UNAVAILABLE, code="0", raw=credit.raw) if wrong else credit

    def lines(self) -> list[str]:
        """Always empty: the service does not list them."""
        return []

    def outbox(self, *, since: datetime, max_pages: int) -> Outbox:
        def ask(first: int, count: int) -> Sequence[Mapping[str, str]] | str:
            arguments = {"location": 2, "from": "", "index": first, "count": count}
            return rows_of(self._call("getMessages", arguments, max_bytes=MAX_LIST_BYTES))

        return melipayamak_outbox.collect(ask, since=since, max_pages=max_pages)

    @property
    def _credentials(self) -> tuple[str, str]:
        return (self._config.username, self._config.password)

    def _call(
        self,
        method: str,
        arguments: Mapping[str, object] | None = None,
        deadline_s: float | None = None,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> Reply | CallFault:
        username, password = map(soap_wire.xml_text, self._credentials)
        return soap_wire.call(
            self._channel,
            method,
            {"username": username, "password": password, **(arguments or {})},
            deadline_s=self._config.query_deadline_s if deadline_s is None else deadline_s,
            max_bytes=max_bytes,
        )


def _line(sender: str) -> dict[str, object]:
    return {"from": sender, "isflash": False}


def read_one(method: str, reply: Reply | CallFault, *, secrets: Sequence[str] = ()) -> SendResult:
    """The verdict of one answer that is a single value. Pure; never raises."""
    raw = _raw(reply)
    if (settled := no_answer(reply, raw)) is not None:
        return settled
    value = soap_wire.read(method, reply.body) if isinstance(reply, Reply) else None
    if not isinstance(value, str) or not value.strip():
        return _unreadable(reply, secrets)
    return read_slot(value, {**raw, "Value": masked(value, secrets)})


def read_list(reply: Reply | CallFault, count: int, *, secrets: Sequence[str] = ()) -> list[SendResult]:
    """The verdicts of `SendSimpleSMS`: one value for each of `count` numbers. Pure; never raises."""
    raw = _raw(reply)
    if (settled := no_answer(reply, raw)) is not None:
        return [settled] * count
    answer = soap_wire.read("SendSimpleSMS", reply.body) if isinstance(reply, Reply) else None
    slots = soap_wire.texts_of(answer, "string")
    if not slots:
        return [_unreadable(reply, secrets)] * count
    return read_slots(slots, count, raw)


def read_multiple(reply: Reply | CallFault, count: int, *, secrets: Sequence[str] = ()) -> list[SendResult]:
    """The verdicts of `SendMultipleSMS`: 1 for "done", and beside it an id and a status byte for each
    number, where byte 0 is sent and 1 is not sent. Pure; never raises."""
    raw = _raw(reply)
    if (settled := no_answer(reply, raw)) is not None:
        return [settled] * count
    answer: Any = soap_wire.read("SendMultipleSMS", reply.body) if isinstance(reply, Reply) else None
    word = getattr(answer, "SendMultipleSMSResult", None)
    if not isinstance(word, str) or not word.strip():
        return [_unreadable(reply, secrets)] * count
    raw = {**raw, "Value": masked(word, secrets)}
    if word.strip() != "1":
        return [read_slot(word, raw)] * count
    ids, statuses = soap_wire.texts_of(getattr(answer, "recId", None), "long") or [], _statuses(answer)
    if len(ids) != count or len(statuses) != count:
        return [failed("answer_incomplete", raw)] * count
    return [_placed(one, status, raw) for one, status in zip(ids, statuses, strict=True)]


def _placed(message_id: str, status: int, raw: Raw) -> SendResult:
    raw = {**raw, "recId": message_id[:40], "status": status}
    if status == 0:
        known = ID.fullmatch(message_id.strip())
        return read_slot(message_id, raw) if known else failed("answer_incomplete", raw)
    # "Not sent" with an id beside it contradicts itself.
    return failed("unlisted" if ID.fullmatch(message_id.strip()) or status != 1 else "11", raw)


def _statuses(answer: Any) -> bytes:
    try:
        return base64.b64decode(getattr(answer, "status", None) or "", validate=True)
    except (binascii.Error, ValueError, TypeError):
        return b""


def read_deliveries(asked: Sequence[str], reply: Reply | CallFault) -> list[DeliveryReport]:
    """What one answer to `GetDeliveries` says of `asked`; nothing unless it names every one of them."""
    if not isinstance(reply, Reply) or reply.status != 200:
        return []
    words = soap_wire.texts_of(soap_wire.read("GetDeliveries", reply.body), "int")
    if words is None or len(words) != len(asked):
        return []
    return [
        DeliveryReport(
            provider_message_id=one,
            status=DELIVERY_CODES.get(word.strip(), DeliveryStatus.UNKNOWN),
            provider_status=word.strip(),
            raw={"http_status": 200, "Value": word.strip()},
        )
        for one, word in zip(asked, words, strict=True)
        if CODE.fullmatch(word.strip())
    ]


def read_credit(reply: Reply | CallFault, *, secrets: Sequence[str] = ()) -> CreditResult:
    """What one answer to `GetCredit` says. A negative amount is a code."""
    raw = _raw(reply)
    if (settled := no_answer(reply, raw)) is not None:
        return CreditResult(outcome=settled.outcome, code=settled.code, raw=settled.raw)
    value = soap_wire.read("GetCredit", reply.body) if isinstance(reply, Reply) else None
    try:
        amount = Decimal(value.strip()[:32]) if isinstance(value, str) else Decimal("NaN")
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite():
        broken = _unreadable(reply, secrets)
        return CreditResult(outcome=Outcome.IN_DOUBT, code=broken.code, raw=broken.raw)
    if amount < 0:
        code = str(int(amount))
        return CreditResult(outcome=meaning_of(code, SEND_CODES).outcome, code=code, raw=raw)
    return CreditResult(outcome=Outcome.ACCEPTED, amount=amount, raw=raw)


def rows_of(reply: Reply | CallFault) -> Sequence[Mapping[str, str]] | str:
    """The rows of one answer to `getMessages`; a code for anything that is no list of messages."""
    if isinstance(reply, CallFault):
        return reply.code
    if reply.status != 200:
        return http_code(reply.status)
    rows = soap_wire.items_of(soap_wire.read("getMessages", reply.body), "MessagesBL")
    if not isinstance(rows, list) or not rows or any(row is None for row in rows):
        return "unreadable_answer"  # an empty list too: that is what a wrong password gets
    return [{name.lower(): str(row[name] or "") for name in dir(row)} for row in rows]


def _raw(reply: Reply | CallFault) -> dict[str, object]:
    return {"http_status": reply.status} if isinstance(reply, Reply) else {}


def _unreadable(reply: Reply | CallFault, secrets: Sequence[str]) -> SendResult:
    body = body_of(reply, secrets) if isinstance(reply, Reply) else ""
    return failed("unreadable_answer", {**_raw(reply), "body": body})

"""Melipayamak's console interface: JSON, one key in the address instead of a user name and a password.

It has no codes. An id that is not zero is the proof that a message was taken, whatever `status` says (it
is empty, or a sentence); without one, the sentence is looked up among those the panel uses, and a
sentence that is not listed proves nothing.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from urllib.parse import quote

from sms.providers import melipayamak_outbox
from sms.providers.codes import http_code
from sms.providers.console_sentences import CONSOLE_CODES, code_of
from sms.providers.http import MAX_ANSWER_BYTES, MAX_LIST_BYTES, CallFault, Channel, Reply
from sms.providers.melipayamak_codes import DELIVERY_CODES
from sms.providers.melipayamak_slots import (
    BATCH_LIMIT,
    CODE,
    ID,
    batch_key,
    body_of,
    failed,
    no_answer,
    secrets_of,
)
from sms.types import CreditResult, DeliveryReport, DeliveryStatus, OutboundSms, Outbox, Outcome, SendResult

DEFAULT_CONSOLE_URL = "https://console.melipayamak.com"
ASK_AT_ONCE = 100
HEADERS = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "Peyk"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleConfig:
    """One account. `sender` is the line used by a message that names none."""

    key: str = field(repr=False)
    base_url: str = DEFAULT_CONSOLE_URL
    sender: str = ""
    query_deadline_s: float = 10.0
    public_only: bool = False  # see `http.Channel`


class MelipayamakConsoleGateway:
    """See `SmsGateway`, `BulkSmsGateway` and `OutboxReader`. Raises ValueError for an unsafe address."""

    key = "melipayamak_console"
    delivery_batch = ASK_AT_ONCE
    batch_limit = BATCH_LIMIT

    def __init__(self, config: ConsoleConfig) -> None:
        self._config = config
        self._channel = Channel(config.base_url, public_only=config.public_only)

    def send(self, sms: OutboundSms, *, deadline_s: float) -> SendResult:
        secrets = secrets_of([sms], [self._config.key])
        if sms.pattern is not None:
            document = {"bodyId": sms.pattern.body_id, "to": sms.to, "args": list(sms.pattern.variables)}
            return read_send(self._post("send/shared", document, deadline_s), secrets=secrets)
        sender = sms.sender or self._config.sender
        if not sender:
            return SendResult(outcome=Outcome.UNAVAILABLE, code="no_sender")
        document = {"from": sender, "to": sms.to, "text": sms.text}
        return read_send(self._post("send/simple", document, deadline_s), secrets=secrets)

    def batch_key(self, sms: OutboundSms) -> Hashable | None:
        """One text for all: the call with each person's own text has no documented answer."""
        line = batch_key(sms, sms.sender or self._config.sender)
        return (line, sms.text) if line else None

    def send_many(self, messages: Sequence[OutboundSms], *, deadline_s: float) -> list[SendResult]:
        document = {
            "from": messages[0].sender or self._config.sender,
            "to": [sms.to for sms in messages],
            "text": messages[0].text,
            "udh": "",
        }
        reply = self._post("send/advanced", document, deadline_s)
        return read_many(reply, len(messages), secrets=secrets_of(messages, [self._config.key]))

    def deliveries(self, ids: Sequence[str]) -> list[DeliveryReport]:
        known = [one for one in ids if ID.fullmatch(one)]
        reports: list[DeliveryReport] = []
        for start in range(0, len(known), ASK_AT_ONCE):
            asked = known[start : start + ASK_AT_ONCE]
            document = {"recIds": [int(one) for one in asked]}
            reports += read_deliveries(asked, self._post("receive/status", document))
        return reports

    def credit(self) -> CreditResult:
        path = self._path("receive/credit")
        wait = self._config.query_deadline_s
        reply = self._channel.request("GET", path, None, {"User-Agent": "Peyk"}, deadline_s=wait)
        return read_credit(reply, secrets=[self._config.key])

    def lines(self) -> list[str]:
        """Always empty: the interface does not list them."""
        return []

    def outbox(self, *, since: datetime, max_pages: int) -> Outbox:
        def ask(first: int, count: int) -> Sequence[Mapping[str, str]] | str:
            document = {"type": "out", "number": "", "index": first, "count": count}
            return rows_of(self._post("receive/messages", document, max_bytes=MAX_LIST_BYTES))

        return melipayamak_outbox.collect(ask, since=since, max_pages=max_pages)

    def _path(self, name: str) -> str:
        return f"/api/{name}/{quote(self._config.key, safe='', errors='replace')}"

    def _post(
        self,
        name: str,
        document: Mapping[str, object],
        deadline_s: float | None = None,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> Reply | CallFault:
        return self._channel.request(
            "POST",
            self._path(name),
            json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"),
            HEADERS,
            deadline_s=self._config.query_deadline_s if deadline_s is None else deadline_s,
            max_bytes=max_bytes,
        )


def read_send(reply: Reply | CallFault, *, secrets: Sequence[str] = ()) -> SendResult:
    """The verdict of one answer about one number. Pure; never raises."""
    raw = _raw(reply, secrets)
    if (settled := no_answer(reply, raw)) is not None:
        return settled
    answer = _document(reply)
    if answer is None or not {"recId", "status"} & answer.keys():
        return failed("unreadable_answer", raw)
    return _verdict(answer.get("recId"), answer, raw)


def read_many(reply: Reply | CallFault, count: int, *, secrets: Sequence[str] = ()) -> list[SendResult]:
    """The verdicts of one answer about `count` numbers, in their order. Pure; never raises."""
    raw = _raw(reply, secrets)
    if (settled := no_answer(reply, raw)) is not None:
        return [settled] * count
    answer = _document(reply)
    if answer is None or not {"recIds", "status"} & answer.keys():
        return [failed("unreadable_answer", raw)] * count
    ids = answer.get("recIds") or []
    if isinstance(ids, list) and len(ids) == count:
        # The sentence is about the call; a place without an id in a list that has others says no more.
        return [_verdict(one, {}, {**raw, "recId": str(one)[:40]}) for one in ids]
    if not ids:
        return [_verdict(None, answer, raw)] * count
    return [failed("answer_incomplete", raw)] * count


def _verdict(value: object, answer: Mapping[str, object], raw: Mapping[str, object]) -> SendResult:
    if isinstance(value, str) and ID.fullmatch(value.strip()):
        return SendResult(outcome=Outcome.ACCEPTED, provider_message_id=value.strip(), raw=raw)
    if value not in (None, "", "0"):
        return failed("unlisted", raw, CONSOLE_CODES)
    return failed(code_of(answer.get("status")), raw, CONSOLE_CODES)


def read_deliveries(asked: Sequence[str], reply: Reply | CallFault) -> list[DeliveryReport]:
    """What one answer to `receive/status` says of `asked`; nothing unless it names every one of them."""
    answer = _document(reply) if isinstance(reply, Reply) and reply.status == 200 else None
    words = answer.get("resultsAsCode") if answer else None
    if not isinstance(words, list) or len(words) != len(asked):
        return []
    return [
        DeliveryReport(
            provider_message_id=one,
            status=DELIVERY_CODES.get(word, DeliveryStatus.UNKNOWN),
            provider_status=word,
            raw={"http_status": 200, "resultsAsCode": word},
        )
        for one, word in zip(asked, words, strict=True)
        if isinstance(word, str) and CODE.fullmatch(word)
    ]


def read_credit(reply: Reply | CallFault, *, secrets: Sequence[str] = ()) -> CreditResult:
    """What one answer to `receive/credit` says. Zero is an answer, not a fault."""
    raw = _raw(reply, secrets)
    if (settled := no_answer(reply, raw)) is not None:
        return CreditResult(outcome=settled.outcome, code=settled.code, raw=settled.raw)
    answer = _document(reply)
    if answer is None:
        return CreditResult(outcome=Outcome.IN_DOUBT, code="unreadable_answer", raw=raw)
    if "amount" not in answer:
        lone = failed(code_of(answer.get("status")), raw, CONSOLE_CODES)
        return CreditResult(outcome=lone.outcome, code=lone.code, raw=raw)
    try:
        amount = Decimal(str(answer["amount"]).strip()[:32])
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite():
        return CreditResult(outcome=Outcome.IN_DOUBT, code="unreadable_answer", raw=raw)
    return CreditResult(outcome=Outcome.ACCEPTED, amount=amount, raw=raw)


def rows_of(reply: Reply | CallFault) -> Sequence[Mapping[str, str]] | str:
    """The rows of one answer to `receive/messages`; a code for anything that is no list of messages."""
    if isinstance(reply, CallFault):
        return reply.code
    if reply.status != 200:
        return http_code(reply.status)
    answer = _document(reply)
    rows = answer.get("messages") if answer else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return "unreadable_answer"
    return [{str(n).lower(): v if isinstance(v, str) else "" for n, v in row.items()} for row in rows]


def _document(reply: Reply | CallFault) -> dict[str, object] | None:
    """The JSON object of an answer, every number in it as text; None if it is none."""
    if not isinstance(reply, Reply):
        return None
    try:
        document = json.loads(reply.body.decode("utf-8-sig"), parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _raw(reply: Reply | CallFault, secrets: Sequence[str]) -> dict[str, object]:
    if not isinstance(reply, Reply):
        return {}
    return {"http_status": reply.status, "body": body_of(reply, secrets)}

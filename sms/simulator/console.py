"""The console interface: `/api/<group>/<method>/<key>`, JSON in and out, ids as numbers of 19 digits."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from sms.simulator.answers import JSON, json_bytes, message, on_the_wire, page_of, tehran
from sms.simulator.panel import Offer, Panel, Taken
from sms.simulator.plan import Account
from sms.simulator.wire import HttpAnswer, HttpRequest

PREFIX = "/api/"
SENDS = frozenset({"send/simple", "send/advanced", "send/shared"})
QUESTIONS = frozenset({"receive/status", "receive/messages", "receive/credit"})
BAD_KEY = "کلید کنسول معتبر نیست"
SENT = "ارسال موفق بود"
# What the panel says instead of the codes of its other interfaces.
SENTENCES: Mapping[str, str] = {
    "0": BAD_KEY,
    "2": "اعتبار کافی نیست",
    "3": "محدودیت در ارسال روزانه",
    "4": "محدودیت در حجم ارسال",
    "5": "شماره فرستنده معتبر نیست",
    "6": "سامانه در حال بروزرسانی است",
    "7": "متن حاوی کلمه فیلتر شده است",
    "11": "ارسال نشده",
    "-5": "متن ارسالی باتوجه به متغیرهای مشخص شده در متن پیشفرض همخوانی ندارد",
    "-4": "کد متن ارسالی صحیح نیست و یا توسط مدیر سامانه تایید نشده است",
}
LABELS: Mapping[str, str] = {"1": "رسیده به گوشی", "2": "نرسیده به گوشی"}

Fields = Mapping[str, Any]


class ConsoleInterface:
    def __init__(self, panel: Panel) -> None:
        self._panel = panel

    def answer(self, request: HttpRequest) -> HttpAnswer | None:
        """None for a path of another interface."""
        name, _, key = request.path.removeprefix(PREFIX).rpartition("/")
        if not request.path.startswith(PREFIX) or name not in SENDS | QUESTIONS:
            return None
        fields = _document(request.body)
        account = self._panel.account_of_key(unquote(key))
        if name in SENDS:
            return self._send(name, fields, account)
        return self._question(name, fields, account)

    def _send(self, name: str, fields: Fields, account: Account | None) -> HttpAnswer:
        missing = [one for one in _needed(name) if one not in fields]
        if missing:
            problem = {"title": "One or more validation errors occurred.", "status": 400}
            errors = {one: [f"The {one} field is required."] for one in missing}
            return replace(message(400, ""), body=json_bytes({**problem, "errors": errors}))
        taken = self._panel.offer(_offer(name, fields, account))
        document = _sent(name, taken)
        status = 401 if account is None and not taken.fault else 200
        return on_the_wire(json_bytes(document), taken, JSON, status=status)

    def _question(self, name: str, fields: Fields, account: Account | None) -> HttpAnswer:
        taken = self._panel.asked(name)
        if account is None:
            answer = json_bytes({"status": BAD_KEY})
            return on_the_wire(answer, taken, JSON, status=401 if not taken.fault else 200)
        if taken.code:
            return on_the_wire(json_bytes({"status": _sentence(taken.code)}), taken)
        ask: Mapping[str, Callable[[Account, Fields], dict[str, Any]]] = {
            "receive/status": self._deliveries,
            "receive/messages": self._messages,
            "receive/credit": self._credit,
        }
        return on_the_wire(json_bytes({**ask[name](account, fields), "status": ""}), taken)

    def _deliveries(self, account: Account, fields: Fields) -> dict[str, Any]:
        asked = [str(one) for one in fields.get("recIds", [])]
        codes = [self._panel.delivery(account, one) or "-1" for one in asked]
        labels = [LABELS.get(code, "نامشخص") for code in codes]
        return {"results": labels, "resultsAsCode": [int(code) for code in codes]}

    def _messages(self, account: Account, fields: Fields) -> dict[str, Any]:
        page = page_of({name: str(fields[name]) for name in ("index", "count") if name in fields})
        line = str(fields.get("number") or "").strip()
        rows = self._panel.outbox(account, line, *page) if fields.get("type") == "out" else []
        return {
            "messages": [
                {
                    "msgID": row.seq,
                    "body": row.text,
                    "sendDate": tehran(row.clock),
                    "sender": row.sender,
                    "receiver": row.number[-10:],
                    "parts": row.parts,
                }
                for row in rows
            ]
        }

    def _credit(self, account: Account, _fields: Fields) -> dict[str, Any]:
        return {"amount": 100000 if account.credit is None else int(self._panel.left(account))}


def _needed(name: str) -> tuple[str, ...]:
    return ("bodyId", "to", "args") if name == "send/shared" else ("from", "to", "text")


def _offer(name: str, fields: Fields, account: Account | None) -> Offer:
    shared = name == "send/shared"
    to = fields["to"] if name == "send/advanced" else [fields["to"]]
    return Offer(
        method=name,
        who=account.username if account else "",
        account=account,
        numbers=tuple(str(one) for one in to),
        texts=tuple(str(one) for one in fields["args"]) if shared else (str(fields["text"]),),
        sender="" if shared else str(fields["from"]),
        pattern=str(fields["bodyId"]) if shared else None,
    )


def _sent(name: str, taken: Taken) -> dict[str, object]:
    if name == "send/advanced":
        ids: list[int] = [] if taken.code else [_id(slot) for slot in taken.slots]
        return {"recIds": ids, "status": _sentence(taken.code) if taken.code else SENT}
    slot = taken.code or ",".join(taken.slots)
    return {"recId": _id(slot), "status": SENT if _id(slot) else _sentence(slot)}


def _id(slot: str) -> int:
    """A recipient that was not taken has no id: zero."""
    return int(slot) if slot.isdigit() and len(slot) >= 10 else 0


def _sentence(code: str) -> str:
    return SENTENCES.get(code, f"خطای {code}")


def _document(body: bytes) -> Fields:
    try:
        document = json.loads(body or b"{}")
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}

"""The classic REST interface: `/api/SendSMS/<Method>`, a form or JSON in, JSON out, always HTTP 200."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sms.parts import count_parts
from sms.simulator.answers import FAILED_CODES, json_bytes, message, on_the_wire, page_of, tehran
from sms.simulator.panel import Offer, Panel, Taken
from sms.simulator.plan import Account
from sms.simulator.record import AcceptedMessage
from sms.simulator.wire import HttpAnswer, HttpRequest

API = "/api/SendSMS/"

Fields = Mapping[str, str]


def scalar(value: str | None, ret_status: int = 1, words: str = "Ok") -> dict[str, object]:
    return {"Value": value, "RetStatus": ret_status, "StrRetStatus": words}


def refusal(code: str) -> dict[str, object]:
    """Every refusal looks alike, but for a wrong sender, which has a status of its own."""
    return scalar(code, 9, "InvalidNumber") if code == "5" else scalar(code, 35, "InvalidData")


class RestInterface:
    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self._questions: Mapping[str, Callable[[Account, Fields], object]] = {
            "GetDeliveries2": self._delivery,
            "GetMessages": self._messages,
            "GetCredit": self._credit,
            "GetBasePrice": lambda _account, _fields: scalar("1090"),
            "GetUserNumbers": self._lines,
        }

    def answer(self, request: HttpRequest) -> HttpAnswer | None:
        """None for a path of another interface."""
        method = request.path.removeprefix(API)
        if method == request.path:
            return None
        if request.verb != "POST":
            return message(405, f"The requested resource does not support http method '{request.verb}'.")
        if method in ("SendSMS", "BaseServiceNumber"):
            return self._send(method, request.fields)
        if method in self._questions:
            return self._question(method, request.fields)
        return message(404, "No action was found on the controller 'SendSMS'.")

    def _send(self, method: str, fields: Fields) -> HttpAnswer:
        to, text, who = (fields.get(name, "") for name in ("to", "text", "username"))
        shared = method == "BaseServiceNumber"
        offer = Offer(
            method=method,
            who=who,
            account=self._panel.account(who, fields.get("password", "")),
            numbers=tuple(number.strip() for number in to.split(",") if number.strip()),
            texts=tuple(text.split(";")) if shared else (text,),
            sender=fields.get("from", ""),
            pattern=fields.get("bodyid", "") if shared else None,
        )
        taken = self._panel.offer(offer)
        return on_the_wire(json_bytes(_sent(taken)), taken)

    def _question(self, method: str, fields: Fields) -> HttpAnswer:
        taken = self._panel.asked(method, fields.get("recid", ""))
        account = self._panel.account(fields.get("username", ""), fields.get("password", ""))
        document = self._questions[method](account, fields) if account else _no_entry(method)
        return on_the_wire(json_bytes(refusal(taken.code) if taken.code else document), taken)

    def _credit(self, account: Account, _fields: Fields) -> object:
        return scalar("100000" if account.credit is None else str(int(self._panel.left(account))))

    def _lines(self, account: Account, _fields: Fields) -> object:
        return {"MyBase": scalar("Ok"), "Data": [{"Number": line} for line in account.lines]}

    def _delivery(self, account: Account, fields: Fields) -> object:
        return scalar(self._panel.delivery(account, fields.get("recid", "")) or "-1")

    def _messages(self, account: Account, fields: Fields) -> object:
        """The list of sent messages, newest first. Nothing is ever received here."""
        rows = self._panel.outbox(account, fields.get("from", "").strip(), *page_of(fields))
        sent = rows if fields.get("location") == "2" else []
        return {"MyBase": scalar("Ok"), "Data": [message_row(row, self._panel.status(row)) for row in sent]}


def message_row(row: AcceptedMessage, status: str) -> dict[str, Any]:
    """A sent message as the panel lists it. `MsgID` is the panel's own number, not the id of the send."""
    return {
        "MsgID": row.seq,
        "Body": row.text,
        "SendDate": tehran(row.clock),
        "Sender": row.sender,
        "Receiver": row.number[-10:],
        "FirstLocation": 2,
        "CurrentLocation": 2,
        "Parts": row.parts,
        "RecCount": 1,
        "RecFailed": int(status in FAILED_CODES),
        "RecSuccess": int(status == "1"),
        "IsUnicode": count_parts(row.text).encoding == "ucs2",
    }


def _sent(taken: Taken) -> object:
    return refusal(taken.code) if taken.code else scalar(",".join(taken.slots))


def _no_entry(method: str) -> object:
    """A wrong user name or password, as it was seen on the real panel."""
    if method in ("GetMessages", "GetUserNumbers"):
        return {"MyBase": scalar(None, 35, "InvalidData"), "Data": None}
    return refusal("0")

"""The SOAP interface: `/post/Send.asmx`, its WSDL at `?wsdl`, the plain form call not served."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from sms.simulator.answers import on_the_wire, page_of
from sms.simulator.panel import NOT_SENT, Offer, Panel, Taken
from sms.simulator.plan import Account
from sms.simulator.rest import message_row
from sms.simulator.wire import HttpAnswer, HttpRequest

WSDL = Path(__file__).resolve().parents[1] / "providers" / "wsdl" / "send.wsdl"
OWN_ADDRESS = "https://api.payamak-panel.com/post/Send.asmx"
PATH = "/post/send.asmx"  # compared without case, as by the real server
XML = "text/xml; charset=utf-8"
NAMESPACE = "http://tempuri.org/"


@dataclass(frozen=True, slots=True)
class Call:
    """One method with its arguments; an array is a tuple."""

    method: str
    scalars: Mapping[str, str]
    arrays: Mapping[str, tuple[str, ...]]

    def all(self, name: str) -> tuple[str, ...]:
        return self.arrays.get(name, ())


class SoapInterface:
    def __init__(self, panel: Panel, address: Callable[[], str]) -> None:
        self._panel, self._address = panel, address
        self._sends: Mapping[str, Callable[[Call], Offer]] = {
            "SendSimpleSMS2": self._one,
            "SendSimpleSMS": self._same_text,
            "SendSms": self._same_text,
            "SendMultipleSMS": self._own_texts,
            "SendByBaseNumber": self._pattern,
            "SendByBaseNumber2": self._pattern,
        }

    def answer(self, request: HttpRequest) -> HttpAnswer | None:
        """None for a path of another interface."""
        if request.path.lower() != PATH:
            return None
        if request.verb == "GET" and request.query_text.lower() == "wsdl":
            own = WSDL.read_text("utf-8").replace(OWN_ADDRESS, self._address() + "/post/Send.asmx")
            return HttpAnswer(body=own.encode(), content_type=XML)
        call = _read(request.body)
        if call is None:
            return _fault("Server was unable to read request.")
        if call.method in self._sends:
            taken = self._panel.offer(self._sends[call.method](call))
            return on_the_wire(_envelope(call.method, _sent(call.method, taken)), taken, XML)
        return self._question(call)

    def _question(self, call: Call) -> HttpAnswer:
        taken = self._panel.asked(call.method, call.scalars.get("recId", ""))
        account = self._account(call)
        match call.method:
            case "GetCredit":
                inner = _credit(self._panel, account, taken.code)
            case "GetInboxCount":
                inner = _tag("GetInboxCountResult", "0" if account else "-1")
            case "GetDeliveries":
                asked = call.all("recIds") if account else ()
                codes = [self._delivery(account, one) for one in asked]
                inner = _tag("GetDeliveriesResult", _list("int", codes))
            case "GetDelivery" | "GetDelivery2":  # asks for no credentials
                code = self._delivery(None, call.scalars.get("recId", ""))
                inner = _tag(f"{call.method}Result", code)
            case "getMessages":
                inner = _tag("getMessagesResult", self._messages(call, account))
            case _:
                return _fault(f"Server did not recognize the value of SOAPAction: {escape(call.method)}.")
        return on_the_wire(_envelope(call.method, inner), taken, XML)

    def _account(self, call: Call) -> Account | None:
        return self._panel.account(call.scalars.get("username", ""), call.scalars.get("password", ""))

    def _delivery(self, account: Account | None, message_id: str) -> str:
        accounts = [account] if account else list(self._panel.plan.accounts)
        known = (self._panel.delivery(one, message_id) for one in accounts)
        return next((code for code in known if code is not None), "-1")

    def _messages(self, call: Call, account: Account | None) -> str:
        if account is None or call.scalars.get("location") != "2":
            return ""
        page = page_of(call.scalars)
        rows = self._panel.outbox(account, call.scalars.get("from", "").strip(), *page)
        return "".join(_tag("MessagesBL", _fields(message_row(row, self._panel.status(row)))) for row in rows)

    def _offer(self, call: Call, numbers: Sequence[str], texts: Sequence[str], **more: str) -> Offer:
        return Offer(
            method=call.method,
            who=call.scalars.get("username", ""),
            account=self._account(call),
            numbers=tuple(numbers),
            texts=tuple(texts),
            **more,
        )

    def _one(self, call: Call) -> Offer:
        numbers = [one.strip() for one in call.scalars.get("to", "").split(",") if one.strip()]
        texts = [call.scalars.get("text", "")]
        return self._offer(call, numbers, texts, sender=call.scalars.get("from", ""))

    def _same_text(self, call: Call) -> Offer:
        texts = [call.scalars.get("text", "")]
        return self._offer(call, call.all("to"), texts, sender=call.scalars.get("from", ""))

    def _own_texts(self, call: Call) -> Offer:
        return self._offer(call, call.all("to"), call.all("text"), sender=call.scalars.get("from", ""))

    def _pattern(self, call: Call) -> Offer:
        variables = call.all("text") or tuple(call.scalars.get("text", "").split(";"))
        to = [call.scalars.get("to", "")]
        return self._offer(call, to, variables, pattern=call.scalars.get("bodyId", ""))


def _credit(panel: Panel, account: Account | None, code: str) -> str:
    """Zero for a wrong password too: this interface can not tell them apart."""
    if account is None or code:
        return _tag("GetCreditResult", code or "0")
    return _tag("GetCreditResult", "100000" if account.credit is None else str(panel.left(account)))


def _sent(method: str, taken: Taken) -> str:
    """What a method that sends answers: one value, one for each recipient, or ids and statuses beside it."""
    if method == "SendSimpleSMS":
        return _tag(f"{method}Result", _list("string", [taken.code] if taken.code else taken.slots))
    if method not in ("SendSms", "SendMultipleSMS"):
        return _tag(f"{method}Result", taken.code or ",".join(taken.slots))
    if taken.code:
        return _tag(f"{method}Result", taken.code) + "<recId/>"
    ids = ["0" if slot == NOT_SENT else slot for slot in taken.slots]
    statuses = bytes(int(slot == NOT_SENT) for slot in taken.slots)
    return (
        _tag(f"{method}Result", "1")
        + _tag("recId", _list("long", ids))
        + _tag("status", base64.b64encode(statuses).decode())
    )


def _read(body: bytes) -> Call | None:
    """The method and the arguments of an envelope; None when it is none."""
    try:
        root = fromstring(body, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError):
        return None
    inside = next((child for child in root if _local(child) == "Body"), None)
    if inside is None or not len(inside):
        return None
    method = inside[0]
    arguments = list(method)
    return Call(
        method=_local(method),
        scalars={_local(one): one.text or "" for one in arguments if not len(one)},
        arrays={_local(one): tuple(item.text or "" for item in one) for one in arguments if len(one)},
    )


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _envelope(method: str, inner: str) -> bytes:
    return (
        '<?xml version="1.0" encoding="utf-8"?>'
        '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
        f'<{method}Response xmlns="{NAMESPACE}">{inner}</{method}Response></soap:Body></soap:Envelope>'
    ).encode("utf-8", "replace")


def _fault(reason: str) -> HttpAnswer:
    """A SOAP fault, which comes with HTTP 500."""
    body = (
        '<?xml version="1.0" encoding="utf-8"?>'
        '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><soap:Fault>'
        f"<faultcode>soap:Client</faultcode><faultstring>{reason}</faultstring>"
        "</soap:Fault></soap:Body></soap:Envelope>"
    )
    return HttpAnswer(status=500, body=body.encode(), content_type=XML)


def _tag(name: str, inner: str) -> str:
    return f"<{name}>{inner}</{name}>"


def _list(name: str, values: Sequence[str]) -> str:
    return "".join(_tag(name, escape(value)) for value in values)


def _fields(row: Mapping[str, Any]) -> str:
    return "".join(_tag(name, escape(_written(value))) for name, value in row.items())


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

"""The provider behind the wire: accounts, credit, acceptance, delivery. Knows nothing of HTTP."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from sms.parts import count_parts
from sms.simulator.plan import Account, Plan, Request, Rule, uniform
from sms.simulator.record import AcceptedMessage, Journal, SeenRequest, read, read_requests

MAX_RECIPIENTS = 100
MAX_LISTED = 100
OPT_OUT_WORD = "لغو11"
TEHRAN = timezone(timedelta(hours=3, minutes=30))
FIRST_ID = 4_700_000_000_000_000_000  # ids have 19 digits and pass the precision of a float

_MOBILE = re.compile(r"(?:0|\+?98|0098)?9[0-9]{9}")

Fields = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the provider says, before any fault of the wire; `fault` is the rule that met the request."""

    document: object
    fault: Rule | None = None
    latency_s: float = 0


def scalar(value: str | None, ret_status: int = 1, words: str = "Ok") -> dict[str, object]:
    return {"Value": value, "RetStatus": ret_status, "StrRetStatus": words}


def refusal(code: str) -> dict[str, object]:
    """Every refusal looks alike, but for a wrong sender, which has a status of its own."""
    return scalar(code, 9, "InvalidNumber") if code == "5" else scalar(code, 35, "InvalidData")


class Panel:
    """One simulated provider over one store. Not thread-safe: one thread answers all requests."""

    def __init__(self, store: str | Path, plan: Plan, clock: Callable[[], datetime], *, fsync: bool) -> None:
        self.plan = plan
        self._clock = clock
        self._accepted = read(store)
        self._requests = len(read_requests(store))
        self._journal = Journal(store, fsync=fsync)
        self._by_id = {message.id: message for message in self._accepted}
        self._spent: Counter[str] = Counter()
        for message in self._accepted:
            self._spent[message.account] += message.parts
        self._attempts: Counter[tuple[str, str, str]] = Counter()
        self._forced: dict[str, str] = {}
        self.methods: Mapping[str, Callable[[Account, Fields], object]] = {
            "GetDeliveries2": self._delivery,
            "GetMessages": self._messages,
            "GetCredit": self._credit,
            "GetBasePrice": lambda _account, _fields: scalar("1090"),
            "GetUserNumbers": self._lines,
        }

    def close(self) -> None:
        self._journal.close()

    @property
    def accepted(self) -> list[AcceptedMessage]:
        return list(self._accepted)

    def force_delivery(self, message_id: str, code: str) -> None:
        """Make a message's final outcome known now."""
        self._forced[message_id] = code

    def answer(self, method: str, fields: Fields) -> Verdict | None:
        """The verdict on one call, or None for a method there is not. Field names are lower case."""
        if method == "SendSMS":
            return self._send(fields)
        if method not in self.methods:
            return None
        request = self._request(method, fields.get("recid", ""), "", "")
        account = self._account(fields)
        document = self.methods[method](account, fields) if account else _no_entry(method)
        fault = self.plan.fault_for(request)
        if fault and fault.do == "code":
            document = refusal(fault.code)
        return Verdict(document, fault, self.plan.latency_s(request))

    def _account(self, fields: Fields) -> Account | None:
        offered = (fields.get("username", ""), fields.get("password", ""))
        matching = (one for one in self.plan.accounts if (one.username, one.password) == offered)
        return next(matching, None)

    def _request(self, method: str, to: str, text: str, sender: str) -> Request:
        self._attempts[method, to, text] += 1
        attempt = self._attempts[method, to, text]
        return Request(method=method, to=to, text=text, sender=sender, attempt=attempt)

    def _send(self, fields: Fields) -> Verdict:
        to, text, sender = (fields.get(name, "") for name in ("to", "text", "from"))
        request = self._request("SendSMS", to, text, sender)
        fault = self.plan.fault_for(request)
        taken = _Taken()
        account = self._account(fields)
        if fault is None or fault.accept:
            self._take(account, request, taken)
        elif fault.do == "code":
            taken.document = refusal(fault.code)
        if fault and fault.do == "same_id" and taken.ids:
            taken.document = scalar(fault.id)
        self._see(fields.get("username", ""), request, fault, taken)
        return Verdict(taken.document, fault, self.plan.latency_s(request))

    def _take(self, account: Account | None, request: Request, taken: _Taken) -> None:
        """Accept what can be accepted of one request, and say so in `taken`."""
        numbers = [number.strip() for number in request.to.split(",") if number.strip()]
        code = self._why_not(account, numbers, request)
        if code or account is None:
            taken.document = refusal(code)
            return
        slots = []
        for number in numbers:
            if _MOBILE.fullmatch(number):
                message = self._accept(account, number, request)
                taken.ids.append(message.id)
                slots.append(message.id)
            else:
                slots.append("11")
        taken.document = scalar(",".join(slots))

    def _why_not(self, account: Account | None, numbers: list[str], request: Request) -> str:
        """The code by which the whole request is refused, or "" if it is not."""
        if account is None:
            return "0"
        checks = (
            (not numbers, "16"),
            (len(numbers) > MAX_RECIPIENTS, "4"),
            (not request.text.strip(), "17"),
            (request.sender not in account.lines, "5"),
            (len(numbers) == 1 and not _MOBILE.fullmatch(numbers[0]), "18"),
            (len(numbers) > 1 and OPT_OUT_WORD not in request.text.replace(" ", ""), "15"),
            (self._left(account) < count_parts(request.text).parts * len(numbers), "2"),
        )
        return next((code for refused, code in checks if refused), "")

    def _accept(self, account: Account, number: str, request: Request) -> AcceptedMessage:
        seq = len(self._accepted) + 1
        offset = int(uniform(self.plan.seed, "ids") * 10**17) * 10
        message = AcceptedMessage(
            seq=seq,
            wall=datetime.now(UTC),
            clock=self._clock(),
            account=account.username,
            number=number,
            sender=request.sender,
            text=request.text,
            id=str(FIRST_ID + offset + seq * 7),
            parts=count_parts(request.text).parts,
        )
        self._journal.accept(message)
        self._accepted.append(message)
        self._by_id[message.id] = message
        self._spent[account.username] += message.parts
        return message

    def _see(self, username: str, request: Request, fault: Rule | None, taken: _Taken) -> None:
        self._requests += 1
        seen = SeenRequest(
            seq=self._requests,
            wall=datetime.now(UTC),
            clock=self._clock(),
            account=username,
            number=request.to,
            sender=request.sender,
            text=request.text,
            attempt=request.attempt,
            fault=fault.do if fault else "",
            ids=tuple(taken.ids),
        )
        self._journal.see(seen)

    def _left(self, account: Account) -> float:
        return float("inf") if account.credit is None else account.credit - self._spent[account.username]

    def _credit(self, account: Account, _fields: Fields) -> object:
        return scalar("100000" if account.credit is None else str(int(self._left(account))))

    def _lines(self, account: Account, _fields: Fields) -> object:
        return {"MyBase": scalar("Ok"), "Data": [{"Number": line} for line in account.lines]}

    def _delivery(self, account: Account, fields: Fields) -> object:
        message = self._by_id.get(fields.get("recid", "").strip())
        if message is None or message.account != account.username:
            return scalar("-1")
        return scalar(self._status(message))

    def _status(self, message: AcceptedMessage) -> str:
        """Queued, sent, at the operator, and at last what becomes of it; by the product's own clock."""
        if message.id in self._forced:
            return self._forced[message.id]
        final, after = self.plan.delivery_of(message.number, message.id)
        passed = (self._clock() - message.clock).total_seconds()
        steps = ((0.1 * after, "400"), (0.4 * after, "200"), (after, "8"))
        return next((code for until, code in steps if passed < until), final)

    def _messages(self, account: Account, fields: Fields) -> object:
        """The list of sent messages, newest first. Nothing is ever received here."""
        line = fields.get("from", "").strip()
        mine = [
            message
            for message in reversed(self._accepted)
            if message.account == account.username and (not line or message.sender == line)
        ]
        index, count = (
            _number(fields.get("index"), 0),
            min(_number(fields.get("count"), MAX_LISTED), MAX_LISTED),
        )
        sent = mine[index : index + count] if fields.get("location") == "2" else []
        return {"MyBase": scalar("Ok"), "Data": [self._row(message) for message in sent]}

    def _row(self, message: AcceptedMessage) -> dict[str, Any]:
        status = self._status(message)
        return {
            "MsgID": message.seq,
            "Body": message.text,
            "SendDate": message.clock.astimezone(TEHRAN).strftime("%Y-%m-%dT%H:%M:%S"),
            "Sender": message.sender,
            "Receiver": message.number[-10:],
            "FirstLocation": 2,
            "CurrentLocation": 2,
            "Parts": message.parts,
            "RecCount": 1,
            "RecFailed": int(status in ("2", "3", "16", "35", "300", "500")),
            "RecSuccess": int(status == "1"),
            "IsUnicode": count_parts(message.text).encoding == "ucs2",
        }


@dataclass(slots=True)
class _Taken:
    """What one request to send came to."""

    document: object = None
    ids: list[str] = field(default_factory=list)


def _no_entry(method: str) -> object:
    """A wrong user name or password, as it was seen on the real panel."""
    if method in ("GetMessages", "GetUserNumbers"):
        return {"MyBase": scalar(None, 35, "InvalidData"), "Data": None}
    return refusal("0")


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else default

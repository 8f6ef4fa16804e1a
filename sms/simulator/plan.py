"""How the simulated provider behaves: its accounts, faults and delivery outcomes, from one document.

    {"seed": 7, "latency_ms": [20, 80],
     "accounts": [{"username": "peyk", "password": "simulator", "lines": ["50004001"], "credit": 1000}],
     "rules": [{"do": "code", "code": "7", "when": {"text": "casino"}},
               {"do": "close", "accept": true, "share": 0.01},
               {"do": "http", "status": 503, "when": {"attempt": 1}, "share": 0.05}],
     "delivery": {"after_s": [20, 300], "shares": {"delivered": 0.9, "undelivered": 0.06, "blacklist": 0.04},
                  "numbers": {"09120000035": "blacklist"},
                  "scripts": {"09120000036": [[0, "delivered"], [60, "silent"], [120, "delivered"]]}},
     "outbox": {"after_s": 30, "hidden": ["09120000037"]}}

The first rule that matches decides. Everything left out has a harmless default. A rule without
`when.method` meets every request to send, whatever the interface; `"*"` meets questions too.

Delivery: without a script a message is queued, sent, at the operator and then has its final outcome.
`delivery.scripts` gives for a number what is answered from each second after acceptance on: late
(`[[90000, "delivered"]]`, until then "queued"), repeated, or out of order as above. The control path
`POST /_sim/delivery` (or `Simulator.force_delivery`) makes an outcome known at once, `POST /_sim/report`
(or `relay.report`) pushes one to a webhook as often as asked, in the order asked.

Outbox: every interface lists what it sent, newest first (`GetMessages` with location 2, `getMessages`,
`receive/messages`). A message appears `outbox.after_s` seconds after it was accepted (default 0), and
never if its number is `hidden`. `POST /_sim/inbound` (or `relay.relay`) pushes a received message.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

# do -> whether a message met by it is accepted unless the rule says otherwise
FAULTS: Mapping[str, bool] = {
    "code": False,  # answers 200 with `code`
    "http": False,  # answers HTTP `status`, with `headers`
    "close": False,  # closes the connection instead of answering
    "reset": False,  # resets it
    "hang": False,  # never answers
    "body": False,  # answers 200 with `body`, by default a page of HTML
    "drip": True,  # answers rightly, one byte every `ms`
    "slow": True,  # answers rightly, after `ms`
    "close_after": True,  # answers rightly, then closes without having said so
    "same_id": True,  # answers rightly, but with `id`
    "short": True,  # answers rightly, but leaves the last recipient out
}

DELIVERY_OUTCOMES: Mapping[str, str] = {
    "delivered": "1",
    "undelivered": "2",
    "operator_error": "3",
    "lost": "16",
    "blacklist": "35",
    "unknown": "100",
    "filtered": "300",
    "rejected": "500",
    "silent": "200",  # no report ever comes
}

QUEUED = "400"
GARBAGE = "<!DOCTYPE html><html><body><h1>Server Error in '/' Application.</h1></body></html>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One customer of the simulated provider. `credit` is counted in parts; None never runs out."""

    username: str = "peyk"
    password: str = field(default="simulator", repr=False)
    key: str = field(default="simulator-console-key", repr=False)  # of the console interface
    lines: tuple[str, ...] = ("50004001", "30007002")
    credit: int | None = None
    patterns: Mapping[str, str] = field(default_factory=lambda: {"4321": "سلام {0}، کد شما {1} است."})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One fault and the requests it meets: all conditions hold, and the request's draw is below `share`."""

    do: str
    accept: bool
    share: float = 1.0
    method: str = ""  # empty: every request to send
    to: frozenset[str] = frozenset()
    text: str = ""
    sender: str = ""
    attempts: frozenset[int] = frozenset()
    code: str = "11"
    status: int = 500
    headers: tuple[tuple[str, str], ...] = ()
    body: str = GARBAGE
    encoding: str = "utf-8"  # of `body`
    ms: float = 1000
    id: str = "1111111111111111111"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a rule can look at."""

    method: str
    to: str = ""
    text: str = ""
    sender: str = ""
    attempt: int = 1
    sends: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The whole behaviour. Frozen: a change of mind is another plan."""

    seed: int = 0
    latency_ms: tuple[float, float] = (0, 0)
    accounts: tuple[Account, ...] = (Account(),)
    rules: tuple[Rule, ...] = ()
    delivery_after_s: tuple[float, float] = (20, 300)
    delivery_shares: tuple[tuple[str, float], ...] = (("1", 1.0),)
    delivery_numbers: Mapping[str, str] = field(default_factory=dict)
    delivery_scripts: Mapping[str, tuple[tuple[float, str], ...]] = field(default_factory=dict)
    outbox_after_s: float = 0
    outbox_hidden: frozenset[str] = frozenset()

    def fault_for(self, request: Request) -> Rule | None:
        """The fault that this request meets, the same one every time it is asked."""
        for index, rule in enumerate(self.rules):
            if _matches(rule, request) and self.draw("rule", index, request) < rule.share:
                return rule
        return None

    def latency_s(self, request: Request) -> float:
        """How long the answer to this request takes, in seconds."""
        low, high = self.latency_ms
        return (low + (high - low) * self.draw("latency", 0, request)) / 1000

    def draw(self, salt: str, index: int, request: Request) -> float:
        """A number in [0, 1) that depends on nothing but the seed and the request."""
        return uniform(self.seed, salt, index, request.method, request.to, request.text, request.attempt)

    def delivery_at(self, number: str, message_id: str, passed_s: float) -> str:
        """The delivery code that is known of a message `passed_s` seconds after it was accepted."""
        if script := self.delivery_scripts.get(number):
            told = [code for after, code in script if after <= passed_s]
            return told[-1] if told else QUEUED
        final, after = self.delivery_of(number, message_id)
        steps = ((0.1 * after, QUEUED), (0.4 * after, "200"), (after, "8"))
        return next((code for until, code in steps if passed_s < until), final)

    def delivery_of(self, number: str, message_id: str) -> tuple[str, float]:
        """The final delivery code of a message, and the seconds after which it is known."""
        low, high = self.delivery_after_s
        after = low + (high - low) * uniform(self.seed, "after", number, message_id)
        if number in self.delivery_numbers:
            return self.delivery_numbers[number], after
        left = uniform(self.seed, "delivery", number, message_id)
        for code, share in self.delivery_shares:
            if left < share:
                return code, after
            left -= share
        return DELIVERY_OUTCOMES["delivered"], after


def uniform(*parts: object) -> float:
    """A number in [0, 1) made from `parts` alone."""
    digest = hashlib.blake2b(repr(parts).encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def parse_plan(document: object) -> Plan:
    """The plan a document describes. Raises ValueError that names the first thing wrong with it."""
    top = _mapping(document, "the plan")
    _only(top, {"seed", "latency_ms", "accounts", "rules", "delivery", "outbox"}, "the plan")
    outbox = _mapping(top.get("outbox", {}), "outbox")
    _only(outbox, {"after_s", "hidden"}, "outbox")
    return Plan(
        seed=int(top.get("seed", 0)),
        latency_ms=_range(top.get("latency_ms", 0)),
        accounts=tuple(_account(row) for row in _list(top.get("accounts", [{}]), "accounts")),
        rules=tuple(_rule(row) for row in _list(top.get("rules", []), "rules")),
        outbox_after_s=_range(outbox.get("after_s", 0))[0],
        outbox_hidden=frozenset(map(str, _list(outbox.get("hidden", []), "outbox.hidden"))),
        **_delivery(_mapping(top.get("delivery", {}), "delivery")),
    )


def _delivery(given: Mapping[str, Any]) -> dict[str, Any]:
    _only(given, {"after_s", "shares", "numbers", "scripts"}, "delivery")
    shares = _mapping(given.get("shares", {"delivered": 1.0}), "delivery.shares")
    numbers = _mapping(given.get("numbers", {}), "delivery.numbers")
    scripts = _mapping(given.get("scripts", {}), "delivery.scripts")
    return {
        "delivery_after_s": _range(given.get("after_s", [20, 300])),
        "delivery_shares": tuple((_outcome(name), float(share)) for name, share in shares.items()),
        "delivery_numbers": {number: _outcome(name) for number, name in numbers.items()},
        "delivery_scripts": {number: _script(steps) for number, steps in scripts.items()},
    }


def _script(steps: object) -> tuple[tuple[float, str], ...]:
    """Pairs of a second and an outcome, by second; of two at one second the later one is answered."""
    pairs = [_list(step, "a step of a script") for step in _list(steps, "a script")]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError("a step of a script is a second and an outcome")
    return tuple(sorted(((_range(after)[0], _outcome(str(name))) for after, name in pairs), key=_second))


def _second(step: tuple[float, str]) -> float:
    return step[0]


def _account(row: object) -> Account:
    given = _mapping(row, "an account")
    _only(given, {"username", "password", "key", "lines", "credit", "patterns"}, "an account")
    lines = {"lines": tuple(str(line) for line in given["lines"])} if "lines" in given else {}
    return Account(**{**given, **lines})


def _rule(row: object) -> Rule:
    given = dict(_mapping(row, "a rule"))
    when = _mapping(given.pop("when", {}), "when")
    _only(
        given,
        {"do", "accept", "share", "code", "status", "headers", "body", "encoding", "ms", "id"},
        "a rule",
    )
    _only(when, {"method", "to", "text", "sender", "attempt"}, "when")
    do = given.pop("do", None)
    if do not in FAULTS:
        raise ValueError(f"do: {do!r} is none of {', '.join(FAULTS)}")
    if "headers" in given:
        given["headers"] = tuple(_mapping(given["headers"], "headers").items())
    to = when.get("to", [])
    attempt = when.get("attempt", [])
    return Rule(
        do=do,
        accept=bool(given.pop("accept", FAULTS[do])),
        method=when.get("method", ""),
        to=frozenset([to] if isinstance(to, str) else to),
        text=when.get("text", ""),
        sender=when.get("sender", ""),
        attempts=frozenset([attempt] if isinstance(attempt, int) else attempt),
        **given,
    )


def _matches(rule: Rule, request: Request) -> bool:
    return (
        (request.sends if rule.method == "" else rule.method in (request.method, "*"))
        and (not rule.to or request.to in rule.to)
        and rule.text in request.text
        and rule.sender in ("", request.sender)
        and (not rule.attempts or request.attempt in rule.attempts)
    )


def _outcome(name: str) -> str:
    if name in DELIVERY_OUTCOMES:
        return DELIVERY_OUTCOMES[name]
    if name in DELIVERY_OUTCOMES.values():
        return name
    raise ValueError(f"{name!r} is none of {', '.join(DELIVERY_OUTCOMES)}")


def _range(value: object) -> tuple[float, float]:
    pair = value if isinstance(value, list) else [value, value]
    if len(pair) != 2 or not all(isinstance(end, int | float) and end >= 0 for end in pair):
        raise ValueError(f"{value!r} is neither a number nor a pair of numbers")
    return float(pair[0]), float(pair[1])


def _mapping(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{what} must be an object")
    return cast(Mapping[str, Any], value)


def _list(value: object, what: str) -> Sequence[object]:
    if not isinstance(value, list):
        raise ValueError(f"{what} must be a list")
    return value


def _only(given: Mapping[str, Any], known: set[str], what: str) -> None:
    for name in given:
        if name not in known:
            raise ValueError(f"{what} has no {name!r}")

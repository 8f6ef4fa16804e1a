"""The provider behind the wire: accounts, credit, acceptance, delivery. Knows nothing of HTTP.

Every interface (`rest`, `soap`, `console`, `form`) hands an `Offer` to the same panel and dresses what
came of it in its own words, so that a message counts alike whichever way it came.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sms.parts import count_parts
from sms.simulator.plan import Account, Plan, Request, Rule, uniform
from sms.simulator.record import AcceptedMessage, Journal, SeenRequest, read, read_requests

MAX_RECIPIENTS = 100
OPT_OUT_WORD = "لغو11"
FIRST_ID = 4_700_000_000_000_000_000  # ids have 19 digits and pass the precision of a float
NOT_SENT = "11"  # the slot of a recipient that was left out of an accepted list

_MOBILE = re.compile(r"(?:0|\+?98|0098)?9[0-9]{9}")
_LINK = re.compile(r"https?://|www\.", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One request to send: `texts` has one text for all `numbers`, or one for each.

    `pattern` is the number of an approved text, whose variables are then `texts`; `account` is None when
    nobody could be told from the credentials, `who` is what they said.
    """

    method: str
    who: str
    account: Account | None
    numbers: tuple[str, ...]
    texts: tuple[str, ...]
    sender: str = ""
    pattern: str | None = None

    @property
    def whole_text(self) -> str:
        """What a rule looks at and the record of requests keeps."""
        return "\n".join(dict.fromkeys(self.texts))


@dataclass(slots=True)
class Taken:
    """What one request came to: the `code` of a refusal, or a slot for each recipient, an id or a code."""

    code: str = ""
    slots: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    fault: Rule | None = None
    latency_s: float = 0


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

    def close(self) -> None:
        self._journal.close()

    @property
    def accepted(self) -> list[AcceptedMessage]:
        return list(self._accepted)

    def force_delivery(self, message_id: str, code: str) -> None:
        """Make a message's final outcome known now."""
        self._forced[message_id] = code

    def account(self, username: str, password: str) -> Account | None:
        """The account these credentials belong to."""
        matching = (one for one in self.plan.accounts if (one.username, one.password) == (username, password))
        return next(matching, None)

    def account_of_key(self, key: str) -> Account | None:
        """The account a console key belongs to."""
        return next((one for one in self.plan.accounts if one.key == key), None)

    def asked(self, method: str, about: str = "") -> Taken:
        """The fault and the delay that a question meets; it takes nothing."""
        request = self._request(method, about, "", "", sends=False)
        fault = self.plan.fault_for(request)
        code = fault.code if fault and fault.do == "code" else ""
        return Taken(code=code, fault=fault, latency_s=self.plan.latency_s(request))

    def offer(self, offer: Offer) -> Taken:
        """Take what can be taken of one request to send, unless a fault of the plan meets it."""
        request = self._request(
            offer.method, ",".join(offer.numbers), offer.whole_text, offer.sender, sends=True
        )
        fault = self.plan.fault_for(request)
        taken = Taken(fault=fault, latency_s=self.plan.latency_s(request))
        if fault is None or fault.accept:
            self._take(offer, taken)
        elif fault.do == "code":
            taken.code = fault.code
        if fault and fault.do == "same_id" and taken.ids:
            taken.slots = [fault.id]
        if fault and fault.do == "short" and taken.slots:
            taken.slots.pop()
        self._see(offer, request, taken)
        return taken

    def left(self, account: Account) -> float:
        """The parts that are left on the account."""
        return float("inf") if account.credit is None else account.credit - self._spent[account.username]

    def delivery(self, account: Account, message_id: str) -> str | None:
        """The delivery code of a message of the account; None for one that it does not have."""
        message = self._by_id.get(message_id.strip())
        return None if message is None or message.account != account.username else self.status(message)

    def status(self, message: AcceptedMessage) -> str:
        """What is known of a message now, by the product's own clock."""
        if message.id in self._forced:
            return self._forced[message.id]
        passed = (self._clock() - message.clock).total_seconds()
        return self.plan.delivery_at(message.number, message.id, passed)

    def outbox(self, account: Account, line: str, index: int, count: int) -> list[AcceptedMessage]:
        """The sent messages of the account (of one line, unless it is empty), newest first."""
        visible_until = self._clock() - timedelta(seconds=self.plan.outbox_after_s)
        mine = [
            message
            for message in reversed(self._accepted)
            if message.account == account.username
            and (not line or message.sender == line)
            and message.clock <= visible_until
            and message.number not in self.plan.outbox_hidden
        ]
        return mine[index : index + count]

    def _request(self, method: str, to: str, text: str, sender: str, *, sends: bool) -> Request:
        self._attempts[method, to, text] += 1
        attempt = self._attempts[method, to, text]
        return Request(method=method, to=to, text=text, sender=sender, attempt=attempt, sends=sends)

    def _take(self, offer: Offer, taken: Taken) -> None:
        """Accept what can be accepted of one request, and say so in `taken`."""
        account, texts = offer.account, _full_texts(offer)
        taken.code = self._why_not(offer, texts)
        if taken.code or account is None:
            return
        for number, text in zip(offer.numbers, texts, strict=True):
            if _MOBILE.fullmatch(number):
                message = self._accept(account, number, offer.pattern or offer.sender, text)
                taken.ids.append(message.id)
                taken.slots.append(message.id)
            else:
                taken.slots.append(NOT_SENT)

    def _why_not(self, offer: Offer, texts: Sequence[str]) -> str:
        """The code by which the whole request is refused, or "" if it is not."""
        account, numbers = offer.account, offer.numbers
        if account is None:
            return "0"
        if offer.pattern is not None and (code := _pattern_fault(account, offer)):
            return code
        parts = sum(count_parts(text).parts for text in texts)
        checks = (
            (not numbers, "16"),
            (len(numbers) > MAX_RECIPIENTS or len(numbers) != len(texts), "4"),
            (any(not text.strip() for text in texts), "17"),
            (offer.pattern is None and offer.sender not in account.lines, "5"),
            (len(numbers) == 1 and not _MOBILE.fullmatch(numbers[0]), "18"),
            (_same_text_without_opt_out(texts), "15"),
            (self.left(account) < parts, "2"),
        )
        return next((code for refused, code in checks if refused), "")

    def _accept(self, account: Account, number: str, sender: str, text: str) -> AcceptedMessage:
        seq = len(self._accepted) + 1
        offset = int(uniform(self.plan.seed, "ids") * 10**17) * 10
        message = AcceptedMessage(
            seq=seq,
            wall=datetime.now(UTC),
            clock=self._clock(),
            account=account.username,
            number=number,
            sender=sender,
            text=text,
            id=str(FIRST_ID + offset + seq * 7),
            parts=count_parts(text).parts,
        )
        self._journal.accept(message)
        self._accepted.append(message)
        self._by_id[message.id] = message
        self._spent[account.username] += message.parts
        return message

    def _see(self, offer: Offer, request: Request, taken: Taken) -> None:
        self._requests += 1
        seen = SeenRequest(
            seq=self._requests,
            wall=datetime.now(UTC),
            clock=self._clock(),
            account=offer.who,
            number=request.to,
            sender=offer.pattern or request.sender,
            text=request.text,
            attempt=request.attempt,
            fault=taken.fault.do if taken.fault else "",
            ids=tuple(taken.ids),
        )
        self._journal.see(seen)


def _full_texts(offer: Offer) -> list[str]:
    """The text of each recipient; an approved text is filled with the variables."""
    if offer.pattern is not None:
        approved = offer.account.patterns.get(offer.pattern, "") if offer.account else ""
        for place, value in enumerate(offer.texts):
            approved = approved.replace(f"{{{place}}}", value)
        return [approved] * len(offer.numbers)
    return list(offer.texts) * len(offer.numbers) if len(offer.texts) == 1 else list(offer.texts)


def _pattern_fault(account: Account, offer: Offer) -> str:
    """What only an approved text can be refused for."""
    approved = account.patterns.get(offer.pattern or "")
    checks = (
        (len(offer.numbers) > 1, "-2"),
        (approved is None, "-4"),
        (approved is not None and len(set(re.findall(r"\{[0-9]+\}", approved))) != len(offer.texts), "-5"),
        (any(_LINK.search(value) for value in offer.texts), "-10"),
    )
    return next((code for refused, code in checks if refused), "")


def _same_text_without_opt_out(texts: Sequence[str]) -> bool:
    """Whether one text goes to several people and does not tell them how to get rid of it."""
    repeated = [text for text, count in Counter(texts).items() if count > 1]
    return any(OPT_OUT_WORD not in text.replace(" ", "") for text in repeated)

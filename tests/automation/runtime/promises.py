"""What one small campaign promises, and the model that keeps count of it.

Written from the promises, not from the product: it is asked for permission at the very moment the provider
is called, and at the end it says where everybody must have got to.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from automation.control_moves import Operation
from automation.states import ExecutionStatus

TEHRAN: Final = ZoneInfo("Asia/Tehran")
TEXTS: Final = ("یک", "دو")
WAIT: Final = timedelta(hours=1)
TRIES: Final = 4
LONG_AGO: Final = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Person:
    """What the provider and we know of one person. `earliest` is when the next message may leave; `over`
    says how it ended before its end."""

    number: str
    stage: int = 0
    earliest: datetime = LONG_AGO
    tries: int = 0
    over: str = ""
    held: bool = False
    gone: bool = False
    ever_blocked: bool = False
    blocked: bool = False

    def is_changed(self, operation: Operation) -> None:
        """A colleague did something with them, alone or among many."""
        match operation:
            case Operation.PAUSE:
                self.held = True
            case Operation.RESUME:
                self.held = False
            case Operation.REMOVE:
                self.over, self.held = ExecutionStatus.CANCELLED, False
            case Operation.RESTART | Operation.RETRY_STEP:
                assert self.over == ExecutionStatus.FAILED or self.stage == len(TEXTS)
                self.over, self.tries = "", 0
                if operation is Operation.RESTART:
                    self.stage, self.earliest = 0, LONG_AGO

    @property
    def is_surely_inside(self) -> bool:
        """Nothing has ended their walk, nor begun to."""
        return not (self.over or self.gone or self.stage == len(TEXTS))


@dataclass(slots=True)
class Model:
    """The promises, and the state they need. `people` by every number they ever had."""

    people: dict[str, Person]
    cap: int
    running: bool = True
    cancelled: bool = False
    stopped: bool = False  # everything in the workspace
    intake: bool = True  # new people may enter
    hours: bool = True  # office hours apply
    closed_until: datetime | None = None
    used: Counter[date] = field(default_factory=Counter)

    def open_at(self, now: datetime) -> bool:
        local = now.astimezone(TEHRAN)
        if not self.hours:
            return True
        closing = {3: time(13), 4: time(0)}.get(local.weekday(), time(18))
        return time(9) <= local.time() < closing

    def refusal(self, number: str, text: str, now: datetime) -> str:
        """Why this message must not leave now; "" when it may."""
        person = self.people[number]
        reasons = {
            "campaign stopped": not self.running or self.cancelled,
            "everything stopped": self.stopped,
            "held by a colleague": person.held,
            "the person is gone": person.gone,
            "a number of the past": person.number != number,
            "blocked": person.blocked,
            "window closed": not self.open_at(now),
            "walk is over": bool(person.over) or person.stage >= len(TEXTS),
            "cap reached": self.used[day_of(now)] >= self.cap,
            "too early": now < person.earliest,
            "channel closed": self.closed_until is not None and now < self.closed_until,
        }
        found = next((reason for reason, holds in reasons.items() if holds), "")
        return found or ("" if TEXTS[person.stage] == text else f"not the step of stage {person.stage}")

    def leaves(self, number: str, now: datetime) -> None:
        """A message is called out: it uses a unit until its fate is known to be nothing."""
        self.used[day_of(now)] += 1
        self.people[number].tries += 1

    def ends(self, number: str, mode: str, now: datetime, *, heard: bool) -> None:
        """What became of it. `heard`: the worker lived to write the answer down."""
        person = self.people[number]
        if mode in ("accept", "in_doubt") or not heard:
            person.stage, person.tries = person.stage + 1, 0
            person.earliest = now + WAIT
            return
        self.used[day_of(now)] -= 1
        if mode == "no_credit":
            person.tries -= 1
            self.closed_until = now + timedelta(minutes=30)
        elif mode == "refuse" or person.tries >= TRIES:
            person.over = ExecutionStatus.FAILED

    @property
    def refuses_newcomers(self) -> str:
        """With which code somebody new is turned away; "" when they may come in."""
        return "campaign_over" if self.cancelled else "" if self.intake else "intake_closed"

    def everybody(self) -> list[Person]:
        return list({id(person): person for person in self.people.values()}.values())


def day_of(moment: datetime) -> date:
    return moment.astimezone(TEHRAN).date()

"""The proof: what the provider's side recorded, held against what was promised.

Pure. The witness is the simulator's record of accepted messages; our own tables are asked only
for what the witness cannot know: who entered, how each walk ended, and why a step sent nothing.
The calendar here is written out again on purpose and shares no code with the product's windows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Witnessed:
    """One message the provider's side accepted."""

    message_id: str
    to: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Walk:
    """One person's way through the campaign, as our tables tell it.

    `ended`: whether the walk is over. `completed`: whether it reached its end. `steps`: the step's
    name to the statuses of every attempt made for it, in order.
    """

    phone: str
    ended: bool
    completed: bool
    steps: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that our tables count as accepted, with the provider's id of it."""

    phone: str
    message_id: str


@dataclass(frozen=True, slots=True)
class Rules:
    """What was promised. `hours`: Monday is 0, a day that is missing is closed."""

    cap_per_day: int
    zone: ZoneInfo
    hours: Mapping[int, tuple[time, time]]
    steps: Mapping[str, re.Pattern[str]]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything the proof looks at. `blocked`: number to the moment it was blacklisted."""

    witnessed: Sequence[Witnessed]
    walks: Sequence[Walk]
    sent: Sequence[Sent]
    blocked: Mapping[str, datetime]


@dataclass(frozen=True, slots=True)
class Check:
    """One promise: how many facts were looked at, and the violations found."""

    promise: str
    looked_at: int
    violations: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """A promise about nothing proves nothing."""
        return self.violations == 0 and self.looked_at > 0


def prove(evidence: Evidence, rules: Rules) -> list[Check]:
    """Every promise, checked."""
    return [
        _everyone_accounted_for(evidence, rules),
        _record_and_tables_agree(evidence),
        _nobody_twice(evidence, rules),
        _no_day_over_the_cap(evidence, rules),
        _nothing_outside_the_window(evidence, rules),
        _nothing_to_a_blacklisted_number(evidence),
    ]


def holds(checks: Iterable[Check]) -> bool:
    """Whether every promise was kept."""
    return all(check.holds for check in checks)


def as_data(checks: Iterable[Check]) -> list[dict[str, object]]:
    """For `--json`."""
    return [{**asdict(check), "holds": check.holds} for check in checks]


def _check(promise: str, looked_at: int, violations: list[str]) -> Check:
    return Check(promise, looked_at, len(violations), violations[:EXAMPLES])


def step_of(text: str, rules: Rules) -> str | None:
    """Which step a text belongs to; None when it fits none or more than one."""
    fitting = [name for name, pattern in rules.steps.items() if pattern.fullmatch(text)]
    return fitting[0] if len(fitting) == 1 else None


# What may explain that a step put nothing on the provider's record for somebody who walked through it.
NOT_SENT = frozenset({"failed", "rejected", "skipped", "unknown", "cancelled", "expired", "blacklisted"})


def _everyone_accounted_for(evidence: Evidence, rules: Rules) -> Check:
    received = {(seen.to, step_of(seen.text, rules)) for seen in evidence.witnessed}
    entered = {walk.phone for walk in evidence.walks}
    violations = [f"{walk.phone} has not ended" for walk in evidence.walks if not walk.ended]
    for walk in evidence.walks:
        for step in rules.steps:
            if (walk.phone, step) in received:
                continue
            attempts = walk.steps.get(step, ())
            explained = bool(attempts) and attempts[-1] in NOT_SENT
            if not explained and (walk.completed or attempts):
                violations.append(f"{walk.phone} got no {step!r} and nothing says why")
    violations += [f"{phone} got a message and never entered" for phone in _strangers(evidence, entered)]
    violations += [f"{phone} entered more than once" for phone in _repeated(w.phone for w in evidence.walks)]
    return _check("everyone accounted for", len(evidence.walks), violations)


def _strangers(evidence: Evidence, entered: set[str]) -> list[str]:
    return sorted({seen.to for seen in evidence.witnessed} - entered)


def _repeated(values: Iterable[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]


def _record_and_tables_agree(evidence: Evidence) -> Check:
    recorded = {seen.message_id: seen.to for seen in evidence.witnessed}
    violations = [
        f"{sent.message_id} is sent in our tables and not on the provider's record"
        for sent in evidence.sent
        if sent.message_id and recorded.get(sent.message_id) != sent.phone
    ]
    ours = Counter(sent.phone for sent in evidence.sent)
    doubtful = Counter(
        walk.phone
        for walk in evidence.walks
        for tries in walk.steps.values()
        for status in tries
        if status == "unknown"
    )
    theirs = Counter(seen.to for seen in evidence.witnessed)
    # A message that was found in the provider's list has no id of its own there: its count speaks.
    violations += [
        f"{phone}: {count} sent in our tables, {theirs[phone]} on the record"
        for phone, count in ours.items()
        if count > theirs[phone]
    ]
    violations += [
        f"{phone}: {count} on the record, {ours[phone]} in our tables, {doubtful[phone]} in doubt"
        for phone, count in theirs.items()
        if count > ours[phone] + doubtful[phone]
    ]
    return _check("the provider's record and our tables agree", len(evidence.sent), violations)


def _nobody_twice(evidence: Evidence, rules: Rules) -> Check:
    times: Counter[tuple[str, str]] = Counter()
    violations: list[str] = []
    for seen in evidence.witnessed:
        step = step_of(seen.text, rules)
        if step is None:
            violations.append(f"{seen.to} got a text that no step sends")
        else:
            times[seen.to, step] += 1
    violations += [f"{to} got {step!r} {count} times" for (to, step), count in times.items() if count > 1]
    return _check("nobody twice in a step", len(evidence.witnessed), violations)


def _no_day_over_the_cap(evidence: Evidence, rules: Rules) -> Check:
    days = Counter(seen.at.astimezone(rules.zone).date() for seen in evidence.witnessed)
    over = [f"{day}: {count}" for day, count in sorted(days.items()) if count > rules.cap_per_day]
    return _check(f"no day over {rules.cap_per_day}", len(days), over)


def _nothing_outside_the_window(evidence: Evidence, rules: Rules) -> Check:
    outside = [
        f"{seen.to} at {seen.at.isoformat()}" for seen in evidence.witnessed if not _open(seen.at, rules)
    ]
    return _check("nothing outside the window", len(evidence.witnessed), outside)


def _open(at: datetime, rules: Rules) -> bool:
    local = at.astimezone(rules.zone)
    hours = rules.hours.get(local.weekday())
    return hours is not None and hours[0] <= local.time() < hours[1]


def _nothing_to_a_blacklisted_number(evidence: Evidence) -> Check:
    late = [
        f"{seen.to} at {seen.at.isoformat()}"
        for seen in evidence.witnessed
        if seen.to in evidence.blocked and seen.at >= evidence.blocked[seen.to]
    ]
    return _check("nothing to a blacklisted number", len(evidence.blocked), late)


def busiest_day(witnessed: Iterable[Witnessed], zone: ZoneInfo) -> int:
    """The most messages accepted on one calendar day of `zone`."""
    days = Counter(seen.at.astimezone(zone).date() for seen in witnessed)
    return max(days.values(), default=0)


def span(witnessed: Sequence[Witnessed]) -> timedelta:
    """From the first accepted message to the last."""
    moments = [seen.at for seen in witnessed]
    return max(moments) - min(moments) if moments else timedelta(0)

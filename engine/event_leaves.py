"""Conditions about how often an event happened: `{"event", "count_operator", "count", "within_days"}`.

    {"event": "order_paid", "count_operator": ">=", "count": 2, "within_days": 30}

Counted are the events of `Facts.events` up to now; with `within_days` those after the moment so many
times 24 hours ago. The count operator and count may be left out together: at least once is meant then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final

from engine.types import Facts, Problem

KEYS: Final = frozenset({"event", "count_operator", "count", "within_days"})
MAX_NAME: Final = 100
MAX_COUNT: Final = 1_000_000
MAX_DAYS: Final = 3650
RESERVED: Final = frozenset({"journey_enter_requested"})
"""Names that only the product itself may use: nobody can wait for them or ask about them."""

_COUNTS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge,
}  # fmt: skip


def is_event_leaf(node: object) -> bool:
    return isinstance(node, Mapping) and "event" in node


def check_event_name(name: object) -> list[Problem]:
    """What is wrong with the name of an event that somebody waits for or asks about."""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME:
        return [Problem(code="event_missing")]
    return [Problem(code="event_reserved", fields={"event": name})] if name in RESERVED else []


def check_event_leaf(node: Mapping[str, Any]) -> Iterator[Problem]:
    """Every mistake of the author in one such leaf."""
    yield from check_event_name(node["event"])
    if not set(node) <= KEYS or ("count" in node) != ("count_operator" in node):
        yield Problem(code="condition_malformed")
    operator = node.get("count_operator", ">=")
    if not isinstance(operator, str) or operator not in _COUNTS:
        yield Problem(code="condition_operator_unknown", fields={"operator": str(operator)[:40]})
    if not _is_whole(node.get("count", 1), 0, MAX_COUNT):
        yield Problem(code="condition_count_invalid")
    if node.get("within_days") is not None and not _is_whole(node["within_days"], 1, MAX_DAYS):
        yield Problem(code="condition_days_invalid", fields={"max": MAX_DAYS})


def days_of(node: Mapping[str, Any]) -> int:
    """How many days before now the leaf looks back."""
    return int(node.get("within_days") or MAX_DAYS)


@dataclass(frozen=True, slots=True)
class EventLeaf:
    """A checked leaf, ready to be asked. Always answered: who never did anything did it zero times."""

    event: str
    compare: Callable[[int, int], bool]
    count: int
    within: timedelta | None

    @classmethod
    def read(cls, node: Mapping[str, Any]) -> EventLeaf:
        days = node.get("within_days")
        return cls(
            event=node["event"],
            compare=_COUNTS[node.get("count_operator", ">=")],
            count=node.get("count", 1),
            within=None if days is None else timedelta(days=days),
        )

    def __call__(self, facts: Facts, now: datetime) -> bool:
        moments = facts.events.get(self.event, ())
        since = None if self.within is None else now - self.within
        counted = sum(1 for moment in moments if moment <= now and (since is None or moment > since))
        return self.compare(counted, self.count)


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

"""Which events end a wait: comparisons on the properties of the event, all or one of which must hold.

What comes with a known event is chosen from a list, with another the name of a property is typed. A stored
filter that is no such list (a group in a group, an opposite) is shown in words and stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.http import QueryDict
from django.utils.translation import gettext as _

from automation.builder import event_choices
from automation.builder.rule_rows import OPERATOR_LABELS
from automation.builder.rules import LISTS, NO_VALUE, storable
from core.text import to_latin_digits
from engine.comparing import ConditionError, as_number
from engine.conditions import normalize_condition

MAX_COMPARISONS: Final = 20
ORDER: Final = ("<", "<=", ">", ">=")
CHOSEN_VALUES: Final = ("=", "!=")
OPERATORS: Final = ("=", "!=", *ORDER, "contains", *LISTS, *NO_VALUE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    name: str = ""
    operator: str = "="
    value: str = ""

    @property
    def has_value(self) -> bool:
        return self.operator not in NO_VALUE

    @property
    def operators(self) -> list[tuple[str, Any]]:
        return [(word, OPERATOR_LABELS[word]) for word in OPERATORS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A comparison as the page draws it: with `names` and `values` it is chosen, without it is typed."""

    part: Comparison
    names: Sequence[event_choices.Choice]
    values: Sequence[event_choices.Choice]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """`raw` is a stored filter that this editor cannot change."""

    any_of: bool = False
    parts: tuple[Comparison, ...] = ()
    raw: Mapping[str, Any] | None = None

    def edit(self, what: str) -> EventFilter:
        """`addfilter`, or `removefilter:2`; anything else changes nothing."""
        verb, _colon, number = what.partition(":")
        if verb == "addfilter" and len(self.parts) < MAX_COMPARISONS:
            return replace(self, parts=(*self.parts, Comparison()))
        if verb == "removefilter" and number.isascii() and number.isdigit() and len(number) < 3:
            index = int(number)
            return replace(self, parts=(*self.parts[:index], *self.parts[index + 1 :]))
        return self

    def shown(self, event: str) -> list[Shown]:
        """The comparisons with what may be chosen in each, for the event of that name."""
        return [
            Shown(
                part=part,
                names=event_choices.properties(event, part.name),
                values=event_choices.values(event, part.name, part.value)
                if part.operator in CHOSEN_VALUES
                else (),
            )
            for part in self.parts
        ]

    def to_config(self) -> Mapping[str, Any] | None:
        """The stored form; None when nothing is compared."""
        if self.raw is not None:
            return self.raw
        leaves = [_leaf(part) for part in self.parts if part.name]
        return {"root": {"op": "or" if self.any_of else "and", "children": leaves}} if leaves else None


def from_config(stored: object) -> EventFilter:
    """The editor's form of the stored filter."""
    if not isinstance(stored, Mapping):
        return EventFilter()
    try:
        root = normalize_condition(stored)["root"]
    except ConditionError:
        return EventFilter(raw=stored)
    if not root:
        return EventFilter()
    children = root.get("children") if "op" in root else [root]
    parts = [_comparison(leaf) for leaf in children] if isinstance(children, list) else [None]
    known = tuple(part for part in parts if part is not None)
    if root.get("op", "and") not in ("and", "or") or len(known) != len(parts):
        return EventFilter(raw=stored)
    return EventFilter(any_of=root.get("op") == "or", parts=known)


def _comparison(leaf: object) -> Comparison | None:
    if not isinstance(leaf, Mapping) or set(leaf) - {"field", "operator", "value"}:
        return None
    name, operator, value = leaf.get("field"), leaf.get("operator"), leaf.get("value")
    if not isinstance(name, str) or operator not in OPERATORS or isinstance(value, Mapping):
        return None
    values = value if isinstance(value, list) else [] if value is None else [value]
    shown = _(", ").join(_as_text(one) for one in values)
    return Comparison(name=name.removeprefix("event."), operator=str(operator), value=shown)


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def from_post(data: QueryDict, stored: object) -> EventFilter:
    """What the fields `filter.…` say; `stored` where the page does not show them."""
    count = data.get("filter.n")
    if count is None:
        return from_config(stored)
    number = min(int(count), MAX_COMPARISONS) if count.isascii() and count.isdigit() and len(count) < 4 else 0
    return EventFilter(
        any_of=data.get("filter.op") == "or", parts=tuple(_posted(data, index) for index in range(number))
    )


def _posted(data: QueryDict, index: int) -> Comparison:
    operator = data.get(f"filter.{index}.operator", "=")
    return Comparison(
        name=storable(data.get(f"filter.{index}.name", ""), 100).strip(),
        operator=operator if operator in OPERATORS else "=",
        value=storable(data.get(f"filter.{index}.value", ""), 1_000),
    )


def _leaf(part: Comparison) -> dict[str, Any]:
    leaf: dict[str, Any] = {"field": part.name, "operator": part.operator}
    if part.operator in NO_VALUE:
        return leaf
    if part.operator in LISTS:
        pieces = part.value.replace("،", ",").split(",")
        return leaf | {"value": [piece.strip() for piece in pieces if piece.strip()]}
    if part.operator in ORDER:
        number = as_number(to_latin_digits(part.value))
        if number is not None:
            return leaf | {"value": int(number) if number == int(number) else number}
    return leaf | {"value": part.value}

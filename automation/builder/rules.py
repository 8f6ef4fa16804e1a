"""A condition as the rule editor shows it, posts it and changes it.

The editor knows groups (all or any of its parts, or the opposite) and rules. Every stored tree has such a
form and comes back with the same meaning; what the editor cannot change is carried along as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from django.http import QueryDict

from automation import registry
from automation.builder import offers
from automation.builder.relative import read_relative
from core.dates import DateError, parse_date, parse_local_datetime
from core.text import normalize_text, to_latin_digits
from engine.comparing import ConditionError, as_number
from engine.conditions import normalize_condition
from engine.portable import check_values
from engine.types import FieldType

MAX_PARTS: Final = 100
MAX_VALUE: Final = 1_000
MAX_VALUES: Final = 200
MAX_DEPTH: Final = 5  # what the editor makes; deeper stored trees are still shown
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
NO_VALUE: Final = ("is_null", "is_not_null")
EVENT: Final = "@event"  # stands for the field in a rule that asks how often an event happened
COUNTS: Final = (">=", "=", "<=", ">", "<", "!=")
_EVENT_KEYS: Final = frozenset({"event", "count_operator", "count", "within_days"})
LISTS: Final = ("in", "not_in")
_EQUAL: Final = ("=", "!=", "in", "not_in")
_ORDER: Final = ("<", "<=", ">", ">=")
OPERATORS: Final[Mapping[FieldType, tuple[str, ...]]] = {
    FieldType.TEXT: (*_EQUAL, "contains", *NO_VALUE),
    FieldType.NUMBER: (*_EQUAL, *_ORDER, *NO_VALUE),
    FieldType.BOOL: ("=", "!=", *NO_VALUE),
    FieldType.DATE: (*_ORDER, "=", "!=", *NO_VALUE),
    FieldType.DATETIME: (*_ORDER, *NO_VALUE),
    FieldType.LIST: ("contains", "in", "not_in", *NO_VALUE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One question. `raw` is a part that the editor shows but cannot change.

    With the field EVENT it asks how often something happened: `value` is the event, the count and the
    days to look back ("" for any time).
    """

    field: str = ""
    operator: str = ""
    value: tuple[str, ...] = ()
    raw: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """`op` is `and` or `or`; a negated group holds when its parts do not."""

    op: str = "and"
    is_negated: bool = False
    parts: tuple[Rule | Group, ...] = ()


# From and to what is stored


def from_config(config: object) -> Group:
    """The editor's form of a stored condition; an empty group for one that cannot be read."""
    try:
        root = normalize_condition(config)["root"]
    except ConditionError:
        return Group()
    part = _from_node(root, 0) if root else Group()
    return part if isinstance(part, Group) else Group(parts=(part,))


def _from_node(node: Any, depth: int) -> Rule | Group:
    if not isinstance(node, Mapping) or depth > 20:
        return Rule(raw={"root": node})
    if "op" not in node:
        return _from_leaf(node)
    children = node.get("children")
    parts = tuple(_from_node(child, depth + 1) for child in children) if isinstance(children, list) else ()
    if node["op"] != "not":
        return Group(op="or" if node["op"] == "or" else "and", parts=parts)
    only = parts[0] if len(parts) == 1 else None
    if isinstance(only, Group) and not only.is_negated:
        return replace(only, is_negated=True)
    return Group(is_negated=True, parts=parts)


def _from_leaf(leaf: Mapping[str, Any]) -> Rule:
    if "event" in leaf and set(leaf) <= _EVENT_KEYS:
        parts = (leaf["event"], leaf.get("count", 1), leaf.get("within_days"))
        operator = str(leaf.get("count_operator", COUNTS[0]))
        return Rule(
            field=EVENT, operator=operator, value=tuple("" if one is None else str(one) for one in parts)
        )
    if set(leaf) - {"field", "operator", "value"} or not isinstance(leaf.get("field"), str):
        return Rule(raw=leaf)
    value = leaf.get("value")
    values = value if isinstance(value, list) else [] if value is None else [value]
    name = leaf["field"]
    return Rule(
        field=name if "." in name else f"target.{name}",
        operator=str(leaf.get("operator", "")),
        value=tuple(_as_text(one) for one in values),
    )


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def to_config(group: Group, timezone: str) -> dict[str, Any]:
    """The stored form. Rules without a field ask nothing yet and are kept out of it."""
    root = _to_node(group, timezone)
    return {"root": root or {}}


def _to_node(part: Rule | Group, timezone: str) -> dict[str, Any] | None:
    if isinstance(part, Rule):
        return _to_leaf(part, timezone)
    children = [node for one in part.parts if (node := _to_node(one, timezone)) is not None]
    if not children:
        return None
    found: dict[str, Any] = {"op": part.op, "children": children}
    return {"op": "not", "children": [found]} if part.is_negated else found


def _to_leaf(rule: Rule, timezone: str) -> dict[str, Any] | None:
    if rule.raw is not None:
        return dict(rule.raw)
    if not rule.field:
        return None
    if rule.field == EVENT:
        return _event_leaf(rule)
    leaf: dict[str, Any] = {"field": rule.field, "operator": rule.operator or "="}
    kind = registry.field_types().get(rule.field)
    values = [_typed(text, kind, timezone) for text in rule.value if text != ""]
    if leaf["operator"] in NO_VALUE:
        return leaf
    leaf["value"] = values if leaf["operator"] in LISTS else values[0] if values else ""
    return leaf


def _event_leaf(rule: Rule) -> dict[str, Any]:
    name, count, days = (*rule.value, "", "", "")[:3]
    leaf: dict[str, Any] = {"event": name, "count_operator": rule.operator, "count": _whole(count or "1")}
    return leaf | ({"within_days": _whole(days)} if days else {})


def _whole(text: str) -> Any:
    """The number; what is none stays text, and the problems name it."""
    plain = to_latin_digits(text).strip()
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 10 else text


def _typed(text: str, kind: FieldType | None, timezone: str) -> Any:
    """The value as its field's type; what does not suit stays text, and the problems name it."""
    match kind:
        case FieldType.NUMBER:
            number = as_number(to_latin_digits(text))
            return text if number is None else int(number) if number == int(number) else number
        case FieldType.BOOL:
            return text == "true" if text in ("true", "false") else text
        case FieldType.DATE | FieldType.DATETIME:
            return _moment(to_latin_digits(text).strip(), timezone)
        case _:
            return text


def _moment(text: str, timezone: str) -> str:
    relative = read_relative(text)
    if relative:
        return relative
    try:
        if ":" in text:
            return parse_local_datetime(text, timezone).isoformat()
        return parse_date(text).isoformat()
    except DateError:
        return text  # a mistake that is shown as one


# From the posted form


def from_post(data: QueryDict, prefix: str) -> Group:
    """The tree that the fields `<prefix>.<path>.…` say."""
    budget = [MAX_PARTS]
    return _group_from(data, prefix, 0, budget)


def _group_from(data: QueryDict, name: str, depth: int, budget: list[int]) -> Group:
    text = data.get(f"{name}.n", "0")
    count = min(int(text), budget[0]) if text.isascii() and text.isdigit() and len(text) < 5 else 0
    budget[0] -= count
    parts = tuple(_part_from(data, f"{name}.{index}", depth, budget) for index in range(count))
    op = "or" if data.get(f"{name}.op") == "or" else "and"
    return Group(op=op, is_negated=bool(data.get(f"{name}.not")), parts=parts)


def _part_from(data: QueryDict, name: str, depth: int, budget: list[int]) -> Rule | Group:
    if f"{name}.n" in data and depth < 20:
        return _group_from(data, name, depth + 1, budget)
    raw = data.get(f"{name}.raw")
    if raw is not None:
        return Rule(raw=_json(raw))
    field, operator = storable(data.get(f"{name}.field", ""), 100), data.get(f"{name}.operator", "")
    known = registry.field_types().get(field)
    allowed = COUNTS if field == EVENT else OPERATORS[known] if known else ("=",)
    operator = operator if operator in allowed else allowed[0]
    values = [storable(text, MAX_VALUE) for text in data.getlist(f"{name}.value")[:MAX_VALUES]]
    if operator in LISTS and len(values) == 1 and not _is_chosen(field):
        values = [one.strip() for one in values[0].replace("،", ",").split(",") if one.strip()]
    return Rule(field=field, operator=operator, value=tuple(values))


def _json(raw: str) -> Mapping[str, Any]:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) and not check_values(value) else {}


def storable(text: str, most: int) -> str:
    """Typed text as it may be stored: normal letters, no NUL, no half of a surrogate pair, not endless."""
    return _UNSTORABLE.sub("", normalize_text(text[: 4 * most]))[:most]


def _is_chosen(field: str) -> bool:
    """Whether values of this field are ticked, not typed: then a comma belongs to a value."""
    return field == offers.LISTS or any(one.name == field and one.values for one in registry.fields())


# Changes


def edit(group: Group, what: str, path: str) -> Group:
    """`rule` or `group` adds an empty one inside the group at `path`; `remove` takes a part out.

    The same tree for a path that does not exist or a tree that is full.
    """
    steps = [int(step) for step in path.split("-") if step.isdecimal()]
    if what == "remove":
        return _removed(group, steps) if steps else group
    if what not in ("rule", "group"):
        return group
    added: Rule | Group = Rule() if what == "rule" else Group(op="or", parts=(Rule(),))
    if size(group) >= MAX_PARTS or (what == "group" and len(steps) >= MAX_DEPTH):
        return group
    return _added(group, steps, added)


def size(part: Rule | Group) -> int:
    return 1 if isinstance(part, Rule) else 1 + sum(size(one) for one in part.parts)


def _added(group: Group, steps: list[int], part: Rule | Group) -> Group:
    if not steps:
        return replace(group, parts=(*group.parts, part))
    inner = group.parts[steps[0]] if steps[0] < len(group.parts) else None
    if not isinstance(inner, Group):
        return group
    return _with(group, steps[0], _added(inner, steps[1:], part))


def _removed(group: Group, steps: list[int]) -> Group:
    index = steps[0]
    if index >= len(group.parts):
        return group
    if len(steps) == 1:
        return replace(group, parts=(*group.parts[:index], *group.parts[index + 1 :]))
    inner = group.parts[index]
    return _with(group, index, _removed(inner, steps[1:])) if isinstance(inner, Group) else group


def _with(group: Group, index: int, part: Rule | Group) -> Group:
    return replace(group, parts=(*group.parts[:index], part, *group.parts[index + 1 :]))

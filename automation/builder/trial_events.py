"""The event that a trial lets happen: one that the filter of the wait would take, where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.comparing import as_number
from engine.conditions import normalize_condition
from engine.graph import EventWaitNode

_ANYTHING = "1"


def likely(node: EventWaitNode) -> dict[str, Any]:
    """Properties that come close to what `node` asks for. Whether they fit is asked afterwards."""
    tree = node.spec.config.get("filter")
    return _of(normalize_condition(tree)["root"]) if tree else {}


def _of(node: Any) -> dict[str, Any]:
    """Every child of an "and", the first of an "or"; nothing of an opposite."""
    if not isinstance(node, Mapping):
        return {}
    children = node.get("children")
    if isinstance(children, (list, tuple)):
        if node.get("op") == "not":
            return {}
        wanted = children[:1] if node.get("op") == "or" else children
        return {name: value for child in wanted for name, value in _of(child).items()}
    name = str(node.get("field") or "").removeprefix("event.")
    value = _value(str(node.get("operator")), node.get("value"))
    return {} if value is None else {name: value}


def _value(operator: str, asked: Any) -> Any:
    match operator:
        case "=" | "<=" | ">=" | "contains":
            return asked
        case "in":
            return asked[0] if isinstance(asked, (list, tuple)) and asked else asked
        case ">" | "<":
            number = as_number(asked)
            return None if number is None else number + (1 if operator == ">" else -1)
        case "is_not_null":
            return _ANYTHING
        case _:
            return None

"""A condition tree as one SQL condition over people, with the answers of `engine.conditions`.

    people.filter(matching(tree, now=now, fields=registry.field_types(), facts=Facts(...)))

selects exactly those for whom `engine.conditions.evaluate` says true on the facts the runtime would build
of them. It says false or cannot answer: not selected. A part that cannot be answered (a text where a number
is ordered) is NULL in SQL, and groups follow the three-valued logic that the engine follows too.

`target.x` is a column, a list, or else the trait `x`; a missing trait reads as null, as it does in facts.
Values outside `target` are the same for everybody in a query: they come from `facts` and are decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import and_, or_
from typing import Any

from django.db.models import Q

from automation.condition_sources import ALWAYS, NEVER, UNANSWERED, Source, source_of
from engine.comparing import Comparison
from engine.conditions import (
    ConditionError,
    check_condition,
    compile_condition,
    is_empty,
    normalize_condition,
)
from engine.types import Facts, FieldType


def matching(
    tree: object, *, now: datetime, fields: Mapping[str, FieldType], facts: Facts | None = None
) -> Q:
    """The people for whom `tree` holds at `now` (aware). Build it inside the workspace's scope.

    `facts.target` is not read; `facts.workspace_timezone` is the zone of moments without one. An empty tree
    selects everybody. Raises ConditionError for a tree that `check_condition` finds fault with, and for an
    unknown time zone.
    """
    for problem in check_condition(tree, fields):
        raise ConditionError(problem.code, str(problem.fields.get("field", "")))
    if is_empty(tree):
        return ~Q(pk__in=[])
    facts = facts or Facts()
    Comparison("", now, facts.workspace_timezone).zone()
    return _Translator(now, fields, facts).node(normalize_condition(tree)["root"])


@dataclass(frozen=True, slots=True)
class _Translator:
    """`tree` to Q, leaf by leaf. The tree was checked, so its depth is bounded and its values fit."""

    now: datetime
    fields: Mapping[str, FieldType]
    facts: Facts

    def node(self, node: Mapping[str, Any]) -> Q:
        if "op" not in node:
            return self.leaf(node)
        children = [self.node(child) for child in node["children"]]
        match node["op"]:
            case "and":
                return reduce(and_, children)
            case "or":
                return reduce(or_, children)
            case _:
                return ~children[0]

    def leaf(self, leaf: Mapping[str, Any]) -> Q:
        space, dot, name = leaf["field"].partition(".")
        if not dot:
            space, name = "target", leaf["field"]
        if space != "target":
            return self.same_for_everybody(leaf)
        kind = self.fields[f"target.{name}"]
        context = Comparison(f"target.{name}", self.now, self.facts.workspace_timezone, kind)
        return _asked(source_of(name, context), leaf["operator"], leaf.get("value"))

    def same_for_everybody(self, leaf: Mapping[str, Any]) -> Q:
        try:
            holds = compile_condition({"root": leaf}, self.fields)(self.facts, self.now)
        except ConditionError:
            return UNANSWERED
        return ALWAYS if holds else NEVER


def _asked(source: Source, operator: str, value: Any) -> Q:
    match operator:
        case "is_null":
            return source.is_null()
        case "is_not_null":
            return ~source.is_null()
        case "=":
            return source.equals_any([value], each=False)
        case "!=":
            return ~source.equals_any([value], each=False)
        case "in":
            return source.equals_any(_elements(value), each=True)
        case "not_in":
            return ~source.equals_any(_elements(value), each=True)
        case "contains":
            return source.contains(value)
        case _:
            return source.ordered(operator, value)


def _elements(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]

"""Conditions over facts: one stored form, checked once, evaluated everywhere.

Stored form: `{"root": node}`. A node is a group `{"op": "and" | "or" | "not", "children": [...]}` (`not`
has one child), a leaf `{"field", "operator", "value"}` or, where the caller can tell what happened to the
subject, an event leaf (`engine.event_leaves`). `{"root": {}}` is the empty condition: it is true, and
callers for whom "true for everybody" is wrong refuse it (`is_empty`).

Fields are `namespace.name` (target, execution, campaign, workspace, event); a bare name is a target's.
With `about="event"` a tree filters an event: a bare name is a property of the event, and any property may
be asked about, since events have no catalogue.
Operators: = != < <= > >= in not_in contains is_null is_not_null.

A field without a value comes in three visible cases (`presence`):

    case      is_null  = ""    = null  != "x"  < > <= >=  contains, in  not_in
    missing   true     false   true    true    false      false         true
    null      true     false   true    true    false      false         true
    empty ""  false    true    false   true    false      false         true

Missing (the subject has no such field) reads as null, but `presence` tells them apart for people.

Comparing is loose, as people type: "5" equals 5, "true" equals true, 1 equals true. Numbers may be in
Persian digits and compare as doubles. Text is compared exactly. Where the field is a list, `contains`
asks for one element and `in` for any common element; a list equals nothing.

Relative time: `now`, or `now` then + or - then a number then d, h or m ("now-3d", "now+2h", "now-30m").
Any other text, such as "nowhere" or "now-7w", is a text. It stands for a moment in the expected value
of a date or date-time field, and in the stored value only when the field is known to be a date-time
one: a person named "now" stays a name. A moment without a zone is in the workspace's.

At run time a value that cannot be ordered against the expected one is a ConditionError, never a guess. A
group is answered when its answer does not depend on such a part: "or" when another part holds, "and" when
another part does not, in any order (the three-valued logic of SQL, with the error as its NULL).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

from engine.comparing import COMPARISONS, Comparison, ConditionError, as_number, as_truth, is_moment_text
from engine.event_leaves import EventLeaf, check_event_leaf, days_of, is_event_leaf
from engine.presence import SPACES, Presence, presence, split_field
from engine.types import Facts, FieldType, Problem

__all__ = [
    "OPERATORS",
    "ConditionError",
    "FieldType",
    "Presence",
    "Test",
    "check_condition",
    "compile_condition",
    "evaluate",
    "events_of",
    "fields_of",
    "is_empty",
    "normalize_condition",
    "presence",
]

OPERATORS: Final = tuple(COMPARISONS)
MAX_DEPTH: Final = 20
MAX_NODES: Final = 500
MAX_LIST: Final = 1000

_LOGIC: Final = {"all": "and", "any": "or", "and": "and", "or": "or"}
_GROUPS: Final = ("and", "or", "not")
_NULL: Final = frozenset({"is_null", "is_not_null"})
_EQUAL: Final = frozenset({"=", "!=", "in", "not_in"}) | _NULL
_ORDER: Final = frozenset({"<", "<=", ">", ">="})
_ALLOWED: Final[Mapping[FieldType, frozenset[str]]] = {
    FieldType.TEXT: _EQUAL | {"contains"},
    FieldType.NUMBER: _EQUAL | _ORDER | {"contains"},
    FieldType.BOOL: _EQUAL,
    FieldType.DATE: _EQUAL | _ORDER,
    FieldType.DATETIME: _EQUAL | _ORDER,
    FieldType.LIST: _NULL | {"contains", "in", "not_in"},
}


class Test(Protocol):
    """A condition ready to be asked. Raises ConditionError when it cannot be answered."""

    def __call__(self, facts: Facts, now: datetime) -> bool: ...


def normalize_condition(raw: object) -> dict[str, Any]:
    """Bring any accepted spelling into the stored form `{"root": node}`.

    Accepted: the stored form; `{"logic": "all" | "any", "rules": [leaf, ...]}`; a list of leaves (all
    must hold); None and `{}` (empty). Only the outer form is looked at: `check_condition` judges the
    rest. Raises ConditionError("condition_malformed") for anything else.
    """
    if raw is None or raw in ({}, []):
        return {"root": {}}
    if isinstance(raw, (list, tuple)):
        return {"root": {"op": "and", "children": list(raw)}}
    if isinstance(raw, Mapping):
        if set(raw) == {"root"}:
            return {"root": raw["root"] if raw["root"] is not None else {}}
        rules, logic = raw.get("rules"), raw.get("logic", "all")
        if set(raw) <= {"logic", "rules"} and isinstance(rules, (list, tuple)) and isinstance(logic, str):
            if not rules:
                return {"root": {}}
            if logic in _LOGIC:
                return {"root": {"op": _LOGIC[logic], "children": list(rules)}}
    raise ConditionError("condition_malformed")


def is_empty(tree: object) -> bool:
    """Whether `tree`, in any accepted spelling, asks nothing and so is true for everybody."""
    try:
        root = normalize_condition(tree)["root"]
    except ConditionError:
        return False
    return root == {} or (isinstance(root, Mapping) and "op" in root and root.get("children") in ([], ()))


def check_condition(
    tree: object, fields: Mapping[str, FieldType], *, about: str = "target", events: bool = False
) -> list[Problem]:
    """Every mistake of the author in `tree`: form, unknown field or operator, value of the wrong kind.

    `fields` is the catalogue, by full name ("target.city"). events: whether event leaves can be answered;
    they are refused otherwise. An empty tree has no mistakes.
    """
    try:
        root = normalize_condition(tree)["root"]
    except ConditionError as exc:
        return [Problem(code=exc.code)]
    if is_empty({"root": root}):
        return []
    problems: list[Problem] = []
    for node, depth, count in _walk(root):
        if depth > MAX_DEPTH or count > MAX_NODES:
            return [*problems, Problem(code="condition_too_big")]
        if isinstance(node, Mapping) and "op" in node:
            problems.extend(_check_group(node))
        elif events and is_event_leaf(node):
            problems.extend(check_event_leaf(node))
        else:
            problems.extend(_check_leaf(node, fields, about))
    return problems


def compile_condition(
    tree: object,
    fields: Mapping[str, FieldType] | None = None,
    *,
    about: str = "target",
    events: bool = False,
) -> Test:
    """Turn `tree` into a `Test`; with `fields`, values are compared as the type of their field.

    Raises ConditionError when the form is wrong or an operator is unknown.
    """
    root = normalize_condition(tree)["root"]
    if is_empty({"root": root}):
        return _All(())
    for node, depth, count in _walk(root):
        if depth > MAX_DEPTH or count > MAX_NODES:
            raise ConditionError("condition_too_big")
        for problem in _form_problems(node, events):
            raise ConditionError(problem.code, str(problem.fields.get("field", "")))
    return _build(root, fields or {}, about)


def _form_problems(node: Any, events: bool) -> Iterator[Problem]:
    if isinstance(node, Mapping) and "op" in node:
        return _check_group(node)
    return check_event_leaf(node) if events and is_event_leaf(node) else _check_form(node)


def evaluate(
    tree: object, facts: Facts, now: datetime, fields: Mapping[str, FieldType] | None = None
) -> bool:
    """Whether `tree` holds for `facts` at `now` (aware). An empty tree holds.

    Every relative time in it means the same `now`. Raises ConditionError (see `compile_condition`).
    """
    return compile_condition(tree, fields)(facts, now)


def fields_of(tree: object) -> frozenset[str]:
    """The full names of all fields a well-formed `tree` reads."""
    root = normalize_condition(tree)["root"]
    leaves = (node for node, depth, _ in _walk(root) if depth <= MAX_DEPTH and isinstance(node, Mapping))
    return frozenset(
        ".".join(split_field(node["field"])) for node in leaves if isinstance(node.get("field"), str)
    )


def events_of(tree: object) -> dict[str, int]:
    """The events that a well-formed `tree` asks about, and how many days back at most."""
    found: dict[str, int] = {}
    for node, depth, _ in _walk(normalize_condition(tree)["root"]):
        if depth <= MAX_DEPTH and is_event_leaf(node):
            found[node["event"]] = max(found.get(node["event"], 0), days_of(node))
    return found


def _walk(root: object) -> Iterator[tuple[Any, int, int]]:
    """Each node with its depth and its place, in reading order, without recursion."""
    pending: list[tuple[object, int]] = [(root, 1)]
    count = 0
    while pending:
        node, depth = pending.pop()
        count += 1
        yield node, depth, count
        children = node.get("children") if isinstance(node, Mapping) and "op" in node else None
        if isinstance(children, (list, tuple)):
            pending.extend((child, depth + 1) for child in reversed(children))


def _check_group(node: Mapping[str, Any]) -> Iterator[Problem]:
    if set(node) != {"op", "children"}:
        yield Problem(code="condition_malformed")
        return
    children = node["children"]
    if node["op"] not in _GROUPS or not isinstance(children, (list, tuple)):
        yield Problem(code="condition_malformed")
    elif not children or (node["op"] == "not" and len(children) != 1):
        yield Problem(code="condition_group_size", fields={"op": node["op"]})


def _check_form(node: object) -> Iterator[Problem]:
    """What is wrong with a leaf whatever the catalogue says."""
    if is_event_leaf(node):
        yield Problem(code="condition_event_unsupported")
    elif not isinstance(node, Mapping) or not {"field", "operator"} <= set(node) <= _LEAF_KEYS:
        yield Problem(code="condition_malformed")
    elif not isinstance(node["field"], str) or split_field(node["field"])[0] not in SPACES:
        yield Problem(code="condition_field_unknown", fields={"field": str(node["field"])[:100]})
    elif not isinstance(node["operator"], str) or node["operator"] not in COMPARISONS:
        operator = str(node["operator"])[:40]
        yield Problem(
            code="condition_operator_unknown", fields={"field": node["field"], "operator": operator}
        )


_LEAF_KEYS: Final = {"field", "operator", "value"}


def _check_leaf(node: Any, fields: Mapping[str, FieldType], about: str) -> Iterator[Problem]:
    wrong = list(_check_form(node))
    if wrong:
        yield from wrong
        return
    said = {"field": node["field"], "operator": node["operator"]}
    space, name = split_field(node["field"], about)
    kind = fields.get(f"{space}.{name}")
    if kind is None and not (space == about == "event" and name):
        yield Problem(code="condition_field_unknown", fields={"field": node["field"][:100]})
    elif kind is not None and node["operator"] not in _ALLOWED[kind]:
        yield Problem(code="condition_operator_unfit", fields=said)
    elif node["operator"] not in _NULL and not _value_fits(node["operator"], node.get("value"), kind):
        yield Problem(code="condition_value_invalid", fields=said)


def _value_fits(operator: str, value: object, kind: FieldType | None) -> bool:
    if operator in ("in", "not_in"):
        items = value if isinstance(value, (list, tuple)) else [value]
        return 0 < len(items) <= MAX_LIST and all(_scalar_fits(item, kind) for item in items)
    if operator == "contains":
        return isinstance(value, (str, int, float)) and value != ""
    if value is None:
        return operator in ("=", "!=")
    if kind is None and operator in _ORDER:
        return as_number(value) is not None or is_moment_text(value)
    return _scalar_fits(value, kind)


def _scalar_fits(value: object, kind: FieldType | None) -> bool:
    if isinstance(value, str) and len(value) > 1000:
        return False
    match kind:
        case FieldType.NUMBER:
            return not isinstance(value, bool) and as_number(value) is not None
        case FieldType.BOOL:
            return as_truth(value) is not None
        case FieldType.DATE | FieldType.DATETIME:
            return is_moment_text(value)
        case FieldType.TEXT | FieldType.LIST | None:
            return isinstance(value, (str, int, float))


@dataclass(frozen=True, slots=True)
class _Leaf:
    read: Callable[[Facts], Mapping[str, Any]]
    name: str
    field: str
    operator: str
    expected: Any
    kind: FieldType | None

    def __call__(self, facts: Facts, now: datetime) -> bool:
        context = Comparison(self.field, now, facts.workspace_timezone, self.kind)
        return COMPARISONS[self.operator](self.read(facts).get(self.name), self.expected, context)


@dataclass(frozen=True, slots=True)
class _All:
    children: tuple[Test, ...]

    def __call__(self, facts: Facts, now: datetime) -> bool:
        unanswered: ConditionError | None = None
        for child in self.children:
            try:
                if not child(facts, now):
                    return False
            except ConditionError as exc:
                unanswered = unanswered or exc
        if unanswered is not None:
            raise unanswered
        return True


@dataclass(frozen=True, slots=True)
class _Any:
    children: tuple[Test, ...]

    def __call__(self, facts: Facts, now: datetime) -> bool:
        unanswered: ConditionError | None = None
        for child in self.children:
            try:
                if child(facts, now):
                    return True
            except ConditionError as exc:
                unanswered = unanswered or exc
        if unanswered is not None:
            raise unanswered
        return False


@dataclass(frozen=True, slots=True)
class _Not:
    child: Test

    def __call__(self, facts: Facts, now: datetime) -> bool:
        return not self.child(facts, now)


def _build(node: Mapping[str, Any], fields: Mapping[str, FieldType], about: str) -> Test:
    """Recursion is safe here: the depth was checked."""
    if "op" in node:
        children = tuple(_build(child, fields, about) for child in node["children"])
        match node["op"]:
            case "and":
                return _All(children)
            case "or":
                return _Any(children)
            case _:
                return _Not(children[0])
    if is_event_leaf(node):
        return EventLeaf.read(node)
    space, name = split_field(node["field"], about)
    full = f"{space}.{name}"
    return _Leaf(SPACES[space], name, full, node["operator"], node.get("value"), fields.get(full))

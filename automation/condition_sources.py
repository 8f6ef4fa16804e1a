"""Where the values of conditions come from in SQL, and how they compare: `engine.comparing` as Q.

A Q here is true, false or, for what cannot be answered, NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any, Protocol

from django.db.models import BooleanField, Case, Exists, F, OuterRef, Q, TextField, Value, When
from django.db.models.functions import Concat, StrIndex
from django.db.models.lookups import (
    Exact,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNull,
    LessThan,
    LessThanOrEqual,
)

from automation.condition_moments import Span, moment_at_least, span_of
from automation.condition_values import (
    BOOL_KINDS,
    ELEMENT,
    MOMENT,
    NUMBER_KINDS,
    TEXT_KINDS,
    JsonValue,
    Readable,
    any_element,
    as_double,
    lower_trimmed,
    number_text,
    spells,
)
from engine.comparing import NUMBER, Comparison, as_number, as_text, as_truth
from engine.conditions import ConditionError
from engine.types import FieldType
from targets.models import TargetListMember

_TEMPORAL = (FieldType.DATE, FieldType.DATETIME)
_TEXT_COLUMNS = frozenset(
    {"first_name", "last_name", "mobile", "landline", "email", "province", "city", "status", "priority"}
)
_ORDERS: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": LessThan,
    "<=": LessThanOrEqual,
    ">": GreaterThan,
    ">=": GreaterThanOrEqual,
}


# -- conditions as Q: true, false or, with NULL, unanswered ------------------------------------------

ALWAYS = Q(Exact(Value(1), Value(1)))
NEVER = Q(Exact(Value(1), Value(0)))


def _case(*branches: tuple[Q, Q | bool], default: Q | bool | None) -> Q:
    """The first branch whose guard holds. What is behind a guard is not computed where it does not hold."""
    whens = [When(guard, then=then) for guard, then in branches]
    return Q(Case(*whens, default=default, output_field=BooleanField()))


UNANSWERED = _case((NEVER, False), default=None)


def _any_of(conditions: Sequence[Q]) -> Q:
    return reduce(or_, conditions, NEVER) if conditions else NEVER


# -- where values come from -------------------------------------------------------------------------


class Source(Protocol):
    """One field of a person. Only `ordered` may leave somebody unanswered."""

    def is_null(self) -> Q: ...

    def equals_any(self, wanted: Sequence[Any], *, each: bool) -> Q:
        """Whether it equals one of `wanted`; with `each`, whether an element of a list does."""

    def contains(self, value: Any) -> Q: ...

    def ordered(self, operator: str, value: Any) -> Q: ...


def source_of(name: str, context: Comparison) -> Source:
    if name in _TEXT_COLUMNS:
        return _Text(F(name), context)
    match name:
        case "name":
            return _Text(_display_name(), context)
        case "created_at":
            return _Moment(name, context)
        case "lists":
            return _Lists(context)
        case _:
            return _Trait(name, context)


def _display_name() -> Case:
    """What `Target.display_name` says."""
    both = Concat("first_name", Value(" "), "last_name", output_field=TextField())
    return Case(
        When(~Q(name=""), then="name"),
        When(first_name="", then="last_name"),
        When(last_name="", then="first_name"),
        default=both,
        output_field=TextField(),
    )


@dataclass(frozen=True, slots=True)
class _Text:
    text: Readable
    context: Comparison

    def is_null(self) -> Q:
        return NEVER

    def equals_any(self, wanted: Sequence[Any], *, each: bool) -> Q:  # noqa: ARG002
        return _text_equals_any(self.text, wanted, self.context)

    def contains(self, value: Any) -> Q:
        return _has_part(self.text, value)

    def ordered(self, operator: str, value: Any) -> Q:
        return _text_ordered(self.text, operator, value, self.context)


@dataclass(frozen=True, slots=True)
class _Moment:
    """A column of moments that is never empty."""

    column: str
    context: Comparison

    def is_null(self) -> Q:
        return NEVER

    def equals_any(self, wanted: Sequence[Any], *, each: bool) -> Q:  # noqa: ARG002
        spans = [span_of(value, self.context) for value in wanted]
        within = [self.at_least(span.begin) & ~self.at_least(span.end) for span in spans if span is not None]
        return _any_of(within)

    def contains(self, value: Any) -> Q:  # noqa: ARG002
        raise ConditionError("condition_operator_unfit", self.context.field)

    def ordered(self, operator: str, value: Any) -> Q:
        return _span_ordered(self.at_least, operator, span_of(value, self.context))

    def at_least(self, moment: datetime) -> Q:
        return Q(**{f"{self.column}__gte": moment})


@dataclass(frozen=True, slots=True)
class _Lists:
    """The names of the lists somebody is on."""

    context: Comparison

    def is_null(self) -> Q:
        return NEVER

    def equals_any(self, wanted: Sequence[Any], *, each: bool) -> Q:
        if not each:
            return NEVER
        members = TargetListMember.objects.filter(target_id=OuterRef("pk"))
        return Q(Exists(members.filter(_text_equals_any(F("list__name"), wanted, self.context))))

    def contains(self, value: Any) -> Q:
        return self.equals_any([value], each=True)

    def ordered(self, operator: str, value: Any) -> Q:  # noqa: ARG002
        return UNANSWERED


class _Trait:
    """One key of the traits: any JSON value, or missing."""

    def __init__(self, key: str, context: Comparison) -> None:
        self.key, self.context = key, context
        self.value = JsonValue.trait(key)

    def is_null(self) -> Q:
        return _is_null(self.value)

    def equals_any(self, wanted: Sequence[Any], *, each: bool) -> Q:
        return _json_equals_any(
            self.value, wanted, self.context, lists=self.element(wanted) if each else NEVER
        )

    def element(self, wanted: Sequence[Any]) -> Q:
        return any_element(self.key, _json_equals_any(ELEMENT, wanted, self.context, lists=NEVER))

    def contains(self, value: Any) -> Q:
        return _case(
            (_is(self.value, (*TEXT_KINDS, *NUMBER_KINDS, *BOOL_KINDS)), _has_part(self.value.text, value)),
            (_is(self.value, ("array",)), self.element([value])),
            default=False,
        )

    def ordered(self, operator: str, value: Any) -> Q:
        unanswered: Q = UNANSWERED
        by_number, by_truth = unanswered, unanswered
        if self.context.kind not in _TEMPORAL:
            number, compare = as_number(value), _ORDERS[operator]
            by_number = Q(compare(self.value.number, number))
            as_one = Case(When(Exact(self.value.text, Value("true")), then=1.0), default=0.0)
            by_truth = Q(compare(as_one, number))
        by_text = _text_ordered(self.value.text, operator, value, self.context)
        return _case(
            (_is_null(self.value), False),
            (_is(self.value, TEXT_KINDS), by_text),
            (_is(self.value, NUMBER_KINDS), by_number),
            (_is(self.value, BOOL_KINDS), by_truth),
            default=None,
        )


# -- comparisons, as `engine.comparing` has them ----------------------------------------------------


def _is(value: JsonValue, kinds: Sequence[str]) -> Q:
    return Q(In(value.kind, kinds))


def _is_null(value: JsonValue) -> Q:
    return Q(IsNull(value.kind, True)) | Q(Exact(value.kind, Value("null")))


def _has_part(text: Readable, value: Any) -> Q:
    return Q(GreaterThan(StrIndex(text, Value(as_text(value))), 0))


def _json_equals_any(value: JsonValue, wanted: Sequence[Any], context: Comparison, *, lists: Q) -> Q:
    by_number = by_truth = NEVER
    if context.kind not in _TEMPORAL:
        numbers = [float(want) if isinstance(want, bool) else as_number(want) for want in wanted]
        if known := [number for number in numbers if number is not None]:
            by_number = Q(In(value.number, known))
        truths = {as_truth(want) for want in wanted} - {None}
        if truths:
            by_truth = Q(In(value.text, [str(truth).lower() for truth in sorted(map(bool, truths))]))
    return _case(
        (_is_null(value), ALWAYS if None in wanted else NEVER),
        (_is(value, TEXT_KINDS), _text_equals_any(value.text, wanted, context)),
        (_is(value, NUMBER_KINDS), by_number),
        (_is(value, BOOL_KINDS), by_truth),
        (_is(value, ("array",)), lists),
        default=False,
    )


def _text_equals_any(text: Readable, wanted: Sequence[Any], context: Comparison) -> Q:
    if context.kind in _TEMPORAL:
        spans = [span_of(want, context) for want in wanted]
        return _any_of([_text_within(text, span, context) for span in spans if span is not None])
    as_numbers = context.kind is FieldType.NUMBER
    texts = [want for want in wanted if isinstance(want, str) and not as_numbers]
    truths = {want for want in wanted if isinstance(want, bool)}
    others = [
        want
        for want in wanted
        if not isinstance(want, bool) and want is not None and (as_numbers or not isinstance(want, str))
    ]
    parts = [Q(In(text, texts))] if texts else []
    parts += [Q(In(lower_trimmed(text), ["true", "1"] if want else ["false", "0"])) for want in truths]
    if others:
        parts.append(_number_text_equals_any(text, others))
    return _any_of(parts)


def _number_text_equals_any(text: Readable, wanted: Sequence[Any]) -> Q:
    number = number_text(text)
    known = [found for found in map(as_number, wanted) if found is not None]
    same_number = Q(In(as_double(number), known)) if known else NEVER
    return _case((spells(number, NUMBER), same_number), default=Q(In(text, [str(want) for want in wanted])))


def _text_within(text: Readable, span: Span, context: Comparison) -> Q:
    return moment_at_least(text, span.begin, context) & ~moment_at_least(text, span.end, context)


def _text_ordered(text: Readable, operator: str, value: Any, context: Comparison) -> Q:
    if context.kind in _TEMPORAL:
        span = span_of(value, context)
        readable = spells(text, MOMENT)
        answer = _span_ordered(lambda moment: moment_at_least(text, moment, context), operator, span)
    else:
        number = number_text(text)
        readable = spells(number, NUMBER)
        answer = Q(_ORDERS[operator](as_double(number), as_number(value)))
    return _case((Q(Exact(text, Value(""))), False), (readable, answer), default=None)


def _span_ordered(at_least: Callable[[datetime], Q], operator: str, span: Span | None) -> Q:
    """Before, in or after `span`, which is one moment or one day; without one nobody can be answered."""
    if span is None:
        return UNANSWERED
    match operator:
        case "<":
            return ~at_least(span.begin)
        case "<=":
            return ~at_least(span.end)
        case ">":
            return at_least(span.end)
        case _:
            return at_least(span.begin)

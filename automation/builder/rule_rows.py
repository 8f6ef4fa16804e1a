"""What the rule editor's templates draw: each group and rule with its names, choices and labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from automation import registry, subject_events
from automation.builder import event_choices
from automation.builder.describing import condition, number
from automation.builder.describing import moment as moment_words
from automation.builder.offers import Offers
from automation.builder.relative import is_relative
from automation.builder.rules import COUNTS, EVENT, LISTS, MAX_DEPTH, NO_VALUE, OPERATORS, Group, Rule
from core.formfields import JalaliDateInput
from engine.types import FieldType

Widget = Literal["none", "text", "number", "date", "choice", "choices", "raw", "event"]
OPERATOR_LABELS = {
    "=": pgettext_lazy("comparison", "is"),
    "!=": pgettext_lazy("comparison", "is not"),
    "<": pgettext_lazy("comparison", "is less than"),
    "<=": pgettext_lazy("comparison", "is at most"),
    ">": pgettext_lazy("comparison", "is more than"),
    ">=": pgettext_lazy("comparison", "is at least"),
    "in": pgettext_lazy("comparison", "is one of"),
    "not_in": pgettext_lazy("comparison", "is none of"),
    "contains": pgettext_lazy("comparison", "contains"),
    "is_null": pgettext_lazy("comparison", "is empty"),
    "is_not_null": pgettext_lazy("comparison", "is filled in"),
}
DATE_LABELS = {
    "<": pgettext_lazy("comparison", "is before"),
    "<=": pgettext_lazy("comparison", "is on or before"),
    ">": pgettext_lazy("comparison", "is after"),
    ">=": pgettext_lazy("comparison", "is on or after"),
}
SPACES = {
    "target": gettext_lazy("The person"),
    "execution": gettext_lazy("The way through the workflow"),
    "campaign": gettext_lazy("The campaign"),
    "event": gettext_lazy("The event"),
}
_MOMENTS = (FieldType.DATE, FieldType.DATETIME)


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """One rule: `name` is the prefix of its fields, `path` what the buttons call it, `ordinal` its number."""

    name: str
    path: str
    ordinal: str
    fields: Sequence[tuple[str, Sequence[Option]]]
    operators: Sequence[Option]
    widget: Widget
    value: str = ""
    choices: Sequence[Option] = ()
    reminders: Sequence[str] = ()
    words: str = ""
    count: str = ""
    days: str = ""
    is_group: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    name: str
    path: str
    op: str
    is_negated: bool
    parts: Sequence[RuleRow | GroupRow]
    depth: int
    is_group: bool = True

    @property
    def may_nest(self) -> bool:
        return self.depth < MAX_DEPTH


def rows(group: Group, prefix: str, offers: Offers | None = None) -> GroupRow:
    """The whole editor of one condition, for fields that begin with `prefix`.

    Several on one page share `offers`, so that what they offer is read once.
    """
    return _group(group, prefix, "", 0, offers or Offers())


def _group(group: Group, name: str, path: str, depth: int, offers: Offers) -> GroupRow:
    parts: list[RuleRow | GroupRow] = []
    for index, part in enumerate(group.parts):
        inner, place = f"{name}.{index}", f"{path}-{index}" if path else str(index)
        if isinstance(part, Group):
            parts.append(_group(part, inner, place, depth + 1, offers))
        else:
            parts.append(_rule(part, inner, place, offers))
    return GroupRow(name=name, path=path, op=group.op, is_negated=group.is_negated, parts=parts, depth=depth)


def _rule(rule: Rule, name: str, path: str, offers: Offers) -> RuleRow:
    about: dict[str, Any] = {"name": name, "path": path, "ordinal": number(int(path.split("-")[-1]) + 1)}
    if rule.raw is not None:
        words = condition({"root": dict(rule.raw)})
        raw = json.dumps(dict(rule.raw))
        return RuleRow(fields=(), operators=(), widget="raw", value=raw, words=words, **about)
    if rule.field == EVENT:
        return _event(rule, about)
    known = next((field for field in registry.fields() if field.name == rule.field), None)
    kind = known.type if known else None
    operator = rule.operator or (OPERATORS[kind][0] if kind else "=")
    values = dict(offers.values(known)) if known else {}
    if kind is FieldType.BOOL:
        values = {"true": _("yes"), "false": _("no")}
    if values:  # words that the set no longer has are shown too, and kept
        values |= {word: word for word in rule.value if word and word not in values}
    return RuleRow(
        fields=_fields(rule.field),
        operators=_operators(kind, operator),
        widget=_widget(kind, operator, bool(values)) if rule.field else "none",
        value=_shown(rule, kind, operator),
        reminders=() if operator in LISTS else offers.reminders(rule.field),
        choices=[Option(value=v, label=str(text), is_chosen=v in rule.value) for v, text in values.items()],
        **about,
    )


def _event(rule: Rule, about: dict[str, Any]) -> RuleRow:
    """How often an event happened: its name, the comparison, the count, and the days to look back."""
    event, count, days = (*rule.value, "", "", "")[:3]
    return RuleRow(
        fields=_fields(EVENT),
        operators=[
            Option(
                value=word, label=str(OPERATOR_LABELS[word]), is_chosen=word == (rule.operator or COUNTS[0])
            )
            for word in COUNTS
        ],
        widget="event",
        value=event,
        choices=[
            Option(value=word, label=str(label), is_chosen=word == event)
            for word, label in event_choices.events(event)
        ],
        count=count or "1",
        days=days,
        **about,
    )


def _widget(kind: FieldType | None, operator: str, has_choices: bool) -> Widget:
    if operator in NO_VALUE:
        return "none"
    if has_choices and (operator != "contains" or kind is FieldType.LIST):
        return "choices" if operator in LISTS else "choice"
    if kind in _MOMENTS and operator not in LISTS:
        return "date"
    return "number" if kind is FieldType.NUMBER and operator not in LISTS else "text"


def _operators(kind: FieldType | None, chosen: str) -> list[Option]:
    allowed = list(OPERATORS[kind]) if kind else ["="]
    words = OPERATOR_LABELS | (DATE_LABELS if kind in _MOMENTS else {})
    if chosen not in allowed:
        allowed.append(chosen)
    return [
        Option(value=word, label=str(words.get(word, word)), is_chosen=word == chosen) for word in allowed
    ]


def _fields(chosen: str) -> list[tuple[str, Sequence[Option]]]:
    groups: dict[str, list[Option]] = {}
    for field in registry.fields():
        space = str(SPACES.get(field.name.partition(".")[0], field.name.partition(".")[0]))
        option = Option(value=field.name, label=str(field.label), is_chosen=field.name == chosen)
        groups.setdefault(space, []).append(option)
    if chosen == EVENT or subject_events.is_available():
        asked = Option(value=EVENT, label=_("How often an event happened"), is_chosen=chosen == EVENT)
        groups.setdefault(str(SPACES["event"]), []).append(asked)
    if chosen and chosen != EVENT and chosen not in registry.field_types():
        groups[_("Unknown")] = [Option(value=chosen, label=chosen, is_chosen=True)]
    return list(groups.items())


def _shown(rule: Rule, kind: FieldType | None, operator: str) -> str:
    """The value as a person types it: dates in the reader's calendar, lists with commas."""
    if operator in LISTS:
        return _(", ").join(rule.value)
    text = rule.value[0] if rule.value else ""
    if kind not in _MOMENTS:
        return text
    if is_relative(text):
        return moment_words(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    shown: Any = moment if "T" in text else date(moment.year, moment.month, moment.day)
    return JalaliDateInput().format_value(shown) or text

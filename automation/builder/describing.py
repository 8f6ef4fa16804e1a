"""Steps in words, in the active language: what a wait waits for, what a condition asks, how an end ends."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _

from automation import known_events, registry
from automation.action_specs import create_followup
from automation.builder.message_text import direction
from automation.builder.relative import is_relative
from automation.fields import ConditionField
from core.dates import format_date, format_datetime, format_number
from core.text import to_persian_digits
from engine.comparing import ConditionError
from engine.conditions import normalize_condition
from engine.types import FieldType, NodeSpec
from engine.zones import ZoneError, resolve_local, zone
from targets.models import ActivityKind

OPERATORS = {
    "=": gettext_lazy("%(field)s is %(value)s"),
    "!=": gettext_lazy("%(field)s is not %(value)s"),
    "<": gettext_lazy("%(field)s is less than %(value)s"),
    "<=": gettext_lazy("%(field)s is at most %(value)s"),
    ">": gettext_lazy("%(field)s is more than %(value)s"),
    ">=": gettext_lazy("%(field)s is at least %(value)s"),
    "in": gettext_lazy("%(field)s is one of %(value)s"),
    "not_in": gettext_lazy("%(field)s is none of %(value)s"),
    "contains": gettext_lazy("%(field)s contains %(value)s"),
    "is_null": gettext_lazy("%(field)s is empty"),
    "is_not_null": gettext_lazy("%(field)s is filled in"),
}
OPERATORS_OF_MOMENTS = {
    "<": gettext_lazy("%(field)s is before %(value)s"),
    "<=": gettext_lazy("%(field)s is on or before %(value)s"),
    ">": gettext_lazy("%(field)s is after %(value)s"),
    ">=": gettext_lazy("%(field)s is on or after %(value)s"),
}
_MOMENTS = (FieldType.DATE, FieldType.DATETIME)
_DEEP = 20


def number(value: int) -> str:
    return format_number(value, get_language() or "fa")


def describe(node: NodeSpec, names: Mapping[str, str], timezone: str) -> str:
    """One line about a step; "" where its name says enough (a message shows its text).

    `names` are the names of the other steps by key; moments are shown in `timezone`.
    """
    match node.type:
        case "start":
            delay = node.config.get("initial_delay")
            begins = _("Begins when a person is added to a campaign.")
            return begins if delay is None else f"{begins} {_first_step(delay)}"
        case "wait":
            return _wait(node, timezone)
        case "condition":
            return condition(node.config)
        case "split":
            return _split(node.config)
        case "switch":
            return _("The first case that fits decides.")
        case "goal":
            return _goal(node.config)
        case "end":
            return _end(node, names)
        case "action" if node.subtype == create_followup.SUBTYPE:
            return _followup(node.config)
        case _:
            return ""


def _followup(config: Mapping[str, Any]) -> str:
    kind, title, due = config.get("kind"), str(config.get("title") or ""), config.get("due_in")
    words = str(dict(ActivityKind.choices).get(str(kind), ActivityKind.CALL.label))
    if title:
        values = {"kind": words, "title": _isolated(title)}
        words = _("%(kind)s “%(title)s”") % values
    if due is None or (isinstance(due, Mapping) and due.get("amount") == 0):
        return _("%(what)s, due at once") % {"what": words}
    return _("%(what)s, due after %(duration)s") % {"what": words, "duration": duration(due)}


def duration(raw: object) -> str:
    """`30 days` from `{"amount": 30, "unit": "day"}`; a dash for what is no duration."""
    amount, unit = (raw.get("amount"), raw.get("unit")) if isinstance(raw, Mapping) else (None, None)
    if isinstance(amount, bool) or not isinstance(amount, int) or not isinstance(unit, str):
        return "—"
    match unit.removesuffix("s"):
        case "minute":
            text = ngettext("%(n)s minute", "%(n)s minutes", amount)
        case "hour":
            text = ngettext("%(n)s hour", "%(n)s hours", amount)
        case "day":
            text = ngettext("%(n)s day", "%(n)s days", amount)
        case "week":
            text = ngettext("%(n)s week", "%(n)s weeks", amount)
        case "month":
            text = ngettext("%(n)s month", "%(n)s months", amount)
        case "year":
            text = ngettext("%(n)s year", "%(n)s years", amount)
        case _:
            return "—"
    return text % {"n": number(amount)}


def _first_step(delay: object) -> str:
    return _("The first step comes %(duration)s later.") % {"duration": duration(delay)}


def until(config: Mapping[str, Any], timezone: str) -> datetime | None:
    """The moment a fixed wait ends at (aware); None for what cannot be read."""
    try:
        local = datetime.fromisoformat(str(config.get("at")))
        return resolve_local(local.replace(tzinfo=None), zone(config.get("timezone") or timezone))
    except (ValueError, ZoneError, OverflowError):
        return None


def _wait(node: NodeSpec, timezone: str) -> str:
    match node.subtype:
        case "until":
            return _until(node.config, timezone)
        case "until_time":
            return _("Until %(time)s") % {
                "time": _clock(node.config.get("hour"), node.config.get("minute", 0))
            }
        case "until_best_time":
            time = _clock(node.config.get("fallback_hour"), 0)
            return _("Until the person's best hour; until %(time)s while it is not known") % {"time": time}
        case "for_event":
            return _event(node.config)
        case _:
            return duration(node.config)


def _clock(hour: object, minute: object) -> str:
    if not isinstance(hour, int) or not isinstance(minute, int):
        return "—"
    return in_digits(f"{hour:02d}:{minute:02d}")


def in_digits(text: str) -> str:
    """`text` with the digits of the active language."""
    return to_persian_digits(text) if _is_persian() else text


def _event(config: Mapping[str, Any]) -> str:
    event = known_events.label_of(config.get("event"))
    if config.get("amount") is None:
        words = _("Until “%(event)s” happens") % {"event": event}
    else:
        values = {"event": event, "duration": duration(config)}
        words = _("Until “%(event)s” happens, for %(duration)s at most") % values
    fits = condition(config["filter"], about="event") if config.get("filter") else ""
    return _("%(wait)s, where %(condition)s") % {"wait": words, "condition": fits} if fits else words


def _goal(config: Mapping[str, Any]) -> str:
    event, days = known_events.label_of(config.get("event")), config.get("window_days")
    if not isinstance(days, int):
        return _("Reached when “%(event)s” has happened") % {"event": event}
    text = ngettext(
        "Reached when “%(event)s” has happened within %(n)s day",
        "Reached when “%(event)s” has happened within %(n)s days",
        days,
    )
    return text % {"event": event, "n": number(days)}


def _split(config: Mapping[str, Any]) -> str:
    arms = config.get("branches")
    if not isinstance(arms, list):
        return "—"
    return _(", ").join(arm_label(config, i, arm) for i, arm in enumerate(arms) if isinstance(arm, Mapping))


def arm_label(config: Mapping[str, Any], index: int, arm: Mapping[str, Any]) -> str:
    """An arm of a split: its name (or number) and its share in percent."""
    name = str(arm.get("variant") or number(index + 1))
    weights = [one.get("weight") for one in config.get("branches", []) if isinstance(one, Mapping)]
    known = [weight for weight in weights if isinstance(weight, (int, float)) and weight >= 0]
    weight = arm.get("weight")
    if len(known) != len(weights) or not sum(known) or not isinstance(weight, (int, float)):
        return name
    return _("%(name)s: %(share)s%%") % {"name": name, "share": share(100 * weight / sum(known))}


def share(percent: float) -> str:
    """A share with one decimal at most, without the sign."""
    rounded = round(percent, 1)
    whole = int(rounded)
    return format_number(whole if whole == rounded else rounded, get_language() or "fa")


def _until(config: Mapping[str, Any], timezone: str) -> str:
    moment = until(config, timezone)
    if moment is None:
        return "—"
    when = format_datetime(moment, timezone, get_language() or "fa", words=True)
    return _("Until %(moment)s") % {"moment": when}


def condition(config: object, *, about: str = "target") -> str:
    """The questions of a condition joined by "and" and "or"; a bare name belongs to `about`."""
    try:
        root = normalize_condition(config)["root"]
    except ConditionError:
        return "—"
    return _node(root, 0, about) or "—"


def _node(node: Any, depth: int, about: str) -> str:
    if not isinstance(node, Mapping) or depth > _DEEP:
        return "…" if node else ""
    if "field" in node:
        return _leaf(node, about)
    if "event" in node:
        return _how_often(node)
    children = node.get("children")
    parts = [_node(child, depth + 1, about) for child in children] if isinstance(children, list) else []
    if node.get("op") == "not":
        return _("not (%(condition)s)") % {"condition": "".join(parts)}
    joined = (_(" or ") if node.get("op") == "or" else _(" and ")).join(parts)
    return f"({joined})" if depth and len(parts) > 1 else joined


_TIMES = {
    ">=": gettext_lazy("“%(event)s” happened %(n)s times or more"),
    "=": gettext_lazy("“%(event)s” happened %(n)s times"),
    "!=": gettext_lazy("“%(event)s” did not happen %(n)s times"),
    ">": gettext_lazy("“%(event)s” happened more than %(n)s times"),
    "<=": gettext_lazy("“%(event)s” happened %(n)s times at most"),
    "<": gettext_lazy("“%(event)s” happened fewer than %(n)s times"),
}


def _how_often(leaf: Mapping[str, Any]) -> str:
    count, days = leaf.get("count", 1), leaf.get("within_days")
    template = _TIMES.get(str(leaf.get("count_operator", ">=")))
    if template is None:
        return "…"
    shown = number(count) if isinstance(count, int) else str(count)
    words = str(template) % {"event": _isolated(known_events.label_of(leaf.get("event"))), "n": shown}
    if not isinstance(days, int):
        return words
    values = {"what": words, "duration": duration({"amount": days, "unit": "day"})}
    return _("%(what)s in the last %(duration)s") % values


def _leaf(leaf: Mapping[str, Any], about: str) -> str:
    name = str(leaf.get("field"))
    full = name if "." in name else f"{about}.{name}"
    known = _named(full)
    is_moment = isinstance(known, ConditionField) and known.type in _MOMENTS
    templates = OPERATORS | (OPERATORS_OF_MOMENTS if is_moment else {})
    template = templates.get(str(leaf.get("operator")))
    if template is None:
        return "…"
    values = known.values if known else {}
    value = leaf.get("value")
    return str(template) % {
        "field": f"«{known.label}»"
        if known and _is_persian()
        else str(known.label if known else name.removeprefix("event.")),
        "value": moment(value) if is_moment and isinstance(value, str) else _value(value, values),
    }


def moment(text: str) -> str:
    """A moment of a condition as people say it, in their calendar; what is none stays as it is."""
    if is_relative(text):
        return _relative(text)
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return text
    language = get_language() or "fa"
    if "T" not in text:
        return format_date(when.date(), language, words=True)
    aware = when if when.tzinfo else timezone.make_aware(when)
    return format_datetime(aware, str(timezone.get_current_timezone()), language, words=True)


def _relative(text: str) -> str:
    if text == "now":
        return _("now")
    unit = {"m": "minute", "h": "hour", "d": "day"}[text[-1]]
    words = {"duration": duration({"amount": int(text[4:-1]), "unit": unit})}
    return (_("%(duration)s ago") if text[3] == "-" else _("%(duration)s from now")) % words


def _named(full: str) -> ConditionField | known_events.EventProperty | None:
    """What a condition asks about, if anybody gave it words."""
    space, _dot, name = full.partition(".")
    if space == "event":
        return known_events.property_named(name)
    return next((field for field in registry.fields() if field.name == full), None)


def _value(value: Any, names: Mapping[str, Any]) -> str:
    items = value if isinstance(value, list) else [value]
    shown = [str(names.get(str(item), item)) for item in items]
    quoted = [f"«{_isolated(text)}»" if _is_persian() else f"“{_isolated(text)}”" for text in shown]
    return _(", ").join(quoted)


def _isolated(text: str) -> str:
    """A value that runs against the sentence is kept from turning the marks around it."""
    runs = "rtl" if _is_persian() else "ltr"
    return text if direction(text) in (runs, "auto") else f"\u2068{text}\u2069"


def _is_persian() -> bool:
    return (get_language() or "fa").startswith("fa")


def _end(node: NodeSpec, names: Mapping[str, str]) -> str:
    rounds = node.config.get("max_cycles")
    values = {
        "duration": duration(node.config.get("delay")),
        "rounds": number(rounds) if isinstance(rounds, int) else "—",
        "step": names.get(str(node.config.get("to_node")), ""),
    }
    match node.subtype:
        case "complete":
            return _("The person has completed the workflow.")
        case "stop":
            return _("The person leaves the workflow here.")
        case "loop" if values["step"]:
            return _("After %(duration)s back to “%(step)s”, %(rounds)s rounds at most.") % values
        case "loop" | "restart":
            return _("After %(duration)s from the beginning again, %(rounds)s rounds at most.") % values
        case _:
            return ""

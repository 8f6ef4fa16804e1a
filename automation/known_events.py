"""The events that something in this installation records, in words, with the properties they come with.

    register_event(KnownEvent(name="sms_received", label=_("Answer by SMS"), properties=(...)))

An event needs no entry here to be waited for; without one it has no words, and a workflow that asks about
it is published with a warning, since nobody may ever record it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core.text import search_key
from engine.comparing import ConditionError
from engine.conditions import MAX_DEPTH, normalize_condition
from engine.graph import ConditionNode, EventWaitNode, GoalNode, Graph, Node, SwitchNode
from engine.types import Definition, NodeSpec, Problem
from sms.inbound.words import word_key
from targets import activities
from targets.models import ActivityKind

Label = str | Promise
SMS_RECEIVED = "sms_received"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventProperty:
    """One property. `values` names those of a closed set; `spelled` is what all spellings of one share."""

    name: str
    label: Label
    values: Mapping[str, Label] = field(default_factory=dict)
    spelled: Callable[[str], str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEvent:
    name: str
    label: Label
    properties: tuple[EventProperty, ...] = ()

    def property(self, name: str) -> EventProperty | None:
        return next((one for one in self.properties if one.name == name), None)


_KIND = EventProperty(name="kind", label=_("Kind of activity"), values=dict(ActivityKind.choices))
BUILT_IN = (
    KnownEvent(
        name=SMS_RECEIVED,
        label=_("Answer by SMS"),
        properties=(
            EventProperty(name="keyword", label=_("The whole answer"), spelled=word_key),
            EventProperty(name="first_word", label=_("Its first word"), spelled=word_key),
            EventProperty(name="line", label=_("The line it was sent to"), spelled=search_key),
        ),
    ),
    KnownEvent(name=activities.ADDED, label=_("Activity noted down by a colleague"), properties=(_KIND,)),
    KnownEvent(name=activities.DONE, label=_("Activity done"), properties=(_KIND,)),
)
_events: dict[str, KnownEvent] = {}


def register_event(event: KnownEvent) -> None:
    """Offer an event; the same name again replaces it."""
    _events[event.name] = event


def known_events() -> tuple[KnownEvent, ...]:
    """In the order of their registration."""
    return tuple(_events.values())


def known_event(name: object) -> KnownEvent | None:
    return _events.get(name) if isinstance(name, str) else None


def property_named(name: str) -> EventProperty | None:
    """What the first known event with such a property says about it."""
    return next((found for event in _events.values() if (found := event.property(name))), None)


def label_of(name: object) -> str:
    """What a person calls the event; its own name where nobody gave it words, a dash where it has none."""
    known = known_event(name)
    return str(known.label) if known else str(name or "") or "—"


def properties_in_words(name: str, properties: Mapping[str, Any]) -> str:
    """What came with an event, as a list of names and values."""
    known = known_event(name)
    parts = []
    for key, value in sorted(properties.items()):
        about = known.property(key) if known else None
        shown = "—" if value is None else about.values.get(str(value), value) if about else value
        # Each runs in its own direction, whatever stands beside it.
        parts.append(f"\u2068{about.label if about else key}\u2069: \u2068{shown}\u2069")
    return str(_("; ")).join(parts)


def in_one_spelling(definition: Definition) -> Definition:
    """`definition` with the filters of waits as the properties of events are spelled.

    Whoever draws writes a keyword as they like; what is compared is the form that all spellings share.
    What cannot be read stays as it is: the compiler says what is wrong with it.
    """
    nodes = tuple(_spelled_wait(node) for node in definition.nodes)
    changed = any(new is not old for new, old in zip(nodes, definition.nodes, strict=True))
    return replace(definition, nodes=nodes) if changed else definition


def _spelled_wait(node: NodeSpec) -> NodeSpec:
    if node.subtype != "for_event" or not node.config.get("filter"):
        return node
    known = known_event(node.config.get("event"))
    if known is None:
        return node
    try:
        tree = normalize_condition(node.config["filter"])
    except ConditionError:
        return node
    return replace(node, config={**node.config, "filter": {"root": _spelled(tree["root"], known, MAX_DEPTH)}})


def _spelled(node: Any, known: KnownEvent, depth: int) -> Any:
    if not isinstance(node, Mapping) or depth < 0:
        return node
    if isinstance(node.get("children"), (list, tuple)):
        return {**node, "children": [_spelled(child, known, depth - 1) for child in node["children"]]}
    about = known.property(str(node.get("field") or "").removeprefix("event."))
    if about is None or about.spelled is None or "value" not in node:
        return node
    return {**node, "value": _respelled(node["value"], about.spelled)}


def _respelled(value: Any, spell: Callable[[str], str]) -> Any:
    if isinstance(value, (list, tuple)):
        return [spell(one) if isinstance(one, str) else one for one in value]
    return spell(value) if isinstance(value, str) else value


def unknown_event_warnings(graph: Graph) -> Iterator[Problem]:
    """A warning for each step that asks about an event which nothing here records; for ways out without a
    step."""
    elsewhere = set(graph.events) - set(_events)
    for key, node in graph.nodes.items():
        names = _asked_by(node) - set(_events)
        elsewhere -= names
        for name in sorted(names):
            yield Problem(code="event_unknown", node=key, fields={"event": name})
    for name in sorted(elsewhere):
        yield Problem(code="event_unknown", fields={"event": name})


def _asked_by(node: Node) -> set[str]:
    if isinstance(node, (EventWaitNode, GoalNode)):
        return {node.event}
    return set(node.events) if isinstance(node, (ConditionNode, SwitchNode)) else set()

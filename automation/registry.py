"""What a workflow may be made of. Each kind of thing registers itself with one line when the app starts.

Actions are looked up by the subtype of their node, variables and condition fields by their full name.
The engine gets what it needs of them as arguments and knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise

from automation.fields import ConditionField
from automation.variables import Variable
from engine.compile import ActionSpec, TriggerCheck
from engine.types import FieldType, NodeSpec, Problem

Label = str | Promise


def _no_problems(_nodes: Sequence[NodeSpec]) -> list[Problem]:
    return []


def _no_warnings(_config: Mapping[str, Any]) -> list[Problem]:
    return []


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionPlugin:
    """One action as the editor and the compiler see it; how it is performed is the runtime's.

    `defaults` is a config with every optional key at its default. `check_workspace` is asked once, at
    publication, for all nodes of this action together: problems that depend on the workspace's own
    settings (a missing opt-out text, an unknown provider) and that must not make a version that was
    published long ago unreadable. `warn` says what is allowed but probably not meant. `hint` is what the
    menu of steps says below the label.
    """

    spec: ActionSpec
    label: Label
    icon: str
    defaults: Callable[[], dict[str, Any]]
    hint: Label = ""
    check_workspace: Callable[[Sequence[NodeSpec]], list[Problem]] = _no_problems
    warn: Callable[[Mapping[str, Any]], list[Problem]] = _no_warnings


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerPlugin:
    """One way into a journey besides `manual`: the subtype of its start, and the check of its config."""

    subtype: str
    label: Label
    check: TriggerCheck


_actions: dict[str, ActionPlugin] = {}
_triggers: dict[str, TriggerPlugin] = {}
_variables: dict[str, Variable] = {}
_fields: dict[str, ConditionField] = {}


def register_action(plugin: ActionPlugin) -> None:
    """Offer an action; the same subtype again replaces it."""
    _actions[plugin.spec.subtype] = plugin


def unregister_action(subtype: str) -> None:
    """Take an action away; nothing happens if there is none."""
    _actions.pop(subtype, None)


def register_trigger(plugin: TriggerPlugin) -> None:
    """Offer a way into journeys; the same subtype again replaces it."""
    _triggers[plugin.subtype] = plugin


def unregister_trigger(subtype: str) -> None:
    """Take a way in away; nothing happens if there is none."""
    _triggers.pop(subtype, None)


def triggers() -> tuple[TriggerPlugin, ...]:
    return tuple(_triggers.values())


def trigger_checks() -> Mapping[str, TriggerCheck]:
    """Subtype -> the check of the config of such a start."""
    return {subtype: plugin.check for subtype, plugin in _triggers.items()}


def register_variable(variable: Variable) -> None:
    """Offer a variable for message texts; the same name again replaces it."""
    _variables[variable.name] = variable


def register_field(field: ConditionField) -> None:
    """Offer a field for conditions; the same name again replaces it."""
    _fields[field.name] = field


def action(subtype: str) -> ActionPlugin | None:
    return _actions.get(subtype)


def actions() -> tuple[ActionPlugin, ...]:
    return tuple(_actions.values())


def action_specs() -> Mapping[str, ActionSpec]:
    """Subtype -> what the compiler needs of each action."""
    return {subtype: plugin.spec for subtype, plugin in _actions.items()}


def variables() -> tuple[Variable, ...]:
    """Every variable, in the order of registration."""
    return tuple(_variables.values())


def variable_names() -> frozenset[str]:
    return frozenset(_variables)


def fields() -> tuple[ConditionField, ...]:
    return tuple(_fields.values())


def field_types() -> Mapping[str, FieldType]:
    """Full field name -> what a condition may do with it."""
    return {name: field.type for name, field in _fields.items()}

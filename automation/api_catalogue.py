"""The catalogue as the JSON interface tells it: all that registered itself, in the active language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from automation import catalogue as templates
from automation import known_events, registry
from automation.api_schemas import (
    ActionOut,
    CatalogOut,
    EventPropertyOut,
    FieldOut,
    KindOut,
    KnownEventOut,
    TemplateOut,
    VariableOut,
)
from automation.builder.kinds import StepKind, kinds
from automation.builder.rules import OPERATORS
from automation.models.definition import WorkflowTemplate
from automation.registry import ActionPlugin
from engine.types import Profile

JSON_TYPES: Final[Mapping[type, str]] = {
    bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object",
}  # fmt: skip


def catalogue() -> CatalogOut:
    """One query, for the workspace's own templates."""
    by_key: dict[str, StepKind] = {}
    for profile in Profile:
        by_key |= {kind.key: kind for kind in kinds(profile)}
    return CatalogOut(
        nodes=[_kind(kind) for kind in by_key.values()],
        actions=[_action(plugin) for plugin in registry.actions()],
        operators={str(kind): list(words) for kind, words in OPERATORS.items()},
        fields=[
            FieldOut(
                name=field.name,
                label=str(field.label),
                type=str(field.type),
                values={str(value): str(label) for value, label in field.values.items()},
            )
            for field in registry.fields()
        ],
        events=[_event(event) for event in known_events.known_events()],
        variables=[
            VariableOut(name=one.name, label=str(one.label), placeholder=one.placeholder)
            for one in registry.variables()
        ],
        templates=[*_built_in(), *_own()],
    )


def config_schema(plugin: ActionPlugin) -> dict[str, Any]:
    """A JSON schema of an action's config, out of its defaults: every key is optional and may be null."""
    properties = {
        key: {"type": [JSON_TYPES[type(value)], "null"], "default": value} if value is not None else {}
        for key, value in plugin.defaults().items()
    }
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _kind(kind: StepKind) -> KindOut:
    return KindOut(
        key=kind.key,
        type=str(kind.type),
        subtype=kind.subtype,
        label=str(kind.label),
        hint=str(kind.hint),
        ports=[str(port) for port in kind.ports],
        profiles=sorted(str(profile) for profile in kind.profiles),
        config=kind.config(),
    )


def _event(event: known_events.KnownEvent) -> KnownEventOut:
    properties = [
        EventPropertyOut(
            name=one.name,
            label=str(one.label),
            values={str(value): str(label) for value, label in one.values.items()},
        )
        for one in event.properties
    ]
    return KnownEventOut(name=event.name, label=str(event.label), properties=properties)


def _action(plugin: ActionPlugin) -> ActionOut:
    return ActionOut(
        subtype=plugin.spec.subtype,
        label=str(plugin.label),
        ports=sorted(str(port) for port in plugin.spec.ports),
        schema_=config_schema(plugin),
    )


def _built_in() -> list[TemplateOut]:
    return [
        TemplateOut(key=one.key, name=str(one.name), description=str(one.description), category=one.category)
        for one in templates.BUILT_IN
    ]


def _own() -> list[TemplateOut]:
    rows = WorkflowTemplate.objects.filter(deleted_at__isnull=True).order_by("name", "pk")
    return [
        TemplateOut(key=f"own:{row.pk}", name=row.name, description=row.description, category="")
        for row in rows
    ]

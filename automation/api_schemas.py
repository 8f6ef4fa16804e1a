"""What the JSON routes of workflows take and give."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from workspaces.json_api import Id, In, Out, Problem


def example(**values: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [values]})


class NodeIn(In):
    """One step. `config` is what its kind asks for (see the catalogue)."""

    key: Annotated[str, Field(min_length=1, max_length=40)]
    type: Annotated[str, Field(max_length=20)]
    subtype: Annotated[str, Field(max_length=50)]
    name: Annotated[str, Field(max_length=120)] = ""
    config: dict[str, Any] = {}
    is_enabled: bool = True


class EdgeIn(In):
    """From the exit `port` of a step to the next step."""

    source: Annotated[str, Field(max_length=40)]
    port: Annotated[str, Field(max_length=30)]
    target: Annotated[str, Field(max_length=40)]


class GraphIn(In):
    model_config = In.model_config | example(
        nodes=[
            {"key": "start", "type": "start", "subtype": "manual"},
            {"key": "end", "type": "end", "subtype": "complete", "config": {"behavior": "complete"}},
        ],
        edges=[{"source": "start", "port": "default", "target": "end"}],
        settings={},
    )

    nodes: Annotated[list[NodeIn], Field(max_length=2000)]
    edges: Annotated[list[EdgeIn], Field(max_length=10000)]
    settings: dict[str, Any] = {}


class NodeOut(Out):
    key: str
    type: str
    subtype: str
    name: str
    config: dict[str, Any]
    is_enabled: bool


class EdgeOut(Out):
    source: str
    port: str
    target: str


class GraphOut(Out):
    nodes: list[NodeOut]
    edges: list[EdgeOut]
    settings: dict[str, Any]


class CheckOut(Out):
    """`problems` keep the version from being published, `warnings` do not."""

    model_config = Out.model_config | example(
        valid=False,
        problems=[{"code": "text_empty", "message": "The text of the message is empty.", "node": "send_1"}],
        warnings=[],
    )

    valid: bool
    problems: list[Problem]
    warnings: list[Problem]


class SavedOut(CheckOut):
    """`revision` is the state of the draft now: send it back as `If-Match`."""

    revision: str


class PublishIn(In):
    model_config = In.model_config | example(note="Shorter waits")

    note: Annotated[str, Field(max_length=500)] = ""


class VersionOut(Out):
    model_config = Out.model_config | example(
        workflow=7,
        version=2,
        status="published",
        revision="2.0",
        published_at="2026-11-30T05:30:00Z",
        note="",
    )

    workflow: int
    version: int
    status: str
    revision: str
    published_at: datetime | None
    note: str


class KindOut(Out):
    key: str
    type: str
    subtype: str
    label: str
    hint: str
    ports: list[str]
    profiles: list[str]
    config: dict[str, Any]


class ActionOut(Out):
    subtype: str
    label: str
    ports: list[str]
    schema_: Annotated[dict[str, Any], Field(serialization_alias="schema")]


class FieldOut(Out):
    name: str
    label: str
    type: str
    values: dict[str, str]


class VariableOut(Out):
    name: str
    label: str
    placeholder: str


class TemplateOut(Out):
    key: str
    name: str
    description: str
    category: str


class EventPropertyOut(Out):
    """A property that an event comes with; `values` names those of a closed set."""

    name: str
    label: str
    values: dict[str, str]


class KnownEventOut(Out):
    """Something that happens to people: waits, goals and conditions of journeys name it."""

    name: str
    label: str
    properties: list[EventPropertyOut]


class CatalogOut(Out):
    """What a workflow can be made of in this workspace."""

    nodes: list[KindOut]
    actions: list[ActionOut]
    operators: dict[str, list[str]]
    fields: list[FieldOut]
    events: list[KnownEventOut]
    variables: list[VariableOut]
    templates: list[TemplateOut]


class PreviewIn(In):
    model_config = In.model_config | example(text="Hello {target.first_name|friend}", target=None)

    text: Annotated[str, Field(max_length=5000)]
    target: Id | None = None
    append_opt_out: bool = False


class PreviewOut(Out):
    """`segments` are billed. `missing`: variables without value or fallback; `unknown`: no such variables."""

    model_config = Out.model_config | example(
        text="Hello friend", segments=1, encoding="gsm7", units=12, missing=[], unknown=[]
    )

    text: str
    segments: int
    encoding: str
    units: int
    missing: list[str]
    unknown: list[str]


class MessageOut(Out):
    status: str
    label: str
    text: str
    number: str
    attempt: int
    provider_id: str
    error: str
    retry_at: datetime | None


class HeardOut(Out):
    """`is_event`: it counts as an answer, so journeys that wait for one go on."""

    text: str
    line: str
    effect: str
    label: str
    is_event: bool


class ActivityOut(Out):
    title: str
    kind: str
    label: str
    due: datetime


class EventOut(BaseModel):
    """One thing that happened. `message` is what was sent, `heard` what the person wrote, `activity` what a
    colleague is to do or did.
    """

    at: datetime
    type: str
    label: str
    campaign: str
    step: str
    reason: str
    until: datetime | None
    actor: str
    message: MessageOut | None
    heard: HeardOut | None
    activity: ActivityOut | None


class TimelineOut(Out):
    """Newest first. `pages` is at least 1."""

    events: list[EventOut]
    page: int
    pages: int
    count: int

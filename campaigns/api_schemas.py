"""What the JSON routes of campaigns take and give."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator
from pydantic.json_schema import SkipJsonSchema

from campaigns.enrollment.decisions import Answer
from workspaces.json_api import WHOLE, Id, In, Out

IdText = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,17}$")]


def example(**values: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [values]})


class Filter(In):
    """The conditions of the people list; those left out or null ask nothing."""

    q: Annotated[str, Field(max_length=100)] | None = None
    list: Id | None = None
    status: Annotated[str, Field(max_length=20)] | None = None
    priority: Annotated[str, Field(max_length=20)] | None = None
    province: Annotated[str, Field(max_length=60)] | None = None
    city: Annotated[str, Field(max_length=60)] | None = None
    owner: Id | None = None
    blocked: Literal["yes", "no"] | None = None
    number: Literal["mobile", "none"] | None = None


class SelectionIn(In):
    """Who is meant: either named people or everybody who meets a filter."""

    model_config = In.model_config | ConfigDict(
        json_schema_extra={
            "examples": [{"ids": [1, 2, 3]}, {"filter": {"city": "تهران"}}],
            "oneOf": [{"required": ["ids"]}, {"required": ["filter"]}],
        }
    )

    ids: Annotated[list[Id], Field(min_length=1, max_length=20_000)] = []
    filter: Filter | SkipJsonSchema[None] = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if len(self.model_fields_set) != 1 or (not self.ids and self.filter is None):
            raise ValueError("give either ids or filter")
        return self


class BatchOut(Out):
    """A selection. `groups` holds the ids of those who cannot simply be added, by reason."""

    model_config = Out.model_config | example(
        id=12,
        status="draft",
        counts={"selected": 3, "ready": 2, "conflict": 1},
        decisions={"default": None, "overrides": {}},
        groups={"conflict": [3]},
    )

    id: int
    status: str
    counts: dict[str, int | str]
    decisions: dict[str, Any]
    groups: dict[str, list[int]]


class DecisionsIn(In):
    """An answer for everybody who is in another campaign, and other answers for single people."""

    model_config = In.model_config | example(default="skip", overrides={"3": "add"})

    default: Answer | None = None
    overrides: Annotated[dict[IdText, Answer], Field(max_length=20_000)] = {}


class BatchStatusOut(Out):
    status: str


class CampaignOut(Out):
    model_config = Out.model_config | example(status="active", intake_open=True)

    status: str
    intake_open: bool


class CancelOut(Out):
    """`cancelled`, or `cancelling_partial` while `in_work` people's messages are on their way."""

    model_config = Out.model_config | example(status="cancelled", stopped=120, in_work=0)

    status: str
    stopped: int
    in_work: int


class ExecutionIn(In):
    """`revision` is the state the caller saw: if the person moved on since, nothing happens (409)."""

    model_config = In.model_config | example(revision=4)

    revision: Annotated[int, Field(ge=0, le=2**31 - 1), WHOLE] | None = None


class ExecutionOut(Out):
    model_config = Out.model_config | example(status="paused", revision=5)

    status: str
    revision: int


class ManyIn(In):
    model_config = In.model_config | example(operation="pause", ids=[10, 11])

    operation: Literal["pause", "resume", "remove", "restart", "retry_step"]
    ids: Annotated[list[Id], Field(max_length=5_000)]


class Done(Out):
    id: int
    status: str


class NotDone(Out):
    id: int
    code: str
    error: str


class ManyOut(Out):
    """Who was moved, and why the others were not."""

    done: list[Done]
    refused: list[NotDone]


class CampaignRef(Out):
    id: int
    name: str


class WalkOut(Out):
    """One walk of a person. `next_at` is null when it is due now or waits for a person."""

    id: int
    revision: int
    campaign: CampaignRef
    workflow: str
    step: str
    status: str
    next_at: datetime | None


class WalksOut(Out):
    executions: list[WalkOut]

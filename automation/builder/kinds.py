"""The kinds of step that can be added to a draft: one row each, for the menu, the pages and the tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from automation import registry
from automation.checking import PROFILES
from automation.models.definition import Workflow
from core.errors import Invalid
from engine.types import NodeSpec, NodeType, Port, Profile

BOTH = frozenset(Profile)
CAMPAIGN = frozenset({Profile.CAMPAIGN})
JOURNEY = frozenset({Profile.JOURNEY})
Config = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepKind:
    """`ports` are the exits that hold lists of their own; `config` makes what a new step begins with."""

    key: str
    type: NodeType
    subtype: str
    label: str | Promise
    hint: str | Promise
    icon: str
    config: Callable[[], Config] = dict
    ports: tuple[str, ...] = ()
    profiles: frozenset[Profile] = BOTH

    def node(self, key: str) -> NodeSpec:
        return NodeSpec(
            key=key, type=self.type, subtype=self.subtype, name=str(self.label), config=self.config()
        )


def _kind(
    key: str, kind: NodeType, subtype: str, label: Any, hint: Any, icon: str, config: Config, **more: Any
) -> StepKind:
    return StepKind(
        key=key, type=kind, subtype=subtype, label=label, hint=hint, icon=icon,
        config=lambda: _fresh(config), **more,
    )  # fmt: skip


def _fresh(config: Mapping[str, Any]) -> Config:
    return {
        key: [dict(item) for item in value] if isinstance(value, list) else value
        for key, value in config.items()
    }


_DAY = {"mode": "duration", "amount": 1, "unit": "day"}
_EVENT = {"mode": "for_event", "event": "", "amount": 3, "unit": "day"}
_CASES = {"cases": [{"label": "", "definition": {"root": {}}}]}
_ARMS = {"branches": [{"weight": 50, "variant": "A"}, {"weight": 50, "variant": "B"}], "holdout_percent": 0}
_LOOP = {"behavior": "loop", "delay": {"amount": 1, "unit": "day"}, "max_cycles": 2}
_RESTART = {"behavior": "restart", "delay": {"amount": 1, "unit": "day"}, "max_cycles": 2}

WAITS: tuple[StepKind, ...] = (
    _kind("wait", NodeType.WAIT, "duration", _("Wait"), _("For minutes, hours, days or longer"), "wait",
          _DAY),
    _kind(
        "wait_until", NodeType.WAIT, "until", _("Wait until a date"), _("Until one fixed day and time"),
        "calendar", {"mode": "until", "at": "", "timezone": ""},
    ),
    _kind(
        "wait_until_time", NodeType.WAIT, "until_time", _("Wait until a time of day"),
        _("Until the next morning at nine, for example"), "clock",
        {"mode": "until_time", "hour": 9, "minute": 0}, profiles=JOURNEY,
    ),
    _kind(
        "wait_until_best_time", NodeType.WAIT, "until_best_time", _("Wait until the best time"),
        _("Until the hour at which this person usually reads"), "spark",
        {"mode": "until_best_time", "fallback_hour": 10}, profiles=JOURNEY,
    ),
    _kind(
        "wait_for_event", NodeType.WAIT, "for_event", _("Wait for an event"),
        _("Until the person does something, or the time is over"), "pulse", _EVENT, profiles=JOURNEY,
    ),
)  # fmt: skip

FORKS: tuple[StepKind, ...] = (
    _kind(
        "condition", NodeType.CONDITION, "field_rules", _("Condition"),
        _("Two ways: for people it holds for, and for the rest"), "condition",
        {"root": {}}, ports=(Port.YES, Port.NO),
    ),
    _kind(
        "switch", NodeType.SWITCH, "cases", _("Switch"), _("Several ways: the first case that fits counts"),
        "split", _CASES, ports=("case_1", Port.DEFAULT), profiles=JOURNEY,
    ),
    _kind(
        "split", NodeType.SPLIT, "share", _("Split"), _("Chance decides, by the shares that you set"),
        "chart", _ARMS, ports=("branch_1", "branch_2", Port.HOLDOUT), profiles=JOURNEY,
    ),
)  # fmt: skip

ENDS: tuple[StepKind, ...] = (
    _kind(
        "goal", NodeType.GOAL, "event", _("Goal"), _("Who has reached it leaves here; the rest go on"),
        "goal", {"event": ""}, profiles=JOURNEY,
    ),
    _kind("end", NodeType.END, "complete", _("End"), _("The person has completed the workflow."), "end",
          {"behavior": "complete"}),
    _kind("end_stop", NodeType.END, "stop", _("Stop"), _("The person leaves the workflow here."), "stop",
          {"behavior": "stop"}),
    _kind("end_loop", NodeType.END, "loop", _("Back to a step"), _("After a pause, some rounds at most"),
          "refresh", _LOOP, profiles=CAMPAIGN),
    _kind("end_restart", NodeType.END, "restart", _("From the beginning"),
          _("After a pause, some rounds at most"), "refresh", _RESTART, profiles=CAMPAIGN),
)  # fmt: skip


def kinds(profile: Profile) -> list[StepKind]:
    """What the menu offers, in its order; every registered action comes first."""
    actions = [
        StepKind(
            key=plugin.spec.subtype,
            type=NodeType.ACTION,
            subtype=plugin.spec.subtype,
            label=plugin.label,
            hint=plugin.hint,
            icon=plugin.icon,
            config=plugin.defaults,
        )
        for plugin in registry.actions()
    ]
    return [*actions, *(kind for kind in (*WAITS, *FORKS, *ENDS) if profile in kind.profiles)]


def kind_for(key: str, profile: Profile) -> StepKind:
    """The kind that the menu calls `key`. Raises Invalid (`step_unknown`)."""
    for kind in kinds(profile):
        if kind.key == key:
            return kind
    raise Invalid(_("There is no such step."), code="step_unknown")


def kinds_like(node: NodeSpec, profile: Profile) -> list[StepKind]:
    """What a wait or an end may be turned into; the kind it has stands among them."""
    return [
        kind
        for kind in (*WAITS, *ENDS)
        if kind.type == node.type and (profile in kind.profiles or kind.subtype == node.subtype)
    ]


def profile_of(workflow: Workflow) -> Profile:
    """What the steps of this workflow may be made of."""
    return PROFILES[workflow.kind]

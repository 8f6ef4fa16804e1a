"""A definition as the pages draw it: one row after the other, branches opened and closed between them.

A flat list of rows instead of nested ones: templates need no recursion, whatever the depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from django.utils.translation import gettext as _

from automation import registry
from automation.builder.describing import describe
from automation.builder.message_text import TextPiece, direction, text_pieces
from automation.checking import Finding, node_names
from automation.models.definition import NodeKind
from automation.problems import PORTS, reason
from engine.sequence import NotASequence, Step, to_sequence
from engine.types import Definition, NodeSpec, Port

Kind = Literal["step", "close", "branches", "branch", "branch_end", "branches_end"]
ICONS = {"start": "start", "wait": "wait", "condition": "condition", "end": "end"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCard:
    """One step in words. `kind` chooses its colour; `body` is the text of a message."""

    key: str
    kind: str
    icon: str
    title: str
    text: str = ""
    body: str = ""
    type: str = ""
    subtype: str = ""
    is_enabled: bool = True
    problems: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()

    @property
    def pieces(self) -> tuple[TextPiece, ...]:
        return text_pieces(self.body)

    @property
    def direction(self) -> str:
        return direction(self.body)

    @property
    def is_removable(self) -> bool:
        """A step that others can close up over: it has one way in the list and one way out."""
        return self.type in ("action", "wait")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One piece of the drawing.

    step (left open), close (ends it), branches / branches_end around a condition's branches, and
    branch / branch_end around each of them. `port` and `source` say which exit a branch is.
    """

    kind: Kind
    step: StepCard | None = None
    port: str = ""
    label: str = ""
    source: StepCard | None = None
    is_empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """`rows` when a list can show the definition; else `reason`, and `cards` in stored order."""

    rows: tuple[Row, ...] = ()
    reason: str = ""
    cards: tuple[StepCard, ...] = ()
    is_list: bool = field(default=True)


def draw(
    definition: Definition,
    *,
    timezone: str,
    problems: Iterable[Finding] = (),
    warnings: Iterable[Finding] = (),
) -> Drawing:
    """The drawing of `definition`, with each finding at its step."""
    cards = _cards(definition, timezone, _by_node(problems), _by_node(warnings))
    try:
        sequence = to_sequence(definition)
    except NotASequence as exc:
        text = reason(exc.code)
        return Drawing(reason=text, cards=tuple(cards[node.key] for node in definition.nodes), is_list=False)
    first = Step(node=sequence.start)
    return Drawing(rows=tuple(_rows((first, *sequence.steps), cards)))


def draw_card(definition: Definition, key: str, timezone: str) -> StepCard:
    """One step of `definition` alone."""
    return _cards(definition, timezone, {}, {})[key]


def _rows(steps: Sequence[Step], cards: Mapping[str, StepCard]) -> list[Row]:
    rows: list[Row] = []
    pending: list[Row | Step] = list(reversed(steps))
    while pending:
        item = pending.pop()
        if isinstance(item, Row):
            rows.append(item)
            continue
        card = cards[item.node.key]
        rows.append(Row(kind="step", step=card))
        pending.append(Row(kind="close"))
        if item.node.type == NodeKind.CONDITION:
            pending += reversed(_branches(item, card))
    return rows


def _branches(step: Step, card: StepCard) -> list[Row | Step]:
    items: list[Row | Step] = [Row(kind="branches")]
    for port, inner in ((Port.YES, step.yes), (Port.NO, step.no)):
        label = str(PORTS[port])
        items.append(Row(kind="branch", port=port, label=label, source=card, is_empty=not inner))
        items += [*inner, Row(kind="branch_end", is_empty=not inner)]
    return [*items, Row(kind="branches_end")]


def _by_node(findings: Iterable[Finding]) -> dict[str, tuple[Finding, ...]]:
    by_node: dict[str, tuple[Finding, ...]] = {}
    for finding in findings:
        by_node[finding.node] = (*by_node.get(finding.node, ()), finding)
    return by_node


def _cards(
    definition: Definition,
    timezone: str,
    problems: Mapping[str, tuple[Finding, ...]],
    warnings: Mapping[str, tuple[Finding, ...]],
) -> dict[str, StepCard]:
    names = node_names(definition)
    return {
        node.key: StepCard(
            key=node.key,
            kind=_kind(node),
            icon=_icon(node),
            title=node.name or kind_label(node),
            text=describe(node, names, timezone),
            body=_text(node.config.get("body")) if node.type == "action" else "",
            type=node.type,
            subtype=node.subtype,
            is_enabled=node.is_enabled,
            problems=problems.get(node.key, ()),
            warnings=warnings.get(node.key, ()),
        )
        for node in definition.nodes
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _kind(node: NodeSpec) -> str:
    return "send" if node.type == "action" else node.type


def _icon(node: NodeSpec) -> str:
    plugin = registry.action(node.subtype) if node.type == "action" else None
    return plugin.icon if plugin else ICONS.get(node.type, "workflow")


def kind_label(node: NodeSpec) -> str:
    """What this kind of step is called, for steps without a name of their own."""
    plugin = registry.action(node.subtype) if node.type == "action" else None
    if plugin is not None:
        return str(plugin.label)
    return str(NodeKind(node.type).label) if node.type in NodeKind.values else _("Step")

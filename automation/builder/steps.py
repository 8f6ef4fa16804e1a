"""A definition as the pages draw it: one row after the other, branches opened and closed between them.

A flat list of rows instead of nested ones: templates need no recursion, whatever the depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from django.utils.translation import gettext as _

from automation import registry
from automation.builder import outline
from automation.builder.describing import arm_label, describe, in_digits, share
from automation.builder.message_text import TextPiece, direction, text_pieces
from automation.builder.outline import Outline, Place
from automation.checking import Finding, node_names
from automation.models.definition import NodeKind
from automation.naming import step_label
from automation.problems import port_label, reason
from engine.sequence import NotASequence
from engine.types import Definition, NodeSpec, Port

Kind = Literal["step", "close", "branches", "branch", "branch_end", "branches_end"]
FIRST = "first"
ICONS = {
    "start": "start",
    "wait": "wait",
    "condition": "condition",
    "switch": "split",
    "split": "chart",
    "goal": "goal",
    "end": "end",
}


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
    jump: str = ""  # the step an end goes back to; FIRST for the first one
    exits: tuple[str, ...] = ()  # where its connections lead, for definitions that no list can show
    problems: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()

    @property
    def pieces(self) -> tuple[TextPiece, ...]:
        return text_pieces(self.body)

    @property
    def direction(self) -> str:
        return direction(self.body)

    # What the buttons of a card are called. Here and not in the template, where 200 steps of them take long.

    @property
    def says_move(self) -> str:
        return _("Move with the arrow keys: %(title)s") % {"title": self.title}

    @property
    def says_up(self) -> str:
        return _("Move up: %(title)s") % {"title": self.title}

    @property
    def says_down(self) -> str:
        return _("Move down: %(title)s") % {"title": self.title}

    @property
    def says_more(self) -> str:
        return _("More for: %(title)s") % {"title": self.title}

    @property
    def says_add(self) -> str:
        return _("Add a step after: %(title)s") % {"title": self.title}

    @property
    def says_late(self) -> str:
        return _("Add a step for when the time is over: %(title)s") % {"title": self.title}

    @property
    def is_fixed(self) -> bool:
        """The start: it stays where it is."""
        return self.type == NodeKind.START

    @property
    def has_switch(self) -> bool:
        return self.type not in (NodeKind.START, NodeKind.END)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One piece of the drawing.

    step (left open), close (ends it), branches / branches_end around the branches of a fork, and
    branch / branch_end around each of them. `port` and `source` say which exit a branch is. `place` is
    where a new step would stand: behind the step, or first in the branch ("" where nothing can follow);
    `late_place` the same for the time-out of a wait for an event. `follows`: something stands there.
    `keeps`: the branches with steps, for removing a fork without them.
    """

    kind: Kind
    step: StepCard | None = None
    port: str = ""
    label: str = ""
    source: StepCard | None = None
    is_empty: bool = False
    place: str = ""
    late_place: str = ""
    follows: bool = False
    keeps: tuple[tuple[str, str], ...] = ()

    @property
    def closes(self) -> bool:
        """A step behind which nothing can stand."""
        return self.kind == "step" and not self.place

    @property
    def says_add(self) -> str:
        """What the button of a branch is called."""
        values = {"title": self.source.title if self.source else "", "branch": self.label}
        return _("Add a step: %(title)s, %(branch)s") % values

    @property
    def list_id(self) -> str:
        """The name of the list that begins here, as moves of a drag name it."""
        return f"{self.source.key}.{self.port}" if self.source else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """`rows` when a list can show the definition; else `reason`, and `cards` in stored order."""

    rows: tuple[Row, ...] = ()
    reason: str = ""
    cards: tuple[StepCard, ...] = ()
    is_list: bool = field(default=True)
    root: str = ""


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
        lists = outline.read(definition)
    except NotASequence as exc:
        text, exits = reason(exc.code), _exits(definition)
        shown = tuple(replace(cards[node.key], exits=exits.get(node.key, ())) for node in definition.nodes)
        return Drawing(reason=text, cards=shown, is_list=False)
    return Drawing(rows=tuple(_Rows(lists, cards).rows()), root=".".join(lists.root))


def _exits(definition: Definition) -> dict[str, tuple[str, ...]]:
    """Every connection in words, by the step it leaves."""
    nodes, names = {node.key: node for node in definition.nodes}, node_names(definition)
    found: dict[str, tuple[str, ...]] = {}
    for edge in definition.edges:
        target = names.get(edge.target, edge.target)
        words = _("Then “%(step)s”") % {"step": target}
        if edge.port != Port.DEFAULT and edge.source in nodes:
            values = {"exit": branch_label(nodes[edge.source], edge.port), "step": target}
            words = _("%(exit)s: “%(step)s”") % values
        found[edge.source] = (*found.get(edge.source, ()), words)
    return found


def draw_card(definition: Definition, key: str, timezone: str) -> StepCard:
    """One step of `definition` alone."""
    return _cards(definition, timezone, {}, {})[key]


class _Rows:
    """Lays the lists of an outline out as rows, without recursion."""

    def __init__(self, lists: Outline, cards: Mapping[str, StepCard]) -> None:
        self._lists = lists
        self._cards = cards

    def rows(self) -> Iterator[Row]:
        pending: list[Row | tuple[NodeSpec, Place, bool]] = list(reversed(self._list(self._lists.root)))
        pending.append(self._start())
        while pending:
            item = pending.pop()
            if isinstance(item, Row):
                yield item
                continue
            node, place, follows = item
            yield self._step(node, place, follows)
            pending.append(Row(kind="close"))
            pending += reversed(self._branches(node))

    def _start(self) -> tuple[NodeSpec, Place, bool]:
        source, port = self._lists.root
        return self._lists.start, Place(source, port, -1), bool(self._lists.lists[self._lists.root])

    def _list(self, at: outline.ListId) -> list[Row | tuple[NodeSpec, Place, bool]]:
        nodes = self._lists.lists[at]
        return [(node, Place(*at, index), index + 1 < len(nodes)) for index, node in enumerate(nodes)]

    def _step(self, node: NodeSpec, place: Place, follows: bool) -> Row:
        closes = node.type == NodeKind.END or self._lists.is_fork(node)
        late = node.subtype == "for_event" and not closes
        return Row(
            kind="step",
            step=self._cards[node.key],
            place="" if closes else str(Place(place.source, place.port, place.index + 1)),
            late_place=str(Place(node.key, Port.TIMEOUT, 0)) if late else "",
            follows=follows,
            keeps=tuple(
                (port, branch_label(node, port))
                for port in self._lists.ports(node.key)
                if self._lists.lists[node.key, port]
            ),
        )

    def _branches(self, node: NodeSpec) -> list[Row | tuple[NodeSpec, Place, bool]]:
        ports = [port for port in self._lists.ports(node.key) if self._is_shown(node, port)]
        if not ports:
            return []
        card = self._cards[node.key]
        items: list[Row | tuple[NodeSpec, Place, bool]] = [Row(kind="branches")]
        for port in ports:
            inner = self._list((node.key, port))
            about: dict[str, Any] = {"port": port, "label": branch_label(node, port), "source": card}
            place, is_empty = str(Place(node.key, port, 0)), not inner
            items.append(Row(kind="branch", place=place, follows=not is_empty, is_empty=is_empty, **about))
            items += [*inner, Row(kind="branch_end", is_empty=is_empty)]
        return [*items, Row(kind="branches_end")]

    def _is_shown(self, node: NodeSpec, port: str) -> bool:
        """The way of those held out is shown when somebody is held out, or steps stand there."""
        if port != Port.HOLDOUT:
            return True
        return bool(node.config.get("holdout_percent")) or bool(self._lists.lists[node.key, port])


def branch_label(node: NodeSpec, port: str) -> str:
    """What an exit is called: the case's or the arm's own name where it has one."""
    word, _underscore, number = port.partition("_")
    entries = node.config.get({"case": "cases", "branch": "branches"}.get(word, ""))
    index = int(number) - 1 if number.isdecimal() else -1
    entry = entries[index] if isinstance(entries, list) and 0 <= index < len(entries) else {}
    if word == "branch" and isinstance(entry, Mapping):
        return arm_label(node.config, index, entry)
    if word == "case" and isinstance(entry, Mapping) and entry.get("label"):
        return str(entry["label"])
    if node.type == NodeKind.SWITCH and port == Port.DEFAULT:
        return _("none of these")
    if node.type == NodeKind.WAIT and port == Port.DEFAULT:
        return _("the event came")
    if port == Port.HOLDOUT and node.config.get("holdout_percent"):
        return _("held out, %(share)s%%") % {"share": share(float(node.config["holdout_percent"]))}
    return in_digits(port_label(port))


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
            title=step_label(node),
            text=describe(node, names, timezone),
            body=_text(node.config.get("body")) if node.type == "action" else "",
            type=node.type,
            subtype=node.subtype,
            is_enabled=node.is_enabled,
            jump=_jump(node),
            problems=problems.get(node.key, ()),
            warnings=warnings.get(node.key, ()),
        )
        for node in definition.nodes
    }


def _jump(node: NodeSpec) -> str:
    repeats = node.type == NodeKind.END and node.subtype in ("loop", "restart")
    return _text(node.config.get("to_node")) or FIRST if repeats else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _kind(node: NodeSpec) -> str:
    return "send" if node.type == "action" else node.type


def _icon(node: NodeSpec) -> str:
    plugin = registry.action(node.subtype) if node.type == "action" else None
    return plugin.icon if plugin else ICONS.get(node.type, "workflow")

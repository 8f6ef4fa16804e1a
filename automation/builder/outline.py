"""A step list as people edit it: every change is a function from one outline to the next.

An outline holds the same steps as `engine.sequence.Sequence`, laid flat: one list of steps for each exit
that a list can stand behind. The exit of the start is the root. A fork (condition, switch, split, and a
wait for an event that has a way of its own for the time-out) is the last step of its list and has one list
for each of its exits. Nothing here asks a database, a clock or chance: new keys come in as arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from engine.sequence import Sequence, Step, to_definition, to_sequence
from engine.types import Definition, NodeSpec, NodeType, Port, Profile

ListId = tuple[str, str]  # key of the step, exit
FORKS: Final = frozenset({NodeType.CONDITION, NodeType.SWITCH, NodeType.SPLIT})


class CannotEdit(ValueError):
    """The change makes no step list. `code` says why.

    Codes: step_unknown, place_unknown, start_stays, end_in_between, fork_in_between.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


@dataclass(frozen=True, slots=True)
class Place:
    """`index` steps behind the beginning of the list at exit `port` of `source`; `n_1.yes.0` in forms."""

    source: str
    port: str
    index: int

    @classmethod
    def parse(cls, text: str) -> Place:
        """Read the form's text. Raises CannotEdit (`place_unknown`)."""
        source, _dot, rest = text.partition(".")
        port, _dot, index = rest.partition(".")
        if not (source and port and index.isascii() and index.isdigit() and len(index) < 6):
            raise CannotEdit("place_unknown")
        return cls(source, port, int(index))

    @property
    def list(self) -> ListId:
        return (self.source, self.port)

    def __str__(self) -> str:
        return f"{self.source}.{self.port}.{self.index}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The start and the lists behind every exit. Values are tuples: an outline never changes."""

    start: NodeSpec
    lists: Mapping[ListId, tuple[NodeSpec, ...]]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def root(self) -> ListId:
        return (self.start.key, str(Port.DEFAULT))

    def ports(self, key: str) -> tuple[str, ...]:
        """The exits of a fork in reading order; none for other steps."""
        return tuple(port for source, port in self.lists if source == key and source != self.start.key)

    def is_fork(self, node: NodeSpec) -> bool:
        return node.type in FORKS or bool(self.ports(node.key))

    def find(self, key: str) -> tuple[NodeSpec, Place]:
        """The step and where it stands. Raises CannotEdit (`step_unknown`, `start_stays`)."""
        if key == self.start.key:
            raise CannotEdit("start_stays")
        for (source, port), nodes in self.lists.items():
            for index, node in enumerate(nodes):
                if node.key == key:
                    return node, Place(source, port, index)
        raise CannotEdit("step_unknown")

    def inside(self, key: str) -> tuple[NodeSpec, ...]:
        """Every step in the branches of `key`, in reading order."""
        found: list[NodeSpec] = []
        pending = [(key, port) for port in reversed(self.ports(key))]
        while pending:
            for node in self.lists[pending.pop()]:
                found.append(node)
                pending += [(node.key, port) for port in reversed(self.ports(node.key))]
        return tuple(found)

    def size(self) -> int:
        return 1 + sum(len(nodes) for nodes in self.lists.values())


def read(definition: Definition) -> Outline:
    """The outline of `definition`. Raises engine.sequence.NotASequence.

    Every kind of fork is read, whatever the workflow's kind: what may not be published can still be seen,
    moved and taken out.
    """
    return _flat(to_sequence(definition, profile=Profile.JOURNEY))


def write(outline: Outline) -> Definition:
    """Nodes and edges of `outline`, in reading order. Raises NotASequence (`too_deep`)."""
    steps = _nested(outline, outline.root)
    sequence = Sequence(start=outline.start, steps=steps, settings=outline.settings)
    return to_definition(sequence, profile=Profile.JOURNEY)


def _flat(sequence: Sequence) -> Outline:
    lists: dict[ListId, tuple[NodeSpec, ...]] = {}
    pending: list[tuple[ListId, tuple[Step, ...]]] = [
        ((sequence.start.key, str(Port.DEFAULT)), sequence.steps)
    ]
    while pending:
        place, steps = pending.pop()
        lists[place] = tuple(step.node for step in steps)
        inner = [((step.node.key, str(port)), way) for step in steps for port, way in step.forks]
        pending += reversed(inner)
    return Outline(start=sequence.start, lists=lists, settings=sequence.settings)


def _nested(outline: Outline, at: ListId) -> tuple[Step, ...]:
    steps: list[Step] = []
    for node in outline.lists[at]:
        ways = tuple((port, _nested(outline, (node.key, port))) for port in outline.ports(node.key))
        if node.type == NodeType.CONDITION:
            inner = dict(ways)
            steps.append(Step(node=node, yes=inner.get(Port.YES, ()), no=inner.get(Port.NO, ())))
        else:
            steps.append(Step(node=node, branches=ways))
    return tuple(steps)


# Where a step may stand


def all_places(outline: Outline) -> Iterator[Place]:
    """Every place between steps, in reading order; also those behind forks and ends."""
    pending: list[Place | ListId] = [outline.root]
    while pending:
        item = pending.pop()
        if isinstance(item, Place):
            yield item
            continue
        ahead: list[Place | ListId] = [Place(*item, 0)]
        for index, node in enumerate(outline.lists[item]):
            ahead += [(node.key, port) for port in outline.ports(node.key)]
            ahead.append(Place(*item, index + 1))
        pending += reversed(ahead)


def accepts(outline: Outline, place: Place, node: NodeSpec, ways: Mapping[str, bool]) -> bool:
    """Whether `node` may be put at `place`. `ways`: the exits of a fork, True for those with steps."""
    return _refusal(outline, place, node, ways) is None


def _refusal(outline: Outline, place: Place, node: NodeSpec, ways: Mapping[str, bool]) -> str | None:
    nodes = outline.lists.get(place.list)
    if nodes is None or place.index > len(nodes):
        return "place_unknown"
    if place.index and _closes(outline, nodes[place.index - 1]):
        return "place_unknown"
    rest = nodes[place.index :]
    if rest and node.type == NodeType.END:
        return "end_in_between"
    if rest and ways and _home(outline, rest, ways) is None:
        return "fork_in_between"
    return None


def _closes(outline: Outline, node: NodeSpec) -> bool:
    """Whether nothing can stand behind `node` in its own list."""
    return node.type == NodeType.END or outline.is_fork(node)


def _home(outline: Outline, rest: tuple[NodeSpec, ...], ways: Mapping[str, bool]) -> str | None:
    """The exit of a fork that takes in what followed at its new place."""
    is_open = not _closes(outline, rest[-1])
    return next((port for port, is_filled in ways.items() if is_open or not is_filled), None)


def places_for(outline: Outline, key: str, *, stays: bool = False) -> tuple[Outline, list[Place]]:
    """The outline without `key`, and every place in it where `key` may stand, in reading order.

    `stays`: for a copy of it, counted in the outline as it is. Raises CannotEdit.
    """
    rest, taken = _take(outline, key)
    rest = outline if stays else rest
    return rest, [place for place in all_places(rest) if accepts(rest, place, taken.node, taken.ways)]


# Changes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    node: NodeSpec
    place: Place
    lists: Mapping[ListId, tuple[NodeSpec, ...]]

    @property
    def ways(self) -> dict[str, bool]:
        return {port: bool(nodes) for (key, port), nodes in self.lists.items() if key == self.node.key}


def _take(outline: Outline, key: str) -> tuple[Outline, _Taken]:
    node, place = outline.find(key)
    gone = {key, *(inner.key for inner in outline.inside(key))}
    own = {at: nodes for at, nodes in outline.lists.items() if at[0] in gone}
    lists = {at: nodes for at, nodes in outline.lists.items() if at[0] not in gone}
    lists[place.list] = tuple(one for one in lists[place.list] if one.key != key)
    return replace(outline, lists=lists), _Taken(node=node, place=place, lists=own)


def _put(outline: Outline, place: Place, taken: _Taken) -> Outline:
    why_not = _refusal(outline, place, taken.node, taken.ways)
    if why_not is not None:
        raise CannotEdit(why_not)
    nodes = outline.lists[place.list]
    before, rest = nodes[: place.index], nodes[place.index :]
    lists = {**outline.lists, **taken.lists}
    if rest and taken.ways:
        home = _home(outline, rest, taken.ways)
        assert home is not None  # else it would have been refused
        lists[taken.node.key, home] = (*rest, *lists[taken.node.key, home])
        rest = ()
    lists[place.list] = (*before, taken.node, *rest)
    return replace(outline, lists=lists)


def insert(outline: Outline, place: Place, node: NodeSpec, ports: tuple[str, ...] = ()) -> Outline:
    """Put a new step at `place`. `ports` are the exits of a fork: what followed goes into the first.

    At the time-out of a wait for an event the wait becomes a fork. Raises CannotEdit.
    """
    if place.port == Port.TIMEOUT and place.list not in outline.lists:
        outline = _fork_event_wait(outline, place.source)
    lists: dict[ListId, tuple[NodeSpec, ...]] = {(node.key, port): () for port in ports}
    return _put(outline, place, _Taken(node=node, place=place, lists=lists))


def _fork_event_wait(outline: Outline, key: str) -> Outline:
    node, place = outline.find(key)
    if node.type != NodeType.WAIT or node.subtype != "for_event":
        raise CannotEdit("place_unknown")
    nodes = outline.lists[place.list]
    lists = {
        **outline.lists,
        place.list: nodes[: place.index + 1],
        (key, str(Port.DEFAULT)): nodes[place.index + 1 :],
        (key, str(Port.TIMEOUT)): (),
    }
    return replace(outline, lists=lists)


def move(outline: Outline, key: str, place: Place) -> Outline:
    """Put `key` with all its branches at `place`, counted in the outline without it. Raises CannotEdit."""
    rest, taken = _take(outline, key)
    return _put(rest, place, taken)


def shift(outline: Outline, key: str, by: int) -> Outline:
    """One place up (-1) or down (+1) in reading order, into and out of branches.

    The same outline when there is no further place. A fork going up takes the step before it in, and
    going down lets it out again. Raises CannotEdit.
    """
    if by > 0 and (let_out := _let_out(outline, key)) is not None:
        return let_out
    rest, taken = _take(outline, key)
    places = [place for place in all_places(rest) if accepts(rest, place, taken.node, taken.ways)]
    at = places.index(taken.place) + by
    return _put(rest, places[at], taken) if 0 <= at < len(places) else outline


def _let_out(outline: Outline, key: str) -> Outline | None:
    """The first step of a fork's first exit, put before the fork; None when there is no such plain step."""
    node, place = outline.find(key)
    ports = outline.ports(node.key)
    inner = outline.lists[node.key, ports[0]] if ports else ()
    if not inner or _closes(outline, inner[0]):
        return None
    nodes = outline.lists[place.list]
    lists = {
        **outline.lists,
        (node.key, ports[0]): inner[1:],
        place.list: (*nodes[: place.index], inner[0], *nodes[place.index :]),
    }
    return replace(outline, lists=lists)


def remove(outline: Outline, key: str, *, keep: str = "") -> Outline:
    """Take a step out; the steps around it close up. Of a fork, the steps at exit `keep` stay, if given.

    Raises CannotEdit.
    """
    rest, taken = _take(outline, key)
    if not keep:
        return rest
    if (key, keep) not in taken.lists:
        raise CannotEdit("place_unknown")
    kept = taken.lists[key, keep]
    roots = {node.key for node in kept}
    inner = {one.key for root in roots for one in outline.inside(root)} | roots
    lists = {**rest.lists, **{at: nodes for at, nodes in taken.lists.items() if at[0] in inner}}
    nodes = lists[taken.place.list]
    index = taken.place.index
    lists[taken.place.list] = (*nodes[:index], *kept, *nodes[index:])
    return replace(rest, lists=lists)


def copy(outline: Outline, key: str, place: Place | None, make_key: Callable[[], str]) -> tuple[Outline, str]:
    """A copy of `key` with all its branches at `place` (right behind it by default), and the copy's key.

    Loops of the copy go back to the copy's own steps. Raises CannotEdit.
    """
    node, at = outline.find(key)
    fresh = {one.key: make_key() for one in (node, *outline.inside(key))}
    lists = {
        (fresh[source], port): tuple(_renamed(one, fresh) for one in nodes)
        for (source, port), nodes in outline.lists.items()
        if source in fresh
    }
    where = replace(at, index=at.index + 1) if place is None else place
    taken = _Taken(node=_renamed(node, fresh), place=where, lists=lists)
    return _put(outline, where, taken), fresh[key]


def _renamed(node: NodeSpec, fresh: Mapping[str, str]) -> NodeSpec:
    target = str(node.config.get("to_node"))
    config = {**node.config, "to_node": fresh[target]} if target in fresh else node.config
    return replace(node, key=fresh[node.key], config=config)


def revise(outline: Outline, node: NodeSpec, ways: Mapping[str, str] | None = None) -> Outline:
    """Put `node` in the place of the step with its key.

    `ways` maps each exit that a fork has now to the one it was before, or to "" for a new one; the steps
    of exits that are gone go with them. Without any exit left, the steps of the first follow the step itself.
    None: the exits stay. Raises CannotEdit.
    """
    _old, place = outline.find(node.key)
    lists = dict(outline.lists)
    lists[place.list] = tuple(node if one.key == node.key else one for one in lists[place.list])
    if ways is None:
        return replace(outline, lists=lists)
    old_ports = outline.ports(node.key)
    kept = list(ways.values()) or list(old_ports[:1])
    for port in old_ports:
        if port not in kept:
            gone = {node.key, *_below(outline, (node.key, port))}
            lists = {at: nodes for at, nodes in lists.items() if not _goes(at, node.key, port, gone)}
    old = {port: lists.pop((node.key, port), ()) for port in old_ports}
    lists |= {(node.key, port): old.get(was, ()) for port, was in ways.items()}
    if not ways:
        lists[place.list] = (*lists[place.list], *old.get(kept[0] if kept else "", ()))
    return replace(outline, lists=lists)


def _goes(at: ListId, key: str, port: str, gone: set[str]) -> bool:
    return at == (key, port) if at[0] == key else at[0] in gone


def _below(outline: Outline, at: ListId) -> list[str]:
    return [one.key for node in outline.lists[at] for one in (node, *outline.inside(node.key))]

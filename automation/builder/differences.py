"""What differs between two versions: messages word by word, and which steps came, went or changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from automation.builder.describing import describe
from automation.builder.message_text import TextPiece, direction, text_pieces
from automation.checking import node_names
from automation.naming import step_label
from engine.types import Definition, NodeSpec

_WORDS = re.compile(r"\{[^{}]*\}|\s+|[^\s{}]+|[{}]")  # a variable is one word
_LONGEST = 2_000  # words; beyond that the texts are shown whole


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text that both have (`same`), only the old one (`gone`) or only the new one (`new`)."""

    kind: Literal["same", "gone", "new"]
    text: str

    @property
    def pieces(self) -> tuple[TextPiece, ...]:
        return text_pieces(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One step that differs. `change`: added, removed, changed or moved (settings other than its text)."""

    key: str
    name: str
    change: Literal["added", "removed", "changed"]
    pieces: tuple[Piece, ...] = ()
    other_settings: bool = False
    is_text: bool = False  # the text of a message, not words about a step

    @property
    def look(self) -> str:
        return "sms-bubble" if self.is_text else "step-words"

    @property
    def direction(self) -> str:
        return direction("".join(piece.text for piece in self.pieces))


def differences(old: Definition, new: Definition, *, timezone: str) -> list[Difference]:
    """Every step that is not the same in both, in the order of the new version, removed ones last."""
    before = {node.key: node for node in old.nodes}
    after = {node.key: node for node in new.nodes}
    found: list[Difference] = []
    for key, node in after.items():
        was = before.get(key)
        if was is None:
            found.append(_whole(node, "added", new, timezone))
        elif was != node:
            found.append(_changed(was, node, old, new, timezone))
    found += [_whole(node, "removed", old, timezone) for key, node in before.items() if key not in after]
    return found


def _is_text(node: NodeSpec) -> bool:
    return isinstance(node.config.get("body"), str)


def _shown(node: NodeSpec, definition: Definition, timezone: str) -> str:
    body = node.config.get("body")
    return body if isinstance(body, str) else describe(node, node_names(definition), timezone)


def _whole(
    node: NodeSpec, change: Literal["added", "removed"], definition: Definition, timezone: str
) -> Difference:
    text = _shown(node, definition, timezone)
    piece = Piece("new" if change == "added" else "gone", text)
    return Difference(
        key=node.key,
        name=_name(node),
        change=change,
        pieces=(piece,) if text else (),
        is_text=_is_text(node),
    )


def _changed(was: NodeSpec, node: NodeSpec, old: Definition, new: Definition, timezone: str) -> Difference:
    texts = _shown(was, old, timezone), _shown(node, new, timezone)
    return Difference(
        key=node.key,
        name=_name(node),
        change="changed",
        pieces=tuple(pieces(*texts)) if texts[0] != texts[1] else (),
        other_settings=_rest(was) != _rest(node),
        is_text=_is_text(node),
    )


def _rest(node: NodeSpec) -> tuple[object, ...]:
    rest = {key: value for key, value in node.config.items() if key not in ("body", "amount", "unit", "at")}
    return node.name, node.is_enabled, node.type, node.subtype, rest


def pieces(old: str, new: str) -> Iterator[Piece]:
    """`old` and `new` woven together, word by word."""
    a, b = _WORDS.findall(old), _WORDS.findall(new)
    if max(len(a), len(b)) > _LONGEST:
        yield Piece("gone", old)
        yield Piece("new", new)
        return
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            yield Piece("same", "".join(a[a1:a2]))
            continue
        if a2 > a1:
            yield Piece("gone", "".join(a[a1:a2]))
        if b2 > b1:
            yield Piece("new", "".join(b[b1:b2]))


def _name(node: NodeSpec) -> str:
    return step_label(node)

"""Message texts with variables: split once, rendered many times.

A variable is `{namespace.name}` or `{{namespace.name}}`, with an optional fallback `{name|text}`; spaces
around the name are allowed, braces inside the fallback are not. Namespaces: target, workspace,
campaign, execution, and event for the properties of the event that began the walk. A name without one is
the target's: `{city}` is `{target.city}`. `{phone}` is the landline, and an empty first name falls back to
the whole name; names are never split or guessed.

Everything else is literal, an unclosed brace too. Nothing is ever formatted, evaluated or looked up by
attribute, and an inserted value is never read again for variables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple

from engine.types import Facts, Problem

MAX_VALUE: Final = 500
EVENT: Final = "event"
NAMESPACES: Final = ("target", "workspace", "campaign", "execution", EVENT)

_WORD = r"[^\W\d]\w{0,63}"
_INNER = rf"\s*({_WORD}(?:\.{_WORD}){{0,5}})\s*(?:\|([^{{}}]*))?"
_VARIABLE: Final = re.compile(rf"\{{\{{{_INNER}\}}\}}|\{{{_INNER}\}}")
_BRACE: Final = re.compile(r"[{}]")
# Control characters and the marks that turn text around; the joiners of Persian (U+200C, U+200D) stay.
_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_BREAKS: Final = re.compile("[\t\n\r\u2028\u2029]+")
_ALIASES: Final = {"target.phone": "target.landline"}
_FIRST_NAME: Final = "target.first_name"
_WHOLE_NAME: Final = "name"
_SPACES: Final[Mapping[str, Callable[[Facts], Mapping[str, Any]]]] = {
    name: attrgetter(name) for name in NAMESPACES
}

OnMissing = Literal["skip", "blank"]


class Ref(NamedTuple):
    """A variable in a body: its full name, its fallback (None when not written), where it stands.

    `space` and `key` are the two parts of the name.
    """

    name: str
    fallback: str | None
    start: int
    end: int
    space: str
    key: str


@dataclass(frozen=True, slots=True)
class Text:
    """A body, split. `stray` are the positions of braces that belong to no variable (they stay literal)."""

    body: str
    parts: tuple[str | Ref, ...]
    stray: tuple[int, ...] = ()

    @property
    def refs(self) -> tuple[Ref, ...]:
        return tuple(part for part in self.parts if isinstance(part, Ref))

    @property
    def names(self) -> tuple[str, ...]:
        """Full names of the variables, each once, in order of appearance."""
        return tuple(dict.fromkeys(ref.name for ref in self.refs))

    def places(self, names: Collection[str]) -> tuple[Ref, ...]:
        """Where the variables of `names` (such as the missing ones of a rendering) stand in the body."""
        return tuple(ref for ref in self.refs if ref.name in names)


class Used(NamedTuple):
    """A value in the rendered text: characters `start` to `end` came from `name` (or from its fallback)."""

    name: str
    start: int
    end: int
    is_fallback: bool


class Rendered(NamedTuple):
    """A rendered text.

    text: the message; variables without value and fallback are blank in it.
    used: what was inserted, with positions in `text`.
    missing: names without value and without fallback, each once. unknown: those of the text's names that
    the facts do not have at all. Where they stand: `Text.places`.
    skip: the message must not be sent: something is missing and the rule is "skip", or a property of the
    event is missing, whatever the rule.
    """

    text: str
    used: tuple[Used, ...]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    skip: bool


def parse_text(body: str) -> Text:
    """Split `body` at its variables. Linear, and never raises."""
    parts: list[str | Ref] = []
    stray: list[int] = []
    at = 0
    for match in _VARIABLE.finditer(body):
        start, end = match.span()
        if start > at:
            parts.append(body[at:start])
            stray.extend(brace.start() for brace in _BRACE.finditer(body, at, start))
        double = match.group(1) is not None
        name, fallback = match.group(1, 2) if double else match.group(3, 4)
        full = full_name(name)
        space, _, key = full.partition(".")
        parts.append(Ref(full, fallback, start, end, space, key))
        at = end
    if at < len(body):
        parts.append(body[at:])
        stray.extend(brace.start() for brace in _BRACE.finditer(body, at))
    return Text(body, tuple(parts), tuple(stray))


def full_name(name: str) -> str:
    """`namespace.name` for a name as written, aliases resolved."""
    space = name.partition(".")[0]
    full = name if space in NAMESPACES and "." in name else f"target.{name}"
    return _ALIASES.get(full, full)


def render(text: Text, facts: Facts, *, on_missing: OnMissing) -> Rendered:
    """Insert values from `facts`; see `Rendered`. Values are cleaned (`clean_value`)."""
    out: list[str] = []
    used: list[Used] = []
    missing: dict[str, None] = {}
    unknown: dict[str, None] = {}
    at = 0
    for part in text.parts:
        if isinstance(part, str):
            piece = part
        else:
            values = _SPACES[part.space](facts)
            value = clean_value(values.get(part.key))
            if not value:
                if part.key not in values:
                    unknown[part.name] = None
                if part.name == _FIRST_NAME:
                    value = clean_value(values.get(_WHOLE_NAME))
            is_fallback = not value
            if is_fallback and part.fallback is None:
                missing[part.name] = None
                continue
            piece = part.fallback or "" if is_fallback else value
            used.append(Used(part.name, at, at + len(piece), is_fallback))
        out.append(piece)
        at += len(piece)
    skip = bool(missing) and (on_missing == "skip" or any(name.startswith(f"{EVENT}.") for name in missing))
    return Rendered("".join(out), tuple(used), tuple(missing), tuple(unknown), skip)


def check_names(text: Text, known: Collection[str], *, any_event: bool = False) -> list[Problem]:
    """One problem `variable_unknown` (fields name, start, end) for each variable not in `known`.

    `known` holds full names; a name stands for itself wherever its alias is written. any_event: properties
    of the event are taken as they come, since events have no catalogue.
    """
    names = known if isinstance(known, (set, frozenset, Mapping)) else frozenset(known)
    return [
        Problem(code="variable_unknown", fields={"name": ref.name[:100], "start": ref.start, "end": ref.end})
        for ref in text.refs
        if ref.name not in names and not (any_event and ref.space == EVENT)
    ]


def clean_value(value: Any) -> str:
    """How a value reads in a message: one line, without control and direction marks, at most 500 long."""
    if isinstance(value, str):
        out = value
    elif value is None:
        return ""
    elif isinstance(value, bool):
        out = "true" if value else "false"
    elif isinstance(value, float) and value.is_integer():
        out = str(int(value))
    elif isinstance(value, datetime):
        out = value.isoformat(sep=" ", timespec="minutes")
    elif isinstance(value, date):
        out = value.isoformat()
    elif isinstance(value, (list, tuple)):
        out = ", ".join(map(clean_value, value))
    else:
        out = str(value)
    if not out.isprintable():
        out = _UNSAFE.sub("", _BREAKS.sub(" ", out))
    return out[:MAX_VALUE].strip()

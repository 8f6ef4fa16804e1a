"""Fields by name, and the three visible kinds of "no value" (see `engine.conditions`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final

from engine.types import Facts

Space = Callable[[Facts], Mapping[str, Any]]
Reading = tuple[str, Space, str]

SPACES: Final[Mapping[str, Space]] = {
    name: attrgetter(name) for name in ("target", "execution", "campaign", "workspace", "event")
}
_MISSING: Final = object()


class Presence(StrEnum):
    """Whether a subject has a value for a field."""

    MISSING = "missing"  # the subject has no such field
    NULL = "null"  # it has the field, without a value
    EMPTY = "empty"  # an empty text or list
    PRESENT = "present"


def split_field(field: str, about: str = "target") -> tuple[str, str]:
    """The namespace and the name; a bare name belongs to `about`."""
    space, dot, name = field.partition(".")
    return (space, name) if dot else (about, field)


def presence(facts: Facts, field: str) -> Presence:
    """Which of the three kinds of "no value" `field` is, if it is one."""
    space, name = split_field(field)
    return _kind(SPACES[space](facts).get(name, _MISSING)) if space in SPACES else Presence.MISSING


def readings_of(fields: Iterable[str]) -> tuple[Reading, ...]:
    """How to read each of `fields`, made once so that `absent` is quick."""
    split = (split_field(field) for field in sorted(fields))
    return tuple((f"{space}.{name}", SPACES[space], name) for space, name in split if space in SPACES)


def absent(readings: Sequence[Reading], facts: Facts) -> dict[str, str]:
    """The fields without a value, each with the word of its kind of "no value"."""
    found: dict[str, str] = {}
    for field, read, name in readings:
        value = read(facts).get(name, _MISSING)
        if (not value or value is _MISSING) and (kind := _kind(value)) is not Presence.PRESENT:
            found[field] = str(kind)
    return found


def _kind(value: object) -> Presence:
    if value is _MISSING:
        return Presence.MISSING
    if value is None:
        return Presence.NULL
    return Presence.EMPTY if value in ("", [], ()) else Presence.PRESENT

"""Whoever an execution runs for. The runtime knows only this protocol; kinds are registered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One person or thing, read at the moment of the step.

    `facts` are plain values for conditions and texts; `contacts` maps a channel to the canonical
    address ("" when there is none).
    """

    id: int
    status: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    contacts: Mapping[str, str] = field(default_factory=dict, repr=False)


Loader = Callable[[int, Iterable[int]], Mapping[int, Subject]]

_loaders: dict[str, Loader] = {}


def register_subject_type(kind: str, loader: Loader) -> None:
    """`loader(workspace_id, ids)` returns the existing subjects in a constant number of queries."""
    _loaders[kind] = loader


def load_subjects(workspace_id: int, wanted: Iterable[tuple[str, int]]) -> dict[tuple[str, int], Subject]:
    """The subjects that still exist, by (type, id)."""
    by_kind: dict[str, set[int]] = {}
    for kind, subject_id in wanted:
        by_kind.setdefault(kind, set()).add(subject_id)
    found: dict[tuple[str, int], Subject] = {}
    for kind, ids in by_kind.items():
        if loader := _loaders.get(kind):
            found |= {(kind, pk): subject for pk, subject in loader(workspace_id, sorted(ids)).items()}
    return found

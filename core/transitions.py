"""One UPDATE moves one row: legal moves are a table, and losing the race is an outcome, not an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db.models import F, Model, QuerySet

Edges = Mapping[str, frozenset[str]]
M = TypeVar("M", bound=Model)


class IllegalTransition(RuntimeError):
    """The table has no such move from any state."""


def sources_of(edges: Edges, to: str) -> list[str]:
    """The states from which `to` may be reached. Raises IllegalTransition when there is none."""
    sources = sorted(state for state, targets in edges.items() if to in targets)
    if not sources:
        raise IllegalTransition(f"nothing may become {to!r}")
    return sources


def try_transition(
    rows: QuerySet[M],
    *,
    edges: Edges,
    to: str,
    source: str | None = None,
    held: int | None = None,
    **columns: Any,
) -> bool:
    """Move the one row of `rows` to `to` if `edges` allows it from where the row now stands.

    One UPDATE, no read before it, so two workers cannot both win. `source` narrows the states it may
    come from; `held` is the revision this caller saw. True: what follows (audit, events) is ours, in
    this transaction. False: somebody else was faster. Raises IllegalTransition for a move not in the table.
    """
    allowed = sources_of(edges, to)
    if source is not None:
        if source not in allowed:
            raise IllegalTransition(f"{source!r} may not become {to!r}")
        allowed = [source]
    rows = rows.filter(status__in=allowed)
    if held is not None:
        rows = rows.filter(revision=held)
    return rows.update(status=to, revision=F("revision") + 1, **columns) == 1

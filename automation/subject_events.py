"""What happened to the subjects of executions. Events belong to another app: it registers its source here.

Until one does, no event is known: a goal is not reached, a wait for an event ends by its time-out alone,
and conditions about events are refused when a workflow is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from engine.types import Arrival

SubjectKey = tuple[str, int]
Asked = Mapping[SubjectKey, Mapping[str, datetime]]
Known = Mapping[SubjectKey, Sequence[Arrival]]


class EventSource(Protocol):
    """The keeper of events. An answer takes a constant number of queries, whoever is asked about."""

    def happened(self, workspace_id: int, asked: Asked) -> Known:
        """The events of each (type, id) by the names asked for, each from its moment on, in any order."""
        ...


_source: EventSource | None = None


def register_event_source(source: EventSource | None) -> EventSource | None:
    """Take events from `source` from now on; None takes the source away. Returns the one before.

    Compiled versions depend on whether there is one: register before the first is compiled.
    """
    global _source
    before, _source = _source, source
    return before


def is_available() -> bool:
    """Whether anybody can tell what happened to a subject."""
    return _source is not None


def happened(workspace_id: int, asked: Asked) -> Known:
    """What the source knows; nothing without a source, and no question when nothing is asked."""
    return _source.happened(workspace_id, asked) if _source is not None and asked else {}

"""The events of people, as the engine reads them and the runtime is told of them."""

from __future__ import annotations

from datetime import datetime

from automation import known_events
from automation.runtime.event_waits import deliver_event
from automation.subject_events import Asked, Known, SubjectKey, register_event_source
from engine.types import Arrival
from targets import event_delivery, events

TARGET = "target"


class TargetEvents:
    """`automation.subject_events.EventSource` over what `targets.events` keeps. One query a question."""

    def happened(self, workspace_id: int, asked: Asked) -> Known:
        people = {pk: names for (kind, pk), names in asked.items() if kind == TARGET}
        found: dict[SubjectKey, list[Arrival]] = {}
        for one in events.happened(workspace_id, people):
            arrival = Arrival(name=one.name, at=one.at, data=one.properties)
            found.setdefault((TARGET, one.target_id), []).append(arrival)
        return found


def wake(workspace_id: int, name: str, target_id: int, now: datetime) -> None:
    """`targets.event_delivery.Listener`: whoever waits for this event of this person goes on."""
    deliver_event(workspace_id, name, (TARGET, target_id), now)


def register() -> None:
    """Events of people exist from now on, in the words of `known_events`."""
    register_event_source(TargetEvents())
    event_delivery.register_listener("automation", wake)
    for event in known_events.BUILT_IN:
        known_events.register_event(event)

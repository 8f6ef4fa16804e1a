"""Events of people: recorded once, kept for ever, and told to whoever waits for them.

    record(workspace_id, [NewEvent(target_id=7, name="sms_received", key="sms:12", source="sms",
                                   occurred_at=when, properties={"keyword": "بله"})])

What is recorded is told after the commit (`targets.event_delivery`); a mark that is stored beside the event
stays until that is done, so nothing is lost when the process dies in between.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.db import transaction
from django.utils.translation import gettext as _

from core import clock
from core.bulk import insert_rows
from core.errors import Refused
from engine.event_leaves import MAX_NAME, RESERVED
from targets import event_delivery
from targets.models import TargetEvent, TargetEventPending

MAX_PROPERTIES: Final = 32
MAX_BYTES: Final = 512
MAX_KEY: Final = 100
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """One thing that happened. `key` tells it from every other of the workspace: a repetition has the same.

    `source` is a word for where it was seen. A moment to come is taken as now.
    """

    target_id: int
    name: str
    key: str
    source: str
    occurred_at: datetime
    properties: Mapping[Any, Any] = field(default_factory=dict)


class Happened(NamedTuple):
    """A stored event, as conditions and waits read it."""

    target_id: int
    name: str
    at: datetime
    properties: Mapping[str, Value]


def record(workspace_id: int, wanted: Sequence[NewEvent]) -> dict[str, int]:
    """Store events, with the caller's transaction if there is one; returns key -> id of those that are new.

    Two statements, however many. The people are the workspace's. Raises Refused for a name that is no
    lower-case word (`order_paid`), is reserved or too long, and for a key that is empty or too long.
    """
    for one in wanted:
        _checked(one)
    if not wanted:
        return {}
    now = clock.now()
    with transaction.atomic():
        rows = [_row(workspace_id, one, now) for one in {one.key: one for one in reversed(wanted)}.values()]
        made = {str(key): pk for pk, key in insert_rows(TargetEvent, rows, skip_conflicts=True)}
        ids = sorted(made.values())
        marks = [
            {"event_id": pk, "workspace_id": workspace_id, "due_at": now + event_delivery.GRACE} for pk in ids
        ]
        insert_rows(TargetEventPending, marks, answer=False)
        if ids:
            transaction.on_commit(lambda: event_delivery.wake(workspace_id, ids))
    return made


def _row(workspace_id: int, one: NewEvent, now: datetime) -> dict[str, Any]:
    return {
        "dedupe_key": one.key,
        "workspace_id": workspace_id,
        "target_id": one.target_id,
        "name": one.name,
        "occurred_at": min(one.occurred_at, now),
        "received_at": now,
        "properties": carried(one.properties),
        "source": one.source,
    }


def _checked(one: NewEvent) -> None:
    if len(one.name) > MAX_NAME or not _NAME.fullmatch(one.name):
        raise Refused(
            _("An event's name is made of small Latin letters, digits and underscores."), code="event_name"
        )
    if one.name in RESERVED:
        raise Refused(_("This name of an event is reserved."), code="event_reserved")
    if not 0 < len(one.key) <= MAX_KEY:
        raise Refused(_("An event needs a key of its own."), code="event_key")


def carried(properties: Mapping[Any, Any]) -> dict[str, Value]:
    """The properties that are kept: the first `MAX_PROPERTIES` by name of those that are plain and short.

    A value longer than `MAX_BYTES` bytes of UTF-8 is left out, not cut, before any are counted; so a
    repetition carries the same ones.
    """
    kept: dict[str, Value] = {}
    for name in sorted(name for name in properties if isinstance(name, str)):
        value = properties[name]
        if len(kept) == MAX_PROPERTIES:
            break
        if 0 < len(name) <= MAX_NAME and _is_storable(name) and _is_plain(value):
            kept[name] = value
    return kept


def _is_plain(value: object) -> bool:
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return len(str(value)) <= MAX_BYTES
    return isinstance(value, str) and _is_storable(value) and len(value.encode("utf-8")) <= MAX_BYTES


def _is_storable(text: str) -> bool:
    """PostgreSQL keeps neither the character NUL nor half of a surrogate pair."""
    return "\x00" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def happened(workspace_id: int, asked: Mapping[int, Mapping[str, datetime]]) -> Iterator[Happened]:
    """The events of each person by the names asked for, each from its moment on. One query."""
    names = {name for wanted in asked.values() for name in wanted}
    if not names:
        return
    since = min(moment for wanted in asked.values() for moment in wanted.values())
    rows = TargetEvent.objects.filter(
        workspace_id=workspace_id, target_id__in=list(asked), name__in=sorted(names), occurred_at__gte=since
    )
    for target_id, name, at, properties in rows.values_list("target_id", "name", "occurred_at", "properties"):
        begins = asked[target_id].get(name)
        if begins is not None and at >= begins:
            yield Happened(target_id, name, at, properties)


def by_keys(keys: Iterable[str]) -> dict[str, TargetEvent]:
    """The events of the active workspace with these keys. One query, none for no keys."""
    wanted = list(keys)
    if not wanted:
        return {}
    return {row.dedupe_key: row for row in TargetEvent.objects.filter(dedupe_key__in=wanted)}

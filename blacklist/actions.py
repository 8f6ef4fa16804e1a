"""Blocking and unblocking. Each action is one transaction: lock, change, audit.

The lock is the one that the send path takes on the numbers it is about to write to, so a block is
either seen by a sender or waits until the message is on record. Callers with long lists give them in
pieces of `CHUNK`, so that no sender waits long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import QuerySet

from blacklist.models import BlacklistEntry, Source
from blacklist.values import canonical
from core import clock
from core.errors import Invalid
from core.locks import lock_contacts
from core.tenancy import workspace_scope
from workspaces import audit
from workspaces.models import User

CHUNK = 500
AUDITED_VALUES = 100  # the log names this many numbers of one action and counts the rest


@dataclass(frozen=True, slots=True)
class InvalidValue:
    """One value that could not be read: its place among those given (from 0), its text and the reason."""

    index: int
    raw: str
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddResult:
    """What became of each value, in canonical spelling; a value given twice counts once."""

    added: tuple[str, ...] = ()
    reactivated: tuple[str, ...] = ()
    already: tuple[str, ...] = ()
    invalid: tuple[InvalidValue, ...] = ()

    @property
    def changed(self) -> int:
        return len(self.added) + len(self.reactivated)


@dataclass(slots=True)
class _Reading:
    values: list[str] = field(default_factory=list)
    invalid: list[InvalidValue] = field(default_factory=list)


def _read(channel: str, raws: Iterable[object]) -> _Reading:
    reading, seen = _Reading(), set()
    for index, raw in enumerate(raws):
        try:
            value = canonical(channel, raw)
        except Invalid as exc:
            reading.invalid.append(InvalidValue(index, str(raw)[:100], exc.code, str(exc)))
            continue
        if value not in seen:
            seen.add(value)
            reading.values.append(value)
    return reading


def add(
    *,
    workspace_id: int,
    channel: str,
    values: Iterable[object],
    source: str,
    reason: str,
    user: User | None,
    description: str = "",
) -> AddResult:
    """Block every readable value, in any spelling. A constant number of statements.

    A value that was unblocked earlier is blocked again and takes the new source and reason; one that is
    blocked already keeps its reason, so an import cannot turn an opt-out into something weaker. Only the
    source of a person's own no becomes the new one: from then on the person alone cannot lift it.
    """
    reading = _read(channel, values)
    reasons = {"source": source, "reason": reason, "description": description}
    added: list[str] = []
    again: list[str] = []
    already: list[str] = []
    if reading.values:
        with workspace_scope(workspace_id), transaction.atomic():
            lock_contacts(workspace_id, reading.values, exclusive=True)
            states = _states(channel, reading.values)
            active = {value for value, (is_active, _source) in states.items() if is_active}
            for value in reading.values:
                (added if value not in states else already if value in active else again).append(value)
            BlacklistEntry.objects.bulk_create(
                BlacklistEntry(
                    workspace_id=workspace_id, channel=channel, value=value, created_by=user, **reasons
                )
                for value in added
            )
            _activate(BlacklistEntry.objects.filter(channel=channel, value__in=again), again, user, **reasons)
            _take_over(channel, [v for v in already if states[v][1] == Source.OPT_OUT], source, user)
            _audit_add(channel, added, again, reasons, user)
    return AddResult(
        added=tuple(added), reactivated=tuple(again), already=tuple(already), invalid=tuple(reading.invalid)
    )


def _states(channel: str, values: list[str]) -> dict[str, tuple[bool, str]]:
    """Whether each known value is active now, and by which source."""
    rows = BlacklistEntry.objects.filter(channel=channel, value__in=values)
    return {value: (active, by) for value, active, by in rows.values_list("value", "is_active", "source")}


def _take_over(channel: str, values: list[str], source: str, user: User | None) -> None:
    """Somebody else blocks people who said no themselves: their yes must not lift that block."""
    if values and source != Source.OPT_OUT:
        rows = BlacklistEntry.objects.filter(channel=channel, value__in=values, source=Source.OPT_OUT)
        rows.update(source=source, updated_at=clock.now())
        old, new = {"source": Source.OPT_OUT}, {"source": source}
        _record(_added_event(source), channel, values, user, old=old, new=new)


def _added_event(source: str) -> str:
    return "blacklist.imported" if source == Source.IMPORT else "blacklist.added"


def _activate(rows: QuerySet[BlacklistEntry], values: list[str], user: User | None, **columns: str) -> None:
    if values:
        rows.update(
            is_active=True,
            removed_at=None,
            removed_by=None,
            created_by=user,
            updated_at=clock.now(),
            **columns,
        )


def _audit_add(
    channel: str, added: list[str], again: list[str], reasons: Mapping[str, str], user: User | None
) -> None:
    if added:
        _record(_added_event(str(reasons["source"])), channel, added, user, old=None, new=reasons)
    if again:
        new = {"active": True, **reasons}
        _record("blacklist.reactivated", channel, again, user, old={"active": False}, new=new)


def remove(
    *,
    workspace_id: int,
    channel: str,
    values: Iterable[object],
    user: User | None,
    only_source: str = "",
) -> tuple[str, ...]:
    """Unblock; returns the canonical values that were blocked until now. The rows stay.

    `only_source` leaves what another source blocked: a person takes back their own no and nobody else's.
    Nothing that was stopped by the block goes on by itself: executions need a manual resume.
    """
    wanted = _read(channel, values).values
    if not wanted:
        return ()
    with workspace_scope(workspace_id), transaction.atomic():
        lock_contacts(workspace_id, wanted, exclusive=True)
        rows = BlacklistEntry.objects.filter(channel=channel, value__in=wanted, is_active=True)
        if only_source:
            rows = rows.filter(source=only_source)
        removed = list(rows.order_by("value").values_list("value", flat=True))
        if removed:
            now = clock.now()
            rows.update(is_active=False, removed_at=now, removed_by=user, updated_at=now)
            _record("blacklist.removed", channel, removed, user, old={"active": True}, new={"active": False})
    return tuple(removed)


def reactivate(
    *, workspace_id: int, channel: str, values: Iterable[object], user: User | None
) -> tuple[str, ...]:
    """Block again what was unblocked, with the source and reason it had; returns the values that changed."""
    wanted = _read(channel, values).values
    if not wanted:
        return ()
    with workspace_scope(workspace_id), transaction.atomic():
        lock_contacts(workspace_id, wanted, exclusive=True)
        rows = BlacklistEntry.objects.filter(channel=channel, value__in=wanted, is_active=False)
        again = list(rows.order_by("value").values_list("value", flat=True))
        if again:
            rows.update(is_active=True, removed_at=None, removed_by=None, updated_at=clock.now())
            _record(
                "blacklist.reactivated", channel, again, user, old={"active": False}, new={"active": True}
            )
    return tuple(again)


def _record(
    event: str,
    channel: str,
    values: list[str],
    user: User | None,
    *,
    old: Mapping[str, object] | None,
    new: Mapping[str, object],
) -> None:
    """One audit row for one action: on the entry when it is one, else on the list as a whole."""
    subject = 0
    if len(values) == 1:
        subject = BlacklistEntry.objects.values_list("pk", flat=True).get(channel=channel, value=values[0])
    named = {"channel": channel, "values": values[:AUDITED_VALUES], "count": len(values)}
    audit.record(event, entity=(BlacklistEntry, subject), old=old, new={**named, **new}, user=user)

"""Who is blocked. One answer for enrolment, for the send path and for the pages."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, QuerySet

from blacklist.models import BlacklistEntry, Channel, Reason, Source
from core.errors import NotFound
from core.statements import read
from core.text import search_key, to_latin_digits


def blocked_values(workspace_id: int, channel: str, values: Iterable[str]) -> set[str]:
    """Which of the canonical `values` must not be written to through `channel`. One query (no values: none).

    The workspace is the one named here, whatever scope is active: a wrong scope must not unblock anybody.
    """
    wanted = {value for value in values if value}
    if not wanted:
        return set()
    active = {"workspace_id": workspace_id, "channel": channel, "value": wanted, "is_active": True}
    return {value for (value,) in read(BlacklistEntry, ("value",), active)}


def is_blocked(workspace_id: int, channel: str, value: str) -> bool:
    """`blocked_values` for one value."""
    return bool(blocked_values(workspace_id, channel, [value]))


def blocked_mobile(outer_field: str = "mobile") -> Exists:
    """A condition for query sets of other models: the number in `outer_field` is blocked for SMS."""
    rows = BlacklistEntry.objects.filter(channel=Channel.SMS, value=OuterRef(outer_field), is_active=True)
    return Exists(rows)


def entry_for(entry_id: int) -> BlacklistEntry:
    """One entry of the active workspace. Raises NotFound."""
    entry = BlacklistEntry.objects.filter(pk=entry_id).first()
    if entry is None:
        raise NotFound
    return entry


def entry_of(channel: str, value: str) -> BlacklistEntry | None:
    """The entry of a canonical value, active or removed."""
    if not value:
        return None
    return BlacklistEntry.objects.filter(channel=channel, value=value).select_related("created_by").first()


def entries(*, q: str = "", source: str = "", reason: str = "", state: str = "") -> QuerySet[BlacklistEntry]:
    """Entries of the active workspace, newest first. `state` is "active", "removed" or "" for both.

    `q` finds a part of the number in any digits, or of the description.
    """
    rows = BlacklistEntry.objects.select_related("created_by", "removed_by").order_by("-id")
    if source in Source.values:
        rows = rows.filter(source=source)
    if reason in Reason.values:
        rows = rows.filter(reason=reason)
    if state in ("active", "removed"):
        rows = rows.filter(is_active=state == "active")
    return _matching(rows, q)


def _matching(rows: QuerySet[BlacklistEntry], q: str) -> QuerySet[BlacklistEntry]:
    needle = search_key(q)
    if not needle:
        return rows
    digits = to_latin_digits(needle).replace(" ", "").removeprefix("+98").removeprefix("0098")
    if digits.isdigit():
        return rows.filter(value__contains=digits)
    return rows.filter(description__icontains=q.strip()) | rows.filter(value__icontains=needle)


def blocked_count() -> int:
    """Active entries of the active workspace."""
    return BlacklistEntry.objects.filter(is_active=True).count()

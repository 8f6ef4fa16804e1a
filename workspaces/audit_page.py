"""A row of the audit log as people read it: sentences, not keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import get_language, get_language_info, pgettext
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from core.address_keys import without_keys_in
from core.dates import format_date, format_datetime, format_number
from core.text import to_persian_digits
from workspaces import audit, queries
from workspaces.forms import AuditFilter
from workspaces.http import MemberRequest
from workspaces.models import AuditRecord

NOTHING = "—"
MAX_VALUE_LENGTH = 300
MOMENTS = ("_at", "_until", "day")  # keys that end so hold a moment or a day
NAMES = ("id", "ids", "_id", "sms_log", "values")  # keys that end so hold a name made of digits
DAYS = {
    "sat": _lazy("Saturday"),
    "sun": _lazy("Sunday"),
    "mon": _lazy("Monday"),
    "tue": _lazy("Tuesday"),
    "wed": _lazy("Wednesday"),
    "thu": _lazy("Thursday"),
    "fri": _lazy("Friday"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One value before and after; a side that did not exist is a dash."""

    label: str
    old: str
    new: str

    @property
    def was(self) -> bool:
        return self.old != NOTHING

    @property
    def now(self) -> bool:
        return self.new != NOTHING

    @property
    def same(self) -> bool:
        """Said to tell what the entry is about: nothing about it changed."""
        return self.old == self.new and self.was


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`who` is "" for the system itself."""

    at: datetime
    event: str
    label: str
    who: str
    entity_id: str
    changes: tuple[Change, ...]


def chosen(request: MemberRequest) -> tuple[AuditFilter, QuerySet[AuditRecord], dict[str, Any]]:
    """The filter of the address, the rows it leaves (newest first), and what narrows them."""
    form = AuditFilter(request.GET or None, members=list(queries.members_of(request.workspace)))
    wanted = form.cleaned_data if form.is_bound and form.is_valid() else {}
    rows = queries.audit_rows(request.workspace, event=wanted.get("event", ""), user=wanted.get("user"))
    return form, rows, {"event": wanted.get("event"), "user": wanted.get("user")}


def line(row: AuditRecord) -> Line:
    """`row.user` must be loaded. An event of an older release that is gone is shown by its key."""
    keys = [*row.old, *(key for key in row.new if key not in row.old)]
    if "count" in keys:
        keys = [key for key in keys if key != "ids"]  # how many says more than their numbers
    changes = (_change(row, key) for key in keys)
    return Line(
        at=row.created_at,
        event=row.event,
        label=str(audit.AUDIT_LABELS.get(row.event, row.event)),
        who=str(row.user) if row.user else "",
        entity_id=row.entity_id,
        changes=tuple(change for change in changes if change.was or change.now),
    )


def _change(row: AuditRecord, key: str) -> Change:
    return Change(
        label=str(audit.FIELD_LABELS.get(key, key)),
        old=_shown(row.entity_type, key, row.old[key]) if key in row.old else NOTHING,
        new=_shown(row.entity_type, key, row.new[key]) if key in row.new else NOTHING,
    )


def _shown(entity: str, key: str, value: Any) -> str:
    if value is None or value == "" or value == [] or value == {}:
        return NOTHING
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, (dict, list)) and key in audit.VALUE_TEXTS:
        text = audit.VALUE_TEXTS[key](value)
    elif isinstance(value, list):
        text = _joined(_shown(entity, key, item) for item in value)
    elif isinstance(value, dict) and isinstance(value.get("days"), dict):
        text = _hours(value["days"])
    elif isinstance(value, dict):
        text = _joined(f"{audit.FIELD_LABELS.get(k, k)}: {_shown(entity, k, v)}" for k, v in value.items())
    elif isinstance(value, (int, float)):
        text = str(value) if key.endswith(NAMES) else format_number(value, _language())
    else:
        text = _word(entity, key, str(value))
    return text if len(text) <= MAX_VALUE_LENGTH else text[: MAX_VALUE_LENGTH - 1] + "…"


def _hours(days: dict[str, Any]) -> str:
    """A sending window: its open days with their spans."""
    spans = {day: " ".join("-".join(map(str, span)) for span in days.get(day) or ()) for day in DAYS}
    text = _joined(f"{DAYS[day]} {text}" for day, text in spans.items() if text)
    return to_persian_digits(text) if _language() == "fa" else text


def _joined(parts: Iterable[str]) -> str:
    return pgettext("between the items of a list", ", ").join(parts)


def _language() -> str:
    return get_language() or settings.LANGUAGE_CODE


def _word(entity: str, key: str, value: str) -> str:
    for kind in (entity, ""):
        if (label := audit.VALUE_LABELS.get((kind, key), {}).get(value)) is not None:
            return str(label)
    if key == "language" and value in dict(settings.LANGUAGES):
        return str(get_language_info(value)["name_local"])
    if value == audit.SET:
        return _("set")
    if value == audit.NOT_SET:
        return _("not set")
    return _moment(value) if key.endswith(MOMENTS) else without_keys_in(value)


def _moment(value: str) -> str:
    """A stored day or moment as people write it, in the zone of the workspace; other text as it is."""
    try:
        if len(value) == len("2026-11-30"):
            return format_date(date.fromisoformat(value), _language())
        at = datetime.fromisoformat(value)
    except ValueError:
        return value
    return format_datetime(at, timezone.get_current_timezone_name(), _language()) if at.tzinfo else value

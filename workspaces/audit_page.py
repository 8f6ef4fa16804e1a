"""A row of the audit log as people read it: sentences, not keys."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils.translation import get_language_info, pgettext
from django.utils.translation import gettext as _

from workspaces import audit
from workspaces.models import AuditRecord, Role

NOTHING = "—"
MAX_VALUE_LENGTH = 300


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`who` is "" for the system itself."""

    at: datetime
    event: str
    label: str
    who: str
    entity_id: str
    changes: tuple[Change, ...]


def line(row: AuditRecord) -> Line:
    """`row.user` must be loaded. An event of an older release that is gone is shown by its key."""
    keys = [*row.old, *(key for key in row.new if key not in row.old)]
    return Line(
        at=row.created_at,
        event=row.event,
        label=str(audit.AUDIT_LABELS.get(row.event, row.event)),
        who=str(row.user) if row.user else "",
        entity_id=row.entity_id,
        changes=tuple(_change(key, row.old, row.new) for key in keys),
    )


def _change(key: str, old: dict[str, Any], new: dict[str, Any]) -> Change:
    return Change(
        label=str(audit.FIELD_LABELS.get(key, key)),
        old=_shown(key, old[key]) if key in old else NOTHING,
        new=_shown(key, new[key]) if key in new else NOTHING,
    )


def _shown(key: str, value: Any) -> str:
    if value is None or value == "" or value == [] or value == {}:
        return NOTHING
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, list):
        text = pgettext("between the items of a list", ", ").join(_shown(key, item) for item in value)
    elif isinstance(value, dict):
        text = pgettext("between the items of a list", ", ").join(
            f"{k}: {_shown(k, v)}" for k, v in value.items()
        )
    else:
        text = _word(key, str(value))
    return text if len(text) <= MAX_VALUE_LENGTH else text[: MAX_VALUE_LENGTH - 1] + "…"


def _word(key: str, value: str) -> str:
    if key == "role" and value in Role.values:
        return str(Role(value).label)
    if key == "language" and value in dict(settings.LANGUAGES):
        return str(get_language_info(value)["name_local"])
    if value == audit.SET:
        return _("set")
    return _("not set") if value == audit.NOT_SET else value

"""The block list as a file; the page and the JSON interface give the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.db import transaction
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from blacklist import queries
from blacklist.models import BlacklistEntry
from core.spreadsheets.export import Digits, csv_response, xlsx_response
from workspaces import audit
from workspaces.models import User


def export_response(conditions: Mapping[str, str], *, kind: str, user: User) -> HttpResponseBase:
    """The entries under `conditions` (of `EntryFilter`) as "csv" or "xlsx"; audited."""
    rows = queries.entries(**conditions)
    with transaction.atomic():
        new = {"format": kind, **{name: str(value) for name, value in conditions.items()}}
        audit.record("blacklist.exported", entity=(BlacklistEntry, 0), new=new, user=user)
    name = f"blacklist.{kind}"
    if kind == "csv":
        return csv_response(name, _with_header(rows.iterator(chunk_size=2_000)))
    return xlsx_response(name, _("Blacklist"), _header(), map(_cells, rows.iterator(chunk_size=2_000)))


def _header() -> list[str]:
    return [_("Number"), _("State"), _("Reason"), _("Source"), _("Note"), _("Added on")]


def _with_header(entries: Iterator[BlacklistEntry]) -> Iterator[list[object]]:
    yield list(_header())
    yield from map(_cells, entries)


def _cells(entry: BlacklistEntry) -> list[object]:
    return [
        Digits(entry.value),
        _("Blocked") if entry.is_active else _("Unblocked"),
        entry.get_reason_display(),
        entry.get_source_display(),
        entry.description,
        entry.created_at.date().isoformat(),
    ]

"""The block list as a file; the page and the JSON interface give the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from blacklist import queries
from blacklist.models import BlacklistEntry
from core.exporting import Digits, Table
from workspaces.downloads import send
from workspaces.http import MemberRequest


def export(request: MemberRequest, conditions: Mapping[str, str], kind: str) -> HttpResponseBase:
    """The entries under `conditions` (of `EntryFilter`) as `workspaces.downloads.send` answers."""
    rows = queries.entries(**conditions)
    return send(request, ENTRIES, rows, kind, chosen=conditions, event="blacklist.exported")


def _cells(chunk: Sequence[BlacklistEntry]) -> Iterator[list[object]]:
    for entry in chunk:
        state = _("Blocked") if entry.is_active else _("Unblocked")
        yield [
            Digits(entry.value), state, entry.get_reason_display(), entry.get_source_display(),
            entry.description, entry.created_at.date().isoformat(),
        ]  # fmt: skip


ENTRIES = Table(
    name="blacklist",
    title=gettext_lazy("Blacklist"),
    columns=(
        gettext_lazy("Number"), gettext_lazy("State"), gettext_lazy("Reason"), gettext_lazy("Source"),
        gettext_lazy("Note"), gettext_lazy("Added on"),
    ),
    cells=_cells,
)  # fmt: skip

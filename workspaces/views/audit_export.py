"""The audit log as a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from core.exporting import Digits, Table, moment
from workspaces import audit_page
from workspaces.decorators import permission_required
from workspaces.downloads import send
from workspaces.http import MemberRequest
from workspaces.models import AuditRecord
from workspaces.permissions import Perm


def _cells(chunk: Sequence[AuditRecord]) -> Iterator[list[object]]:
    for row in chunk:
        line = audit_page.line(row)
        changes = "\n".join(f"{change.label}: {change.old} → {change.new}" for change in line.changes)
        yield [
            moment(line.at), line.who or _("The system"), line.label, row.entity_type, Digits(line.entity_id),
            changes,
        ]  # fmt: skip


RECORDS = Table(
    name="audit-log",
    title=gettext_lazy("Audit log"),
    columns=(
        gettext_lazy("When"), gettext_lazy("Who"), gettext_lazy("What"), gettext_lazy("Kind"),
        gettext_lazy("Number"), gettext_lazy("Changes"),
    ),
    cells=_cells,
)  # fmt: skip


@require_safe
@permission_required(Perm.WORKSPACE_AUDIT)
def audit_export(request: MemberRequest, kind: str) -> HttpResponseBase:
    """The rows that the filter leaves."""
    _form, rows, chosen = audit_page.chosen(request)
    return send(request, RECORDS, rows, kind, chosen=chosen)

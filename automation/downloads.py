"""The workflows as a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from automation.builder import queries
from automation.forms import WorkflowFilter
from automation.models.definition import Workflow
from core.exporting import Digits, Table, moment
from workspaces.downloads import Wanted, view
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


def _cells(chunk: Sequence[Workflow]) -> Iterator[list[object]]:
    for row in chunk:
        version = row.published_version.version_number if row.published_version else ""
        draft = _("yes") if getattr(row, "has_draft", False) else _("no")
        yield [
            Digits(row.pk), row.name, row.description, row.category, row.get_kind_display(),
            row.get_status_display(), version, draft, getattr(row, "active_campaigns", 0),
            moment(row.created_at), moment(row.updated_at),
        ]  # fmt: skip


WORKFLOWS = Table(
    name="workflows",
    title=gettext_lazy("Workflows"),
    columns=(
        gettext_lazy("Number"), gettext_lazy("Name"), gettext_lazy("Description"), gettext_lazy("Category"),
        gettext_lazy("Kind"), gettext_lazy("Status"), gettext_lazy("Published version"),
        gettext_lazy("Draft"), gettext_lazy("Running campaigns"), gettext_lazy("Created"),
        gettext_lazy("Last change"),
    ),
    cells=_cells,
)  # fmt: skip


def _wanted(request: MemberRequest) -> Wanted[Workflow]:
    form = WorkflowFilter(request.GET, categories=queries.categories())
    chosen = {"status": form.value("status"), "category": form.value("category")}
    return queries.workflows(**chosen), chosen


workflows = view(WORKFLOWS, _wanted, Perm.WORKFLOWS_VIEW)

"""Downloads of tables by members: who took what out is a line in the audit log.

    people = downloads.view(PEOPLE, _wanted, Perm.TARGETS_VIEW)

is the view of `path("export.<slug:kind>", people)`; `_wanted(request)` gives the rows that the page shows and
the conditions they were chosen by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from core.exporting import Table, Text, as_file, download
from core.spreadsheets.export import Row
from workspaces import audit
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

EVENT = "table.downloaded"
M = TypeVar("M", bound=Model)
Wanted = tuple[QuerySet[M], Mapping[str, Any]]


def view(
    table: Table[M], wanted: Callable[[MemberRequest], Wanted[M]], *permissions: Perm, event: str = EVENT
) -> Callable[..., HttpResponseBase]:
    """The view of one table as a file, for members who hold one of `permissions`. See `send`."""

    @require_safe
    @permission_required(*permissions)
    def export(request: MemberRequest, kind: str) -> HttpResponseBase:
        rows, chosen = wanted(request)
        return send(request, table, rows, kind, chosen=chosen, event=event)

    return export


def send(
    request: MemberRequest, table: Table[M], rows: QuerySet[M], kind: str, *,
    chosen: Mapping[str, Any] | None = None, event: str = EVENT, entity: Model | None = None,
) -> StreamingHttpResponse:  # fmt: skip
    """The rows as a file, with one audit row about it. `chosen` are the filters they were chosen by, `entity`
    what the table is a part of. Raises what `core.exporting.download` raises; nothing is recorded then."""
    answer = download(table, rows, kind)
    filters = {name: str(value) for name, value in (chosen or {}).items() if value not in (None, "")}
    own = {"table": table.name} if event == EVENT else {}
    _record(request, event, entity or (rows.model, 0), {**own, "format": kind, **filters})
    return answer


def send_rows(
    request: MemberRequest, name: str, title: Text, columns: Sequence[Text], rows: Iterable[Row], kind: str,
    *, entity: Model,
) -> StreamingHttpResponse:  # fmt: skip
    """`send` for rows that are no rows of a model, such as the sums on a page."""
    answer = as_file(name, title, columns, rows, kind)
    _record(request, EVENT, entity, {"table": name, "format": kind})
    return answer


def _record(
    request: MemberRequest, event: str, entity: Model | tuple[type[Model], int], new: dict[str, str]
) -> None:
    with transaction.atomic():
        audit.record(event, entity=entity, new=new, user=request.user)

"""Downloads of tables by members: who took what out is a line in the audit log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import StreamingHttpResponse

from core.exporting import Table, Text, as_file, download
from core.spreadsheets.export import Row
from workspaces import audit
from workspaces.http import MemberRequest

EVENT = "table.downloaded"
M = TypeVar("M", bound=Model)


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

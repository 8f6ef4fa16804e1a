"""JSON of the block list: the whole list as a file, and a file into the list."""

from __future__ import annotations

from typing import Annotated, Literal

from django.http.response import HttpResponseBase
from ninja import File, Form, Query, Router, UploadedFile
from pydantic import ConfigDict

from blacklist import exporting
from blacklist.forms import EntryFilter
from blacklist.importing import import_numbers
from blacklist.models import Reason, Source
from workspaces.http import MemberRequest
from workspaces.json_api import Out, needs, route
from workspaces.permissions import Perm

router = Router()
FILE = {"schema": {"type": "string", "format": "binary"}}
TYPES = {
    "text/csv": FILE,
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": FILE,
}


class RowOut(Out):
    row: int
    column: str
    raw: str
    message: str


class ImportOut(Out):
    """Counts of distinct numbers; `examples` are the first cells that are no number."""

    model_config = Out.model_config | ConfigDict(
        json_schema_extra={
            "examples": [{"added": 2, "reactivated": 0, "already": 1, "invalid": 0, "examples": []}]
        }
    )

    added: int
    reactivated: int
    already: int
    invalid: int
    examples: list[RowOut]


@router.get(
    "/blacklist/export",
    **route("blacklist-export", {200: None}, 409, 422, extra={"responses": {200: {"content": TYPES}}}),
)
@needs(Perm.BLACKLIST_VIEW, Perm.BLACKLIST_MANAGE)
def export(
    request: MemberRequest,
    format: Literal["csv", "xlsx"] = "csv",  # the word callers write
    q: Annotated[str, Query(max_length=100)] = "",
    state: Literal["", "active", "removed"] = "",
    source: Source | Literal[""] = "",
    reason: Reason | Literal[""] = "",
) -> HttpResponseBase:
    """The entries that the conditions leave, as a file that `import` reads."""
    values = {"q": q, "state": state, "source": source, "reason": reason}
    return exporting.export(request, EntryFilter(values).conditions(), format)


@router.post("/blacklist/import", **route("blacklist-import", {200: ImportOut}, 400, 413, 422))
@needs(Perm.BLACKLIST_MANAGE)
def import_file(
    request: MemberRequest,
    file: Annotated[UploadedFile, File(description="xlsx or csv with a column of numbers, at most 10 MB")],
    reason: Annotated[Reason, Form()] = Reason.IMPORTED,
    description: Annotated[str, Form(max_length=500)] = "",
) -> ImportOut:
    """Block every number of the file's number column. Safe to repeat."""
    result = import_numbers(file, user=request.user, reason=reason, description=description)
    return ImportOut(
        added=result.added,
        reactivated=result.reactivated,
        already=result.already,
        invalid=result.invalid,
        examples=[
            RowOut(row=one.row, column=one.column, raw=one.raw, message=one.message)
            for one in result.examples
        ],
    )

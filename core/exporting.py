"""Tables to download: one way for all of them, in bounded memory, whatever their length.

    TABLE = Table(name="people", title=_("People"), columns=(_("Name"), _("Mobile")), cells=cells)
    return download(TABLE, rows, "csv")

Rows are read by their id, newest first, a chunk at a time: no statement and no transaction lasts as long as
the download. Everything that depends on the reader (workspace, language, time zone) is that of the call, also
for the chunks that are read after the view has returned.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from django.db.models import Model, QuerySet
from django.http import StreamingHttpResponse
from django.utils import timezone, translation
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from core.dates import format_number
from core.errors import NotFound, Refused
from core.spreadsheets.export import Digits, Row, csv_response, xlsx_stream
from core.tenancy import current_workspace_id, workspace_scope

__all__ = ["Digits", "Table", "as_file", "download", "moment"]

CHUNK: Final = 1_000
XLSX_ROWS: Final = 200_000  # a workbook is written to disk before its first byte leaves; csv has no limit
M = TypeVar("M", bound=Model)
Text = str | Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Generic[M]):
    """What a download is called and how rows become cells.

    cells: the cells of one chunk of rows, in the same order; it may ask the database for what the chunk
    needs, a constant number of times. Numbers stay numbers; phones, lines and ids are `Digits`.
    """

    name: str
    title: Text
    columns: Sequence[Text]
    cells: Callable[[Sequence[M]], Iterable[Row]]


def download(table: Table[M], rows: QuerySet[M], kind: str) -> StreamingHttpResponse:
    """`rows` (their own order does not matter) as `csv` or `xlsx`. Raises NotFound for another kind, Refused
    when there are more rows than a workbook is made of."""
    if kind == "xlsx":
        _refuse_too_many(rows)
    return as_file(table.name, table.title, table.columns, _as_the_reader(_read(table, rows)), kind)


def as_file(
    name: str, title: Text, columns: Sequence[Text], rows: Iterable[Row], kind: str
) -> StreamingHttpResponse:
    """Cells that are made already, or are made in the reader's surroundings, as `csv` or `xlsx`. Raises
    NotFound for another kind."""
    header = [str(column) for column in columns]
    if kind == "csv":
        return csv_response(f"{name}.csv", itertools.chain([header], rows))
    if kind == "xlsx":
        return xlsx_stream(f"{name}.xlsx", str(title), header, rows)
    raise NotFound


def moment(at: datetime | None) -> str:
    """A moment on the reader's clock as spreadsheets sort it, in the calendar that they know."""
    return timezone.localtime(at).strftime("%Y-%m-%d %H:%M:%S") if at else ""


def _refuse_too_many(rows: QuerySet[Any]) -> None:
    """Counts no further than the limit."""
    if rows.order_by()[XLSX_ROWS : XLSX_ROWS + 1].exists():
        text = _("A workbook holds at most %(limit)s rows. Download the csv file instead.")
        raise Refused(
            text % {"limit": format_number(XLSX_ROWS, translation.get_language() or "fa")},
            code="too_many_rows",
        )


def _read(table: Table[M], rows: QuerySet[M]) -> Iterator[list[Row]]:
    """Chunk by chunk, by id: one statement a chunk and those of `cells`."""
    newest_first, last = rows.order_by("-pk"), None
    while True:
        rest = newest_first if last is None else newest_first.filter(pk__lt=last)
        chunk = list(rest[:CHUNK])
        if chunk:
            yield list(table.cells(chunk))
        if len(chunk) < CHUNK:
            return
        last = chunk[-1].pk


def _as_the_reader(chunks: Iterator[list[Row]]) -> Iterator[Row]:
    """The rows of `chunks`, each chunk made in the workspace, language and zone of this call."""
    workspace_id, zone = current_workspace_id(), timezone.get_current_timezone()
    language = translation.get_language() or "fa"

    def rows() -> Iterator[Row]:
        while True:
            with workspace_scope(workspace_id), translation.override(language), timezone.override(zone):
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield from chunk

    return rows()

"""Spreadsheets for people to download, in which no cell can act as a formula."""

from __future__ import annotations

import csv
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import xlsxwriter
from django.http import HttpResponse, StreamingHttpResponse
from django.utils.translation import get_language, get_language_info

from core.text import strip_format_chars

XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_ACTS = re.compile("[\\s\u00a0]*[=+\\-@\uff1d\uff0b\uff0d\uff20\u2212\t\r]")
_MAX_CELL = 32_767
_EXACT = 10**15  # digits that a spreadsheet's number holds
_PIECE = 64 * 1024
_PREFIX = "peyk-export-"
Row = Sequence[object]
R = TypeVar("R", HttpResponse, StreamingHttpResponse)


def harmless(value: object) -> str:
    """The text of a cell that no spreadsheet program takes for a formula.

    Invisible characters go first, since programs skip them when they look for a formula; then a text
    that starts with a formula's sign gets an apostrophe. `restored` takes it off again.
    """
    text = strip_format_chars("" if value is None else str(value))[: _MAX_CELL - 1]
    return "'" + text if _ACTS.match(text) or text.startswith(("\n", "'")) else text


def restored(text: str) -> str:
    """The text before it was written: an apostrophe that guards a sign, or a tab that guards digits, goes."""
    rest = text[1:]
    if text.startswith("\t") and rest.isdecimal():
        return rest
    return rest if text.startswith("'") and (_ACTS.match(rest) or rest.startswith(("\n", "'"))) else text


class Digits(str):
    """Digits that name something: a phone, a line, an id. A spreadsheet must not take them for a number, or
    the zero in front and the last of nineteen digits are gone."""

    __slots__ = ()


class _Line:
    """A file for csv.writer that hands back what it was given."""

    def write(self, text: str) -> str:
        return text


def csv_lines(rows: Iterable[Row]) -> Iterator[bytes]:
    """UTF-8 with a mark (or Excel shows Persian as noise), every cell quoted, one row at a time.

    A tab in front keeps `Digits` text in Excel; whoever reads the file again loses it with other white space.
    """
    writer = csv.writer(_Line(), quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    yield b"\xef\xbb\xbf"
    for row in rows:
        yield str(writer.writerow([_csv_cell(cell) for cell in row])).encode()


def _csv_cell(cell: object) -> str:
    text = harmless(cell)
    return f"\t{text}" if isinstance(cell, Digits) and text.isdecimal() else text


def xlsx_bytes(title: str, header: Row, rows: Iterable[Row]) -> bytes:
    """A workbook of one sheet, in the reading direction of the active language.

    Numbers are numbers, so that they can be summed; every other cell is text.
    """
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
        return _workbook(folder, title, header, rows).read_bytes()


def _workbook(folder: str, title: str, header: Row, rows: Iterable[Row]) -> Path:
    path = Path(folder, "out.xlsx")
    with xlsxwriter.Workbook(str(path), {"constant_memory": True, "tmpdir": folder}) as book:
        bold = book.add_format({"bold": True})
        sheet = book.add_worksheet(re.sub(r"[\[\]:*?/\\']", " ", title)[:31])
        if get_language_info(get_language() or "en")["bidi"]:
            sheet.right_to_left()
        sheet.freeze_panes(1, 0)
        _write(sheet, 0, header, bold)
        for number, row in enumerate(rows, start=1):
            _write(sheet, number, row, None)
    return path


def _write(sheet: xlsxwriter.worksheet.Worksheet, number: int, row: Row, style: object) -> None:
    for column, cell in enumerate(row):
        if _is_number(cell):
            sheet.write_number(number, column, cell, style)
        else:
            sheet.write_string(number, column, harmless(cell), style)


def _is_number(cell: object) -> bool:
    """Whether a spreadsheet keeps all its digits: ids of nineteen digits are text."""
    if isinstance(cell, bool) or not isinstance(cell, int | Decimal):
        return False
    return -_EXACT < cell < _EXACT


class _Sent:
    """A finished file, read in pieces; its folder goes when the answer is closed, read or not."""

    def __init__(self, title: str, header: Row, rows: Iterable[Row]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX)
        try:
            self._path = _workbook(self._folder.name, title, header, rows)
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[bytes]:
        with self._path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece

    def close(self) -> None:
        self._folder.cleanup()


def disposition(file_name: str) -> str:
    """A download header for any name: an ASCII stand-in and the real name, both without controls."""
    name = re.sub(r'[\x00-\x1f\x7f/\\"]', "_", strip_format_chars(file_name)) or "file"
    plain = name.encode("ascii", "replace").decode().replace("?", "_")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def csv_response(file_name: str, rows: Iterable[Row]) -> StreamingHttpResponse:
    """A csv download, streamed."""
    response = StreamingHttpResponse(csv_lines(rows), content_type="text/csv; charset=utf-8")
    return _as_download(response, file_name)


def xlsx_response(file_name: str, title: str, header: Row, rows: Iterable[Row]) -> HttpResponse:
    """An xlsx download."""
    return _as_download(HttpResponse(xlsx_bytes(title, header, rows), content_type=XLSX_TYPE), file_name)


def xlsx_stream(file_name: str, title: str, header: Row, rows: Iterable[Row]) -> StreamingHttpResponse:
    """An xlsx download of many rows: written to disk row by row, sent from there in pieces."""
    response = StreamingHttpResponse(_Sent(title, header, rows), content_type=XLSX_TYPE)
    return _as_download(response, file_name)


def _as_download(response: R, file_name: str) -> R:
    response["Content-Disposition"] = disposition(file_name)
    response["X-Content-Type-Options"] = "nosniff"
    return response

"""Rows of an xlsx: checked, measured, then read by calamine."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import python_calamine

from core.spreadsheets.archive import check_contents, open_archive
from core.spreadsheets.refusal import FileRefused
from core.spreadsheets.scan import SheetFacts, SheetPart, scan_sheet, sheet_parts

Row = tuple[int, list[Any]]


def rows(path: Path) -> Iterator[Row]:
    """The rows of the first visible sheet that holds anything, with their numbers. Raises FileRefused."""
    with open_archive(path) as archive:
        check_contents(archive)
        part, facts = _first_filled(archive)
    try:
        with python_calamine.CalamineWorkbook.from_path(path) as workbook:
            yield from _read(workbook.get_sheet_by_name(part.name), facts)
    except python_calamine.CalamineError as exc:
        raise FileRefused("file_broken") from exc


def _first_filled(archive: zipfile.ZipFile) -> tuple[SheetPart, SheetFacts]:
    parts = sheet_parts(archive)
    for part in [part for part in parts if not part.hidden] or parts:
        facts = scan_sheet(archive, part)
        if facts.rows:
            return part, facts
    raise FileRefused("file_empty")


def _read(sheet: Any, facts: SheetFacts) -> Iterator[Row]:
    offset = sheet.start[1] if sheet.start else 0
    marks: dict[int, dict[int, str]] = {}
    for kind, places in (("formula", facts.formulas_without_value), ("error", facts.errors)):
        for row, column in places:
            marks.setdefault(row, {})[column] = kind
    number = 0
    for number, values in enumerate(sheet.iter_rows(), start=1):
        cells = [None] * offset + values
        if number in marks:
            _mark(cells, marks.pop(number))
        yield number, cells
    for number, columns in sorted(marks.items()):  # below what calamine calls the end of the sheet
        cells = []
        _mark(cells, columns)
        yield number, cells


def _mark(cells: list[Any], columns: dict[int, str]) -> None:
    for column, kind in columns.items():
        cells.extend([None] * (column + 1 - len(cells)))
        cells[column] = {"x": kind}

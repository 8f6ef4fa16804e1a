"""Spreadsheets for tests, made cell by cell: honest ones and hostile ones."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence

import xlsxwriter
from django.core.files.uploadedfile import SimpleUploadedFile

CONTENT_TYPES = (
    '<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/worksheets/sheet1.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>'
)
ROOT_RELS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Target="xl/workbook.xml" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>'
)
WORKBOOK = (
    '<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
    '<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>'
)
WORKBOOK_RELS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Target="worksheets/sheet1.xml" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"/></Relationships>'
)
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def upload(name: str, content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def csv_file(
    rows: Iterable[Sequence[object]], *, encoding: str = "utf-8", delimiter: str = ",", name: str = "a.csv"
) -> SimpleUploadedFile:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return upload(name, text.getvalue().encode(encoding))


def xlsx_file(rows: Iterable[Sequence[object]], *, name: str = "a.xlsx") -> SimpleUploadedFile:
    """Text as text, numbers as numbers, `=…` as a formula with its value unknown."""
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        sheet = book.add_worksheet()
        for line, row in enumerate(rows):
            for column, cell in enumerate(row):
                if isinstance(cell, str) and cell.startswith("="):
                    sheet.write_formula(line, column, cell, None, "")
                elif isinstance(cell, str):
                    sheet.write_string(line, column, cell)
                elif cell is not None:
                    sheet.write(line, column, cell)
    return upload(name, buffer.getvalue())


def sheet_xml(cells: str, *, before: str = "") -> str:
    return (
        f'<?xml version="1.0"?>{before}<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'
    )


def packed(
    sheet: str | bytes = sheet_xml('<row r="1"><c r="A1"><v>1</v></c></row>'),
    *,
    extra: Mapping[str, str | bytes] | None = None,
    without: Sequence[str] = (),
) -> bytes:
    """A minimal xlsx around one worksheet; `extra` adds or replaces parts, `without` drops them."""
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": CONTENT_TYPES,
        "_rels/.rels": ROOT_RELS,
        "xl/workbook.xml": WORKBOOK,
        "xl/_rels/workbook.xml.rels": WORKBOOK_RELS,
        "xl/worksheets/sheet1.xml": sheet,
        **(extra or {}),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            if name not in without:
                archive.writestr(name, content)
    return buffer.getvalue()

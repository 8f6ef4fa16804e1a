"""One pass over a worksheet before any library sees it: how large is it really, and which cells mislead.

The XML is parsed as a stream. Only cells that hold something count, so a sheet that was merely
formatted to its last row is small, and one with two cells in opposite corners is refused at once.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from dataclasses import dataclass, field
from typing import Any, BinaryIO, cast
from xml.parsers import expat

import defusedxml.ElementTree as SafeTree

from core.spreadsheets import limits
from core.spreadsheets.archive import DAMAGE, WORKBOOK, forbid_declarations
from core.spreadsheets.refusal import FileRefused, column_letters

_REFERENCE = re.compile(r"([A-Za-z]{1,3})([1-9][0-9]{0,6})").fullmatch
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_STRICT_RELATION = "{http://purl.oclc.org/ooxml/officeDocument/relationships}id"
_SHEET_ROWS, _SHEET_COLUMNS = 1_048_576, 16_384
_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class SheetPart:
    """A worksheet of the workbook and the zip entry it lies in."""

    name: str
    path: str
    hidden: bool


@dataclass(slots=True)
class SheetFacts:
    """What a scan found. Positions are (row from 1, column from 0)."""

    rows: int = 0
    first_row: int = 0
    last_row: int = 0
    first_column: int = _SHEET_COLUMNS
    last_column: int = -1
    formulas_without_value: set[tuple[int, int]] = field(default_factory=set)
    errors: set[tuple[int, int]] = field(default_factory=set)


def sheet_parts(archive: zipfile.ZipFile) -> list[SheetPart]:
    """The worksheets in the order of their tabs. Raises FileRefused."""
    workbook = _tree(archive, WORKBOOK)
    relations = {
        node.get("Id", ""): node.get("Target", "") for node in _tree(archive, "xl/_rels/workbook.xml.rels")
    }
    names, parts = set(archive.namelist()), []
    for node in workbook.iter():
        if _local(node.tag) != "sheet":
            continue
        target = relations.get(node.get(_RELATION) or node.get(_STRICT_RELATION) or "", "")
        path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")
        if path in names and "worksheets/" in path:
            parts.append(SheetPart(node.get("name", ""), path, node.get("state", "visible") != "visible"))
    if not parts:
        raise FileRefused("zip_no_workbook")
    return parts


def _tree(archive: zipfile.ZipFile, name: str) -> Any:
    try:
        if archive.getinfo(name).file_size > limits.RATIO_FREE:
            raise FileRefused("file_broken")
        return SafeTree.fromstring(archive.read(name), forbid_dtd=True)
    except (KeyError, SafeTree.ParseError, *DAMAGE) as exc:
        raise FileRefused("file_broken") from exc


def _local(tag: object) -> str:
    return str(tag).rpartition("}")[2]


def scan_sheet(archive: zipfile.ZipFile, part: SheetPart) -> SheetFacts:
    """Measure one worksheet. Raises FileRefused as soon as a limit is passed, naming the cell."""
    scanner = _Scanner(part.name)
    try:
        with archive.open(part.path) as stream:
            scanner.read(cast(BinaryIO, stream))
    except (expat.ExpatError, *DAMAGE) as exc:
        raise FileRefused("file_broken") from exc
    return scanner.facts


class _Scanner:
    """Handlers of one pass. They run once for every element: attributes and few branches, no objects.

    A cell is counted when its value (`v` or `is`) or its formula begins; an ending is looked at only
    inside a formula cell, whose stored value may be missing or empty.
    """

    def __init__(self, sheet: str) -> None:
        self.sheet = sheet
        self.facts = SheetFacts()
        self._row = 0
        self._column = -1
        self._counted_row = 0
        self._error = False
        self._value: str | None = None  # of the formula cell at hand
        self._columns: dict[str, int] = {}

    def read(self, stream: BinaryIO) -> None:
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        forbid_declarations(parser)
        parser.StartElementHandler = self._start
        while block := stream.read(_BLOCK):
            parser.Parse(block, False)
        parser.Parse(b"", True)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag if len(tag) < 4 else tag.rpartition(":")[2]
        if name == "c":
            self._begin_cell(attributes)
        elif name == "v" or name == "is":
            self._count()
            if self._value is not None:
                self._parser.CharacterDataHandler = self._text
        elif name == "f":
            self._count()
            self._value = ""
            self._parser.EndElementHandler = self._end
        elif name == "row":
            number = attributes.get("r", "")
            self._row = int(number) if number.isdecimal() and len(number) < 8 else self._row + 1
            self._column = -1

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        self._error = attributes.get("t") == "e"
        reference = attributes.get("r")
        if reference is None:
            self._column += 1
            return
        match = _REFERENCE(reference)
        if match is None:
            raise FileRefused("file_broken")
        letters, row = match.groups()
        self._row = int(row)
        column = self._columns.get(letters)
        self._column = self._number(letters) if column is None else column

    def _number(self, letters: str) -> int:
        number = 0
        for letter in letters.upper():
            number = number * 26 + ord(letter) - 64
        self._columns[letters] = number - 1
        return number - 1

    def _text(self, text: str) -> None:
        self._value = (self._value or "") + text[:8]

    def _end(self, tag: str) -> None:
        if tag.rpartition(":")[2] != "c":
            return
        if not self._value:
            self.facts.formulas_without_value.add((self._row, self._column))
        self._value = None
        self._parser.EndElementHandler = self._parser.CharacterDataHandler = None

    def _count(self) -> None:
        facts, row, column = self.facts, self._row, self._column
        if self._error:
            facts.errors.add((row, column))
        if row != self._counted_row:
            self._counted_row = row
            facts.rows += 1
            facts.first_row = min(facts.first_row or row, row)
            facts.last_row = max(facts.last_row, row)
            self._check(row, column)
        if column > facts.last_column:
            facts.last_column = column
            self._check(row, column)
        if column < facts.first_column:
            facts.first_column = column
            self._check(row, column)

    def _check(self, row: int, column: int) -> None:
        facts, where = self.facts, column_letters(column)
        if column >= limits.MAX_COLUMNS:
            raise FileRefused(
                "too_many_columns", limit=limits.MAX_COLUMNS, row=row, column=where, sheet=self.sheet
            )
        if facts.rows > limits.MAX_ROWS + 1 or row > _SHEET_ROWS:
            raise FileRefused("too_many_rows", limit=limits.MAX_ROWS, sheet=self.sheet)
        height = facts.last_row - facts.first_row + 1
        if height * (facts.last_column - facts.first_column + 1) > limits.MAX_CELLS:
            raise FileRefused("too_many_cells", row=row, column=where, sheet=self.sheet)

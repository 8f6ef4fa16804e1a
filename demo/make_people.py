"""Write the demo's spreadsheet: `python -m demo.make_people [FILE] [ROWS]`.

The same rows always give the same bytes, so the committed file can be checked against this.
"""

from __future__ import annotations

import sys
from datetime import date, datetime
from pathlib import Path

import xlsxwriter

from demo import people

DEFAULT_FILE = Path(__file__).resolve().parent / "people.xlsx"
MADE_AT = datetime(2024, 3, 20)  # noqa: DTZ001  # a fixed stamp: the file must not change by itself


def write(path: Path, count: int = people.DEFAULT_ROWS) -> None:
    """Write `count` rows and their header to `path`, a row at a time."""
    with xlsxwriter.Workbook(str(path), {"constant_memory": True}) as book:
        book.set_properties({"title": "مشتریان", "created": MADE_AT})
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        sheet = book.add_worksheet("مشتریان")
        sheet.right_to_left()
        for column, title in enumerate(people.HEADER):
            sheet.write_string(0, column, title)
        for line, row in enumerate(people.rows(count), start=1):
            for column, cell in enumerate(row):
                _write(sheet, line, column, cell, day)


def _write(sheet: xlsxwriter.worksheet.Worksheet, line: int, column: int, cell: object, day: object) -> None:
    match cell:
        case None:
            pass
        case people.Formula(text=text, value=value):
            sheet.write_formula(line, column, text, None, value)
        case date():
            sheet.write_datetime(line, column, datetime(cell.year, cell.month, cell.day), day)  # noqa: DTZ001
        case int():
            sheet.write_number(line, column, cell)
        case _:
            sheet.write_string(line, column, str(cell))


def main(arguments: list[str]) -> None:
    """Entry point."""
    path = Path(arguments[0]) if arguments else DEFAULT_FILE
    write(path, int(arguments[1]) if len(arguments) > 1 else people.DEFAULT_ROWS)


if __name__ == "__main__":
    main(sys.argv[1:])

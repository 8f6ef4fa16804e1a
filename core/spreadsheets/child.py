"""The process that reads one file: `python -m core.spreadsheets.child FILE OUTPUT`.

It sets its own limits first, then writes one JSON line `[row number, [cells]]` for each row with
something in it to OUTPUT (gzip) and one JSON object to standard output: what it read, or why not.
Cells are text, numbers and null; `{"d": "2026-11-30"}` is a date, `{"x": "formula"}` a formula without
a stored value, `{"x": "error"}` a cell in error, `{"x": "long"}` a text over the limit.
"""

from __future__ import annotations

import datetime
import gzip
import json
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.spreadsheets import limits
from core.spreadsheets.refusal import FileRefused, column_letters

_INVISIBLE = " \t\r\n\u00a0\u200b\u200c\u200d\u200e\u200f\ufeff"
EXACT = 10**15  # spreadsheets keep fifteen digits; a longer whole number is a rounded one


def limit_this_process() -> None:
    """Memory, processor time, output and open files; no core dump, no child processes."""
    for kind, value in (
        (resource.RLIMIT_AS, limits.CHILD_MEMORY),
        (resource.RLIMIT_CPU, limits.CHILD_CPU_SECONDS),
        (resource.RLIMIT_FSIZE, limits.CHILD_OUTPUT),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ):
        _soft, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def kind_of(path: Path) -> str:
    """`xlsx` or `csv` by content. Raises FileRefused for everything else, naming what it is."""
    with path.open("rb") as file:
        head = file.read(4_096)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "xlsx"
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        whole = path.read_bytes()
        raise FileRefused("file_encrypted" if "EncryptedPackage".encode("utf-16-le") in whole else "file_xls")
    opening = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if opening.startswith((b"<!doctype html", b"<html", b"<table", b"<head", b"<meta")):
        raise FileRefused("file_html")
    known = (
        b"%pdf",
        b"\x89png",
        b"\xff\xd8\xff",
        b"gif8",
        b"<?xml",
        b"<svg",
        b"{\\rtf",
        b"\x1f\x8b",
        b"rar!",
        b"7z\xbc",
    )
    if opening.startswith(known):
        raise FileRefused("file_not_spreadsheet")
    if not head.strip():
        raise FileRefused("file_empty")
    return "csv"


def table(path: Path) -> Iterator[tuple[int, list[Any]]]:
    """Rows with something in them, cells tidied and trailing empty ones cut."""
    if kind_of(path) == "xlsx":
        from core.spreadsheets import xlsx

        source: Iterator[tuple[int, list[Any]]] = xlsx.rows(path)
    else:
        from core.spreadsheets import csv_text

        source = csv_text.rows(path)
    for number, values in source:
        cells = [tidy(value) for value in values]
        while cells and cells[-1] is None:
            cells.pop()
        if len(cells) > limits.MAX_COLUMNS:
            column = column_letters(limits.MAX_COLUMNS)
            raise FileRefused(
                "too_many_columns", limit=limits.MAX_COLUMNS, row=number, column=column, sheet=""
            )
        if cells:
            yield number, cells


def tidy(value: Any) -> Any:
    """One cell as JSON can say it."""
    if type(value) is str:
        return _tidy_text(value)
    match value:
        case None | dict():
            return value
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            return int(value) if value.is_integer() and abs(value) < EXACT else value
        case datetime.datetime():
            day, time = value.date().isoformat(), value.time()
            return {"d": day} if time == datetime.time() else f"{day} {time:%H:%M}"
        case datetime.date():
            return {"d": value.isoformat()}
        case datetime.time():
            return f"{value:%H:%M}"
        case int():
            return value
    return _tidy_text(str(value))


def _tidy_text(text: str) -> Any:
    if not text or not text.strip(_INVISIBLE):
        return None
    if len(text) > limits.MAX_CELL_TEXT:
        return {"x": "long"}
    return text.replace("\x00", "\ufffd") if "\x00" in text else text


def convert(source: Path, output: Path) -> dict[str, Any]:
    """Write the rows of `source` to `output`; returns their number, their width and the last row's number.

    Raises FileRefused.
    """
    encode = json.JSONEncoder(ensure_ascii=False).encode
    count = width = number = 0
    with gzip.open(output, "wt", encoding="utf-8", compresslevel=1) as lines:
        for number, cells in table(source):
            count += 1
            if count > limits.MAX_ROWS + 1:
                raise FileRefused("too_many_rows", limit=limits.MAX_ROWS, sheet="")
            width = max(width, len(cells))
            lines.write(encode([number, cells]) + "\n")
    if not count:
        raise FileRefused("file_empty")
    return {"rows": count, "columns": width, "last_row": number, "kind": kind_of(source)}


def main() -> None:
    """Entry point."""
    limit_this_process()
    try:
        answer = convert(Path(sys.argv[1]), Path(sys.argv[2]))
    except FileRefused as refused:
        answer = {"refused": refused.code, "fields": refused.fields}
    except MemoryError:
        answer = {"refused": "file_too_complex", "fields": {}}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()

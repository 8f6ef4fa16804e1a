"""Reading a spreadsheet somebody uploaded: in a child process with limits, as a stream of tidy rows.

The upload itself is never kept. What stays is the child's output, JSON lines that hold nothing but
text, numbers and dates, and the rest of the program reads only that.
"""

from __future__ import annotations

import gzip
import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import IO, Any, Literal

import structlog
from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core.dates import in_digits_of_the_reader
from core.errors import Invalid
from core.spreadsheets import limits
from core.text import strip_format_chars

log = structlog.get_logger(__name__)
MAX_NAME = 120
# Any text can be read as a table; only a name that promises one makes it one. Programs write csv as xls, too.
TEXT_NAMES = frozenset({".csv", ".tsv", ".tab", ".txt", ".xls", ".xlsx", ""})

MESSAGES: dict[str, Promise] = {
    "file_missing": _("Choose a file."),
    "file_too_large": _("“%(file)s” is larger than %(limit)s MB."),
    "file_empty": _("“%(file)s” is empty: there is not a single filled cell in it."),
    "file_not_spreadsheet": _("“%(file)s” is not a spreadsheet. Choose an xlsx or csv file."),
    "file_html": _("“%(file)s” is a web page with a spreadsheet's name. Open it and save it as xlsx."),
    "file_xls": _("“%(file)s” is in the old xls format, whatever its name says. Save it as xlsx."),
    "file_xlsb": _("“%(file)s” is in the xlsb format. Save it as xlsx."),
    "file_ods": _("“%(file)s” is an OpenDocument spreadsheet. Save it as xlsx or csv."),
    "file_encrypted": _("“%(file)s” is protected by a password. Save it without one."),
    "file_macros": _("“%(file)s” holds macros. Save it as xlsx without macros."),
    "file_broken": _("“%(file)s” is damaged and cannot be read. Save it again and retry."),
    "file_too_complex": _("“%(file)s” could not be read within the time and memory allowed for one file."),
    "zip_entries": _("“%(file)s” holds %(count)s parts; a spreadsheet never has more than %(limit)s."),
    "zip_unpacked": _("“%(file)s” unpacks to far more than %(limit)s MB."),
    "zip_path": _("“%(file)s” holds parts with forbidden names."),
    "zip_nested": _("“%(file)s” holds another file inside it. Remove the embedded file."),
    "zip_no_workbook": _("“%(file)s” is a compressed file without a spreadsheet in it."),
    "xml_declarations": _("“%(file)s” declares XML entities, which no spreadsheet needs."),
    "too_many_rows": _("“%(file)s” has more than %(limit)s filled rows. Split it into smaller files."),
    "too_many_columns": _(
        "“%(file)s” has more than %(limit)s columns: look at row %(row)s, column %(column)s."
    ),
    "too_many_cells": _("The cells of “%(file)s” lie too far apart: look at row %(row)s, column %(column)s."),
    "csv_encoding": _("Row %(row)s of “%(file)s” is in an unknown encoding. Save the file as CSV UTF-8."),
    "csv_quotes": _("A quotation mark of “%(file)s” that opens near row %(row)s is not closed properly."),
    "csv_long_field": _("Row %(row)s of “%(file)s” holds an enormous cell; a quotation mark may be missing."),
}


class FileProblem(Invalid):
    """The file cannot be used. `code` is a key of MESSAGES; the sentence names file, row and column."""

    def __init__(self, code: str, *, file: str, **fields: Any) -> None:
        super().__init__(MESSAGES[code], code=code, file=file, **fields)

    def __str__(self) -> str:
        return str(self.message) % in_digits_of_the_reader(self.fields)


@dataclass(frozen=True, slots=True)
class Unusable:
    """A cell without a value to use: a formula never computed, an error, or far too much text."""

    kind: Literal["formula", "error", "long"]

    def __str__(self) -> str:
        return {"formula": "=…", "error": "#…", "long": "…"}[self.kind]


Cell = str | int | float | date | Unusable | None


@dataclass(frozen=True, slots=True)
class SheetRow:
    """`number` is the row's number in the spreadsheet. Trailing empty cells are not there."""

    number: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A file that was read: `rows` filled rows, the widest of `columns` cells, at `path` for now."""

    path: Path
    size: int
    rows: int
    columns: int
    last_row: int

    def __iter__(self) -> Iterator[SheetRow]:
        with self.path.open("rb") as file:
            yield from _lines(file)

    def keep(self, folder: str) -> str:
        """Put the rows into the upload storage under a random name; returns it for `stored_rows`."""
        with self.path.open("rb") as file:
            return default_storage.save(f"{folder}/{secrets.token_hex(16)}.rows", File(file))


def stored_rows(name: str) -> Iterator[SheetRow]:
    """The rows kept by `Table.keep`. Raises FileNotFoundError when they were deleted."""
    with default_storage.open(name, "rb") as file:
        yield from _lines(file)


def forget_rows(name: str) -> None:
    """Delete kept rows; nothing happens when they are gone."""
    if name:
        default_storage.delete(name)


def _lines(file: IO[bytes]) -> Iterator[SheetRow]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            number, cells = json.loads(line)
            yield SheetRow(number, tuple(map(_cell, cells)))


def _cell(value: Any) -> Cell:
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]  # text, number or null
    return date.fromisoformat(value["d"]) if "d" in value else Unusable(value["x"])


def clean_name(name: str | None) -> str:
    """A file name fit to be shown: no folders, no invisible or turning characters, not too long."""
    last = strip_format_chars(name or "").replace("\\", "/").rsplit("/", 1)[-1]
    return " ".join(last.split())[-MAX_NAME:] or "file"


@contextmanager
def reading(file: File[bytes]) -> Iterator[Table]:
    """Read an upload; the table is there until the block ends. Raises FileProblem.

    The size is counted while copying, whatever the upload claimed about itself.
    """
    name = clean_name(file.name)
    with tempfile.TemporaryDirectory(prefix="peyk-sheet-") as folder:
        source, output = Path(folder, "in"), Path(folder, "out")
        size = _copy(file, source, name)
        answer = _run_child(source, output)
        if "refused" in answer:
            raise FileProblem(answer["refused"], file=name, **answer["fields"])
        if answer["kind"] == "csv" and Path(name).suffix.lower() not in TEXT_NAMES:
            raise FileProblem("file_not_spreadsheet", file=name)
        yield Table(output, size, answer["rows"], answer["columns"], answer["last_row"])


def _copy(file: File[bytes], to: Path, name: str) -> int:
    size = 0
    with to.open("wb") as copy:
        for chunk in file.chunks():
            size += len(chunk)
            if size > limits.MAX_BYTES:
                raise FileProblem("file_too_large", file=name, limit=limits.MAX_BYTES // 1024 // 1024)
            copy.write(chunk)
    return size


def _run_child(source: Path, output: Path) -> Mapping[str, Any]:
    """Whatever kills the child (memory, time, a bug of a library) is a refusal of the file."""
    command = [sys.executable, "-m", "core.spreadsheets.child", str(source), str(output)]
    environment = {
        "PYTHONPATH": str(settings.BASE_DIR),
        "PYTHONDONTWRITEBYTECODE": "1",
        "RUST_BACKTRACE": "0",
    }
    environment |= {
        key: os.environ[key] for key in ("PATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV") if key in os.environ
    }
    try:
        done = subprocess.run(
            command,
            cwd=source.parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limits.CHILD_WALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        log.warning("sheet_reader_timed_out")
        return {"refused": "file_too_complex", "fields": {}}
    if done.returncode:
        log.warning("sheet_reader_died", returncode=done.returncode)
        return {"refused": "file_broken" if done.returncode > 0 else "file_too_complex", "fields": {}}
    answer: Mapping[str, Any] = json.loads(done.stdout)
    return answer

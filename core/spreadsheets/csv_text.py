"""Rows of a csv: encoding found, delimiter found, every oddity named with its line."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from core.spreadsheets import limits
from core.spreadsheets.refusal import FileRefused

DELIMITERS = ",;\t|"
_BOMS = (  # the longer ones first: UTF-32 begins like UTF-16
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_CONTROL = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n?", re.IGNORECASE)
_SAMPLE = 20


def rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows with their line numbers (a record of several lines has the number of its first).

    Raises FileRefused.
    """
    text = decode(path.read_bytes())
    declared = _SEPARATOR_LINE.match(text)
    if declared:
        text = "\n" + text[declared.end() :]
    delimiter = declared[1] if declared else find_delimiter(text)
    csv.field_size_limit(limits.MAX_FIELD)
    reader = csv.reader(io.StringIO(text, newline=None), delimiter=delimiter, strict=True)
    number = 1
    while True:
        try:
            row = next(reader, None)
        except csv.Error as exc:
            raise FileRefused(_trouble(exc), row=number) from exc
        if row is None:
            return
        if number > limits.MAX_LINES:
            raise FileRefused("too_many_rows", limit=limits.MAX_ROWS, sheet="")
        yield number, row
        number = reader.line_num + 1


def _trouble(error: csv.Error) -> str:
    return "csv_long_field" if "field larger" in str(error) else "csv_quotes"


def decode(data: bytes) -> str:
    """The text of the file. UTF-8, UTF-16 and UTF-32 with or without a mark, else windows-1256.

    NUL characters become U+FFFD, which no field accepts. Raises FileRefused for what is no text.
    """
    text = _decoded(data)
    if len(_CONTROL.findall(text[:100_000])) > len(text[:100_000]) // 200:
        raise FileRefused("file_not_spreadsheet")
    return text.replace("\x00", "\ufffd").removeprefix("\ufeff")


def _decoded(data: bytes) -> str:
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "") or _utf16_without_mark(data)
    if encoding:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError as exc:
            broken = data[: exc.start].decode(encoding, errors="replace")
            raise FileRefused("csv_encoding", row=broken.count("\n") + 1) from exc
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as exc:
        return _windows_1256(data, exc)


def _utf16_without_mark(data: bytes) -> str:
    """UTF-16 puts a zero byte beside every Latin digit, comma and line break, always on the same side."""
    sample = data[:4_000]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if max(even, odd) * 20 < len(sample):
        return ""
    return "utf-16-le" if odd > even * 4 else "utf-16-be" if even > odd * 4 else ""


def _windows_1256(data: bytes, error: UnicodeDecodeError) -> str:
    """The old Persian and Arabic code page, if the bytes make words in it; else the first broken line."""
    text = data.decode("cp1256")
    foreign = [c for c in text[:200_000] if ord(c) > 127]
    letters = sum("\u0600" <= c <= "\u06ff" or c in "\u200c\u200d\u200e\u200f\u00a0" for c in foreign)
    if letters * 10 < len(foreign) * 9:
        raise FileRefused("csv_encoding", row=data[: error.start].count(b"\n") + 1)
    return text


def find_delimiter(text: str) -> str:
    """The delimiter that cuts the first rows into the most equal and most numerous cells; else ","."""
    best, best_score = ",", (0, 0)
    for delimiter in DELIMITERS:
        reader = csv.reader(io.StringIO(text[:200_000], newline=None), delimiter=delimiter)
        widths: Counter[int] = Counter()
        try:
            for row, _number in zip(reader, range(_SAMPLE), strict=False):
                if row:
                    widths[len(row)] += 1
        except csv.Error:
            continue
        width, times = max(widths.items(), key=lambda pair: (pair[1], pair[0]), default=(1, 0))
        if width > 1 and (times, width) > best_score:
            best, best_score = delimiter, (times, width)
    return best

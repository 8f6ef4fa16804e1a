"""Cells of exports cannot act, and come back unchanged when the file is imported again."""

from __future__ import annotations

import csv
import io
import tempfile
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.spreadsheets.export import csv_lines, disposition, harmless, restored, xlsx_bytes, xlsx_stream
from core.spreadsheets.reading import reading
from core.text import strip_format_chars
from tests.spreadsheets import upload

ACTING = [
    "=1+1",
    "+989123456789",
    "-1",
    "@SUM(A1)",
    "\tx",
    " =1+1",
    "\u00a0=1",
    "＝1+1",
    "＋1",
    "－1",
    "＠x",
    "\ufeff=1+1",
    "\u200f=1+1",
    "\x00=1+1",
    "\r=1+1",
    "\n=1",
    "'=1",
]


@pytest.mark.parametrize("text", ACTING)
def test_a_cell_that_could_act_is_guarded(text: str) -> None:
    assert harmless(text).startswith("'")


@pytest.mark.parametrize("text", ["سارا", "09123456789", "a=1", "a;=1+1", "", "1405/09/09"])
def test_an_ordinary_cell_stays_as_it_is(text: str) -> None:
    assert harmless(text) == text


@given(st.text(max_size=20) | st.sampled_from(ACTING))
def test_the_guard_comes_off_again(text: str) -> None:
    assert restored(harmless(text)) == strip_format_chars(text)


def test_every_csv_cell_is_quoted_so_that_no_locale_splits_it() -> None:
    data = b"".join(csv_lines([["a;=1+1", 'say "no"', None]]))
    assert data == b'\xef\xbb\xbf"a;=1+1","say ""no""",""\r\n'


@pytest.mark.parametrize("text", ACTING)
def test_no_program_reading_the_csv_sees_a_formula(text: str) -> None:
    data = b"".join(csv_lines([[text]])).decode("utf-8-sig")
    (cell,) = next(csv.reader(io.StringIO(data)))
    assert cell.startswith("'")


def test_an_xlsx_export_can_be_read_back() -> None:
    data = xlsx_bytes("مسدودها", ["شماره"], [["09123456789"], ["=1+1"]])
    with reading(upload("x.xlsx", data)) as table:
        assert [row.cells for row in table] == [("شماره",), ("09123456789",), ("'=1+1",)]


def test_a_number_in_an_xlsx_can_be_summed_unless_it_would_lose_digits() -> None:
    data = xlsx_bytes("x", ["n"], [[12], [Decimal("1250.50")], [4786346122764072700], [True]])
    with reading(upload("x.xlsx", data)) as table:
        cells = [row.cells[0] for row in table]

    assert [str(cell) for cell in cells] == ["n", "12", "1250.5", "4786346122764072700", "True"]


@pytest.mark.django_db
def test_a_long_xlsx_is_sent_in_pieces_and_leaves_no_file_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    response = xlsx_stream("x.xlsx", "x", ["n"], ([number, "text" * 20] for number in range(20_000)))
    pieces = list(response)
    response.close()

    assert len(pieces) > 1
    assert not list(tmp_path.iterdir())
    with reading(upload("x.xlsx", b"".join(pieces))) as table:
        assert table.rows == 20_001


@pytest.mark.django_db
def test_an_xlsx_that_nobody_reads_leaves_no_file_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    xlsx_stream("x.xlsx", "x", ["n"], [[1]]).close()

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("people.xlsx", "attachment; filename=\"people.xlsx\"; filename*=UTF-8''people.xlsx"),
        (
            "a\r\nSet-Cookie: x",
            "attachment; filename=\"a_Set-Cookie: x\"; filename*=UTF-8''a_Set-Cookie%3A%20x",
        ),
        ('"; x="', "attachment; filename=\"_; x=_\"; filename*=UTF-8''_%3B%20x%3D_"),
        ("\u202exslx", "attachment; filename=\"xslx\"; filename*=UTF-8''xslx"),
        ("مردم.csv", "attachment; filename=\"____.csv\"; filename*=UTF-8''%D9%85%D8%B1%D8%AF%D9%85.csv"),
    ],
)
def test_the_name_of_a_download_cannot_break_the_header(name: str, header: str) -> None:
    assert disposition(name) == header

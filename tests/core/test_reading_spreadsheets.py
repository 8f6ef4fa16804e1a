"""Spreadsheets from strangers: what is read, and that everything else is one clear refusal."""

from __future__ import annotations

import io
import os
import struct
import zipfile
from datetime import date, datetime
from pathlib import Path

import pytest
import xlsxwriter
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile

from core.spreadsheets import limits
from core.spreadsheets.reading import MESSAGES, Cell, FileProblem, Unusable, clean_name, reading
from tests.spreadsheets import csv_file, packed, sheet_xml, upload, xlsx_file

PEOPLE = [["نام", "موبایل"], ["سارا", "09123456789"], ["علی", "۰۹۳۵۱۲۳۴۵۶۷"]]


def rows_of(file: SimpleUploadedFile) -> list[tuple[int, tuple[Cell, ...]]]:
    with reading(file) as table:
        return [(row.number, row.cells) for row in table]


def refusal_of(file: SimpleUploadedFile) -> FileProblem:
    with pytest.raises(FileProblem) as refused, reading(file):
        pass
    return refused.value


# --- what is read


def test_rows_of_an_xlsx_keep_their_numbers() -> None:
    rows = rows_of(xlsx_file([["نام", "موبایل"], [], ["سارا", "0912"]]))
    assert rows == [(1, ("نام", "موبایل")), (3, ("سارا", "0912"))]


def test_a_phone_stored_as_a_number_is_a_whole_number() -> None:
    assert rows_of(xlsx_file([[9123456789]])) == [(1, (9123456789,))]


def test_a_number_beyond_fifteen_digits_stays_a_rounded_one() -> None:
    ((_number, (cell,)),) = rows_of(xlsx_file([[float("9" * 40)]]))
    assert isinstance(cell, float)


def test_dates_are_dates_and_moments_are_text(tmp_path: Path) -> None:
    path = tmp_path / "d.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        sheet.write_datetime(0, 0, datetime(2026, 11, 30), book.add_format({"num_format": "yyyy-mm-dd"}))
        sheet.write_datetime(
            0, 1, datetime(2026, 11, 30, 9, 5), book.add_format({"num_format": "yyyy-mm-dd hh:mm"})
        )
        sheet.write_boolean(0, 2, True)
    assert rows_of(upload("d.xlsx", path.read_bytes())) == [
        (1, (date(2026, 11, 30), "2026-11-30 09:05", "TRUE"))
    ]


def test_a_formula_has_its_stored_value(tmp_path: Path) -> None:
    path = tmp_path / "f.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        book.add_worksheet().write_formula(0, 0, '="0"&9123456789', None, "09123456789")
    assert rows_of(upload("f.xlsx", path.read_bytes())) == [(1, ("09123456789",))]


def test_a_formula_without_a_stored_value_is_unusable_never_computed() -> None:
    assert rows_of(xlsx_file([["=1+1", "x"]])) == [(1, (Unusable("formula"), "x"))]


def test_a_cell_in_error_is_unusable() -> None:
    cells = '<row r="1"><c r="A1" t="e"><v>#REF!</v></c><c r="B1"><v>7</v></c></row>'
    assert rows_of(upload("e.xlsx", packed(sheet_xml(cells)))) == [(1, (Unusable("error"), 7))]


def test_cells_without_an_address_follow_each_other() -> None:
    cells = "<row><c><v>1</v></c><c><f>A1</f><v></v></c></row><row><c><v>2</v></c></row>"
    assert rows_of(upload("a.xlsx", packed(sheet_xml(cells)))) == [(1, (1, Unusable("formula"))), (2, (2,))]


def test_a_sheet_that_is_only_formatted_to_its_last_row_is_small() -> None:
    cells = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576" s="1"/></row>'
    assert rows_of(upload("a.xlsx", packed(sheet_xml(cells)))) == [(1, (1,))]


def test_the_first_visible_sheet_with_something_in_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "s.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        hidden = book.add_worksheet("hidden")
        hidden.write_string(0, 0, "secret")
        book.add_worksheet("empty").activate()
        book.add_worksheet("people").write_string(0, 0, "سارا")
        hidden.hide()
    assert rows_of(upload("s.xlsx", path.read_bytes())) == [(1, ("سارا",))]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_csv_is_read_in_every_unicode_encoding(encoding: str) -> None:
    rows = [[*PEOPLE[0]], *([f"{name}{i}", f"0912{i:07d}"] for i, name in enumerate(["سارا"] * 5))]
    assert [cells for _number, cells in rows_of(csv_file(rows, encoding=encoding))] == [
        tuple(r) for r in rows
    ]


def test_a_csv_in_windows_1256_is_read() -> None:
    rows = [["نام", "موبايل"], ["علي كاظمي", "09123456789"]]
    assert [cells for _n, cells in rows_of(csv_file(rows, encoding="cp1256"))] == [tuple(r) for r in rows]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_of_a_csv_is_found(delimiter: str) -> None:
    assert [cells for _n, cells in rows_of(csv_file(PEOPLE, delimiter=delimiter))] == [
        tuple(r) for r in PEOPLE
    ]


def test_a_declared_delimiter_is_obeyed() -> None:
    assert rows_of(upload("a.csv", b"sep=;\r\na,b;c\r\n")) == [(2, ("a,b", "c"))]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_of_a_csv_may_end_in_any_way(end: str) -> None:
    assert rows_of(upload("a.csv", end.join(["a,b", "", "c,d"]).encode())) == [
        (1, ("a", "b")),
        (3, ("c", "d")),
    ]


def test_a_line_break_inside_quotes_belongs_to_the_cell() -> None:
    assert rows_of(upload("a.csv", b'a,"b\nc"\nd,e\n')) == [(1, ("a", "b\nc")), (3, ("d", "e"))]


def test_a_null_character_becomes_a_mark_that_no_field_accepts() -> None:
    assert rows_of(upload("a.csv", b"name,mobile\nsara,0912\x003456789\n"))[1] == (
        2,
        ("sara", "0912\ufffd3456789"),
    )


def test_a_text_far_too_long_is_unusable() -> None:
    long = "x" * (limits.MAX_CELL_TEXT + 1)
    assert rows_of(upload("a.csv", f"a,{long}\n".encode())) == [(1, ("a", Unusable("long")))]


def test_cells_of_invisible_characters_are_empty() -> None:
    assert rows_of(upload("a.csv", "a, ,\u200f\u200b,b,,\n".encode())) == [(1, ("a", None, None, "b"))]


# --- what is refused


def work_so_far() -> float:
    """Seconds of processor time of this process and of its children that have ended: what a file costs,
    however busy the machine is."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def test_a_file_of_two_cells_in_opposite_corners_is_refused_at_once() -> None:
    cells = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    began = work_so_far()
    problem = refusal_of(upload("bomb.xlsx", packed(sheet_xml(cells))))
    assert problem.code == "too_many_columns"
    assert problem.fields == {
        "file": "bomb.xlsx", "limit": 100, "row": 1048576, "column": "XFD", "sheet": "Sheet1",
    }  # fmt: skip
    assert work_so_far() - began < 3  # a second and the start of a process


def test_cells_that_lie_too_far_apart_are_refused() -> None:
    cells = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1000000"><c r="CV1000000"><v>1</v></c></row>'
    assert refusal_of(upload("a.xlsx", packed(sheet_xml(cells)))).code == "too_many_cells"


def test_an_address_that_hides_in_entities_is_seen() -> None:
    cells = '<row r="1"><c r="A1"><v>1</v></c><c r=\'&#88;FD1\'><v>1</v></c></row>'
    assert refusal_of(upload("a.xlsx", packed(sheet_xml(cells)))).code == "too_many_columns"


def test_two_hundred_thousand_rows_are_too_many_only_when_there_is_one_more() -> None:
    lines = b"0912,x\n" * (limits.MAX_ROWS + 1)
    with reading(upload("a.csv", lines)) as table:
        assert table.rows == limits.MAX_ROWS + 1  # the header and 200,000 people
    assert refusal_of(upload("a.csv", lines + b"0912,x\n")).code == "too_many_rows"


def test_an_xlsx_with_too_many_rows_is_refused() -> None:
    cells = "".join(f'<row r="{n}"><c r="A{n}"><v>1</v></c></row>' for n in range(1, limits.MAX_ROWS + 3))
    assert refusal_of(upload("a.xlsx", packed(sheet_xml(cells)))).code == "too_many_rows"


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = packed(sheet_xml(""), extra={"xl/worksheets/sheet1.xml": b" " * (200 * 1024 * 1024)})
    began = work_so_far()
    assert refusal_of(upload("a.xlsx", bomb)).code == "zip_unpacked"
    assert work_so_far() - began < 3


def test_a_size_that_lies_is_refused() -> None:
    data = bytearray(packed(sheet_xml('<row r="1"><c r="A1"><v>1</v></c></row>' * 400)))
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        true_size = archive.getinfo("xl/worksheets/sheet1.xml").file_size
    packed_size = struct.pack("<I", true_size)
    while (at := data.find(packed_size)) >= 0:
        data[at : at + 4] = struct.pack("<I", 64)
    assert refusal_of(upload("a.xlsx", bytes(data))).code == "file_broken"


LAUGHS = '<!DOCTYPE lolz [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
EXTERNAL = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize("declaration", [LAUGHS, EXTERNAL, "<!DOCTYPE worksheet>"])
@pytest.mark.parametrize(
    "part", ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/_rels/workbook.xml.rels"]
)
def test_entity_bombs_and_external_entities_are_refused_in_every_part(declaration: str, part: str) -> None:
    content = f'<?xml version="1.0"?>{declaration}<x>&b;</x>'
    assert refusal_of(upload("a.xlsx", packed(extra={part: content}))).code == "xml_declarations"


def test_a_declaration_in_another_encoding_is_seen() -> None:
    content = f'<?xml version="1.0" encoding="UTF-16"?>{LAUGHS}<x/>'.encode("utf-16")
    assert (
        refusal_of(upload("a.xlsx", packed(extra={"xl/sharedStrings.xml": content}))).code
        == "xml_declarations"
    )


def test_too_many_parts_are_refused() -> None:
    many = {f"xl/media/{n}.xml": "<x/>" for n in range(limits.MAX_ENTRIES)}
    assert refusal_of(upload("a.xlsx", packed(extra=many))).code == "zip_entries"


@pytest.mark.parametrize("name", ["../../etc/x", "/etc/x", "xl\\..\\x", "C:x"])
def test_parts_with_forbidden_names_are_refused(name: str) -> None:
    assert refusal_of(upload("a.xlsx", packed(extra={name: "x"}))).code == "zip_path"


@pytest.mark.parametrize(
    ("extra", "without", "code"),
    [
        ({"xl/vbaProject.bin": b"x"}, (), "file_macros"),
        ({"[Content_Types].xml": "<Types>macroEnabled</Types>"}, (), "file_macros"),
        ({"xl/embeddings/a.zip": b"PK"}, (), "zip_nested"),
        ({}, ("xl/workbook.xml",), "zip_no_workbook"),
        ({"xl/workbook.bin": b"x"}, ("xl/workbook.xml",), "file_xlsb"),
        ({"word/document.xml": "<x/>"}, ("xl/workbook.xml",), "file_not_spreadsheet"),
        ({"content.xml": "<x/>"}, ("xl/workbook.xml",), "file_ods"),
        ({}, ("xl/worksheets/sheet1.xml",), "zip_no_workbook"),
        ({}, ("xl/_rels/workbook.xml.rels",), "file_broken"),
        ({"xl/workbook.xml": "<workbook"}, (), "file_broken"),
        (
            {"xl/worksheets/sheet1.xml": sheet_xml('<row r="1"><c r="?"><v>1</v></c></row>')},
            (),
            "file_broken",
        ),
        ({"xl/worksheets/sheet1.xml": "<worksheet><sheetData><row>"}, (), "file_broken"),
        ({"xl/worksheets/sheet1.xml": sheet_xml("")}, (), "file_empty"),
    ],
)
def test_a_package_that_is_no_plain_workbook_is_refused_for_what_it_is(
    extra: dict[str, str | bytes], without: tuple[str, ...], code: str
) -> None:
    assert refusal_of(upload("a.xlsx", packed(extra=extra, without=without))).code == code


def test_an_encrypted_part_is_refused() -> None:
    data = bytearray(packed())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(signature)
        data[at + offset] |= 1
    assert refusal_of(upload("a.xlsx", bytes(data))).code == "file_encrypted"


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "file_empty"),
        (b" \r\n\t", "file_empty"),
        (b"\xef\xbb\xbf,,\n,,\n", "file_empty"),
        (OLE, "file_xls"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "file_encrypted"),
        (b"PK\x03\x04 and nothing more", "file_broken"),
        (packed()[:-40], "file_broken"),
        (b"<html><table><tr><td>0912</td></tr></table>", "file_html"),
        (b"\n <TABLE><tr><td>0912</td></tr></TABLE>", "file_html"),
        (b"<?xml version='1.0'?><Workbook/>", "file_not_spreadsheet"),
        (b"<svg onload='x'/>", "file_not_spreadsheet"),
        (b"%PDF-1.7", "file_not_spreadsheet"),
        (b"\x89PNG\r\n\x1a\n", "file_not_spreadsheet"),
        (bytes(range(1, 256)) * 40, "csv_encoding"),
        (b"\x01\x02\x03\x04" * 400, "file_not_spreadsheet"),
        (b"\xff\xfea\x00,\x00\x00\xd8", "csv_encoding"),
        ("name,city\nJos\xe9,\xd8\xfe\xdf\n".encode("latin-1"), "csv_encoding"),
        (b'a,b\n"c,d\n', "csv_quotes"),
        (b'a,b\n"c" x,d\n', "csv_quotes"),
        (b"a," + b"x" * (limits.MAX_FIELD + 1) + b"\n", "csv_long_field"),
        (b",".join([b"x"] * 100_000), "too_many_columns"),
        (b"a," + b"," * 99 + b"x\n", "too_many_columns"),
    ],
)
def test_what_is_no_readable_table_is_refused_for_what_it_is(content: bytes, code: str) -> None:
    assert refusal_of(upload("a.xlsx", content)).code == code


@pytest.mark.parametrize("name", ["people.py", "readme.md", "data.json", "page.xml"])
def test_a_text_that_is_not_called_a_table_is_none(name: str) -> None:
    assert refusal_of(upload(name, b"a,b\nc,d\n")).code == "file_not_spreadsheet"


@pytest.mark.parametrize("name", ["a.csv", "a.CSV", "a.tsv", "a.txt", "a.xls", "a"])
def test_a_text_that_is_called_a_table_is_one(name: str) -> None:
    assert rows_of(upload(name, b"a,b\n")) == [(1, ("a", "b"))]


@pytest.mark.parametrize(
    ("content", "row"),
    [(b'a,b\n\n"c,d\n', 3), (b"a,b\nc,d\ne\xe9\xe8,f\n", 3), (b"\xff\xfea\x00\n\x00\x00\xd8", 2)],
)
def test_a_refused_csv_names_the_row(content: bytes, row: int) -> None:
    assert refusal_of(upload("a.csv", content)).fields["row"] == row


def test_the_size_is_counted_whatever_the_upload_claims() -> None:
    file = ContentFile(b"x" * (limits.MAX_BYTES + 1), name="big.csv")
    file.size = 10
    with pytest.raises(FileProblem) as refused, reading(file):
        pass
    assert refused.value.code == "file_too_large"


@pytest.mark.parametrize("code", sorted(MESSAGES))
def test_every_refusal_is_a_sentence(code: str) -> None:
    values = {"limit": 10, "count": 3, "row": 2, "column": "B"}
    text = str(FileProblem(code, file="مشتریان.xlsx", **values))
    assert text.endswith(".")
    assert "%" not in text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\x\\people.xlsx", "people.xlsx"),
        ("a\r\nSet-Cookie: x.xlsx", "a Set-Cookie: x.xlsx"),
        ("\u202exslx.exe", "xslx.exe"),
        ("x" * 300 + ".xlsx", "x" * 115 + ".xlsx"),
        ("", "file"),
        (None, "file"),
    ],
)
def test_a_file_name_is_made_fit_to_be_shown(raw: str | None, shown: str) -> None:
    assert clean_name(raw) == shown

"""What one row of a file means."""

from __future__ import annotations

from datetime import date

import pytest

from core.spreadsheets.reading import Cell, SheetRow, Unusable
from targets.importing.interpret import Draft, Interpreter, Reading, Refusal, Skipped
from targets.importing.mapping import Layout, suggest
from targets.importing.reasons import MESSAGES, sentence

HEADER = ("نام", "نام خانوادگی", "موبایل", "تلفن", "شهر", "تاریخ تولد", "ایمیل", "وضعیت", "رنگ")
SARA = ("سارا", "احمدی", "09123456789")


def interpreter(columns: tuple[str, ...] = HEADER, header_row: int = 1) -> Interpreter:
    return Interpreter(Layout(header_row, columns), suggest(columns))


def read(*cells: Cell) -> Reading:
    return interpreter().read(SheetRow(7, cells))


def draft(*cells: Cell) -> Draft:
    reading = read(*cells)
    assert isinstance(reading, Draft)
    return reading


def refusal(*cells: Cell) -> Refusal:
    reading = read(*cells)
    assert isinstance(reading, Refusal)
    return reading


def test_a_row_becomes_a_draft_in_stored_spelling() -> None:
    made = draft(
        " سارا\u200f ", "أحمدي", "۰۹۱۲۳۴۵۶۷۸۹", None, "كرج", "۱۳۷۰/۴/۷", "Sara@Example.com", "علاقه‌مند", "آبي"
    )
    assert made.contact.mobile == "09123456789"
    assert made.values == {
        "first_name": "سارا",
        "last_name": "أحمدی",
        "city": "کرج",
        "email": "sara@example.com",
        "status": "interested",
    }
    assert made.traits == {"birth_date": "1991-06-28", "رنگ": "آبی"}


def test_empty_cells_say_nothing() -> None:
    made = draft("", "—", "09123456789", None, " ", None, "-", None, "\u200f")
    assert (made.values, made.traits) == ({}, {})


@pytest.mark.parametrize("number", ["02188776655", "+98 21 8877 6655", 2188776655])
def test_a_landline_in_the_mobile_column_goes_where_it_belongs(number: Cell) -> None:
    assert draft("سارا", "احمدی", number).contact.landline == "02188776655"


def test_a_number_cell_of_excel_is_a_number() -> None:
    assert draft("سارا", "احمدی", 9123456789).contact.mobile == "09123456789"


@pytest.mark.parametrize(
    "cell", [date(1991, 6, 28), "1370/04/07", "1991-06-28", "13700407", 13700407, "7/4/1370"]
)
def test_a_date_is_read_in_every_usual_spelling(cell: Cell) -> None:
    assert draft(*SARA, None, None, cell).traits == {"birth_date": "1991-06-28"}


@pytest.mark.parametrize(
    ("cells", "code", "column"),
    [
        (("سارا", None, "0912CALLNOW"), "phone_characters", "موبایل"),
        (("سارا", None, "9" * 40), "phone_length", "موبایل"),
        (("سارا", None, 9.123456789e40), "phone_decimal", "موبایل"),
        (("سارا", None, "9123456789.0"), "phone_decimal", "موبایل"),
        (("سارا", None, Unusable("formula")), "cell_formula", "موبایل"),
        (("سارا", None, Unusable("error")), "cell_error", "موبایل"),
        (("سارا", None, "0912\ufffd3456789"), "phone_characters", "موبایل"),
        (("سارا", None, None), "contact_empty", ""),
        (("سارا", None, "ندارد"), "contact_empty", ""),
        (("سارا", None, "09123456789", "09351112233"), "contact_two_mobiles", "تلفن"),
        (("سارا", Unusable("formula"), "09123456789"), "cell_formula", "نام خانوادگی"),
        (("سارا", "x" * 81, "09123456789"), "text_too_long", "نام خانوادگی"),
        (("سا\ufffdرا", None, "09123456789"), "cell_unreadable", "نام"),
        ((*SARA, None, None, "1404/12/30"), "date_invalid", "تاریخ تولد"),
        ((*SARA, None, None, "فردا"), "date_invalid", "تاریخ تولد"),
        ((*SARA, None, None, None, "sara@"), "email_invalid", "ایمیل"),
        ((*SARA, None, None, None, None, "خوب"), "status_unknown", "وضعیت"),
    ],
)
def test_a_row_that_cannot_be_used_is_refused_with_reason_and_column(
    cells: tuple[Cell, ...], code: str, column: str
) -> None:
    refused = refusal(*cells)
    assert (refused.number, refused.code, refused.column, refused.cells) == (7, code, column, cells)


@pytest.mark.parametrize("cells", [(), (None,) * 9, ("  ", None, "", "\u200b"), (None, None, None, "—")])
def test_a_row_that_says_nothing_is_skipped(cells: tuple[Cell, ...]) -> None:
    assert read(*cells) == Skipped(7, "empty")


def test_a_customer_code_has_one_spelling() -> None:
    reader = interpreter(("موبایل", "کد مشتری"))
    codes = [reader.read(SheetRow(2, ("09123456789", code))) for code in ("۱۲۳", "123", 123)]
    assert [made.external_id for made in codes if isinstance(made, Draft)] == ["123"] * 3


def test_an_ignored_column_may_hold_anything() -> None:
    reader = Interpreter(Layout(1, ("موبایل", "x")), {"0": "mobile"})
    assert isinstance(reader.read(SheetRow(2, ("09123456789", Unusable("error")))), Draft)


def test_a_cell_guarded_against_formulas_loses_its_guard() -> None:
    assert draft("'=سارا", "'-", "'+989123456789").values["first_name"] == "=سارا"


def test_rows_up_to_the_header_are_no_people() -> None:
    reader = interpreter(header_row=2)
    assert reader.read(SheetRow(1, ("عنوان",))) == Skipped(1, "before_header")
    assert reader.read(SheetRow(2, HEADER)) == Skipped(2, "header")


def test_a_header_that_is_repeated_in_another_spelling_is_no_person() -> None:
    again = ("نام", "نام‌خانوادگی", "شماره همراه", "تلفن ثابت", "شهر", "تولد", "ايميل", None, None)
    assert read(*again) == Skipped(7, "header")


def test_rows_under_a_header_that_orders_the_columns_differently_are_refused() -> None:
    reader = interpreter()
    assert reader.read(SheetRow(5, ("شهر", "نام", "موبایل"))) == Skipped(5, "header")
    refused = reader.read(SheetRow(6, ("تهران", "سارا", "09123456789")))
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.fields) == ("other_header", {"row": 5})
    assert reader.read(SheetRow(9, HEADER)) == Skipped(9, "header")
    assert isinstance(reader.read(SheetRow(10, SARA)), Draft)


@pytest.mark.parametrize("code", sorted(MESSAGES))
def test_every_reason_is_a_sentence(code: str) -> None:
    text = sentence(code, {"limit": 10, "count": 3, "row": 2, "code": "A1"})
    assert text.rstrip("”").endswith((".", "09"))
    assert "%" not in text

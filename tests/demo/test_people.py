"""The demo's spreadsheet: the committed file is what its maker writes, and it is as messy as promised."""

from __future__ import annotations

from pathlib import Path

import pytest
from python_calamine import CalamineWorkbook

from core.phones import PhoneError, parse_phone
from demo import make_people, people


def cells(path: Path) -> list[list[object]]:
    return [list(row) for row in CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()]


@pytest.fixture(scope="module")
def committed() -> list[list[object]]:
    return cells(make_people.DEFAULT_FILE)


def numbers(rows: list[list[object]]) -> list[str]:
    """The canonical numbers of the mobile column, in order; cells that hold none are left out."""
    found = []
    for row in rows[1:]:
        raw = row[2]
        try:
            found.append(parse_phone(str(int(raw)) if isinstance(raw, float) else raw).value)
        except PhoneError:
            continue
    return found


def test_the_committed_file_is_what_its_maker_writes(tmp_path: Path, committed: list[list[object]]) -> None:
    make_people.write(tmp_path / "people.xlsx")

    assert cells(tmp_path / "people.xlsx") == committed
    assert (tmp_path / "people.xlsx").read_bytes() == make_people.DEFAULT_FILE.read_bytes()


def test_it_has_520_rows_under_the_header(committed: list[list[object]]) -> None:
    assert len(committed) == 1 + people.DEFAULT_ROWS == 521


def test_most_rows_are_people_with_a_number_of_their_own(committed: list[list[object]]) -> None:
    assert 430 <= len(set(numbers(committed))) <= 500


def test_every_number_is_made_up(committed: list[list[object]]) -> None:
    assert all(n[4:7] == "000" if n.startswith("09") else n[3:7] == "5555" for n in numbers(committed))


@pytest.mark.parametrize("mark", ["۰۹", "٠٩", "+98", "0098", "\u200f", "\u200b", "\u200e", "\ufeff"])
def test_a_spelling_of_numbers_occurs(committed: list[list[object]], mark: str) -> None:
    assert any(mark in str(row[2]) for row in committed[1:])


def test_some_numbers_lost_their_zero_in_a_number_cell(committed: list[list[object]]) -> None:
    assert sum(isinstance(row[2], float) for row in committed[1:]) >= 10


def test_arabic_letters_occur_in_names_and_headers(committed: list[list[object]]) -> None:
    assert "ي" in str(committed[0])
    assert sum("ي" in str(row[1]) or "ك" in str(row[1]) for row in committed[1:]) >= 20


def test_landlines_stand_in_the_mobile_column(committed: list[list[object]]) -> None:
    assert sum(not number.startswith("09") for number in numbers(committed)) >= 10


def test_people_occur_twice(committed: list[list[object]]) -> None:
    found = numbers(committed)

    assert len(found) - len(set(found)) >= 20


def test_empty_rows_occur(committed: list[list[object]]) -> None:
    assert sum(not any(str(cell).strip() for cell in row) for row in committed[1:]) >= 10


def test_a_second_header_in_another_spelling_stands_in_the_middle(committed: list[list[object]]) -> None:
    assert list(people.PASTED_HEADER) in committed[1:]


def test_a_formula_is_read_as_the_value_it_last_had(committed: list[list[object]]) -> None:
    assert people.mobile_number(20) in numbers(committed)


def test_birthdays_are_jalali(committed: list[list[object]]) -> None:
    assert sum(str(row[6])[:2] in ("13", "۱۳") for row in committed[1:]) >= 300


def test_more_rows_begin_with_the_same_people() -> None:
    assert list(people.rows(300))[:100] == list(people.rows(10_000))[:100]


def test_a_large_file_repeats_no_person_but_the_repeated_ones() -> None:
    made = {people.mobile_number(index) for index in range(10_000)}

    assert len(made) == 10_000

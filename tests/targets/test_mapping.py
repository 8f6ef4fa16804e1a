"""Headers as people write them, and what a mapping may say."""

from __future__ import annotations

import pytest
from django.utils import translation

from core.errors import Invalid
from core.spreadsheets.reading import SheetRow
from targets import traits
from targets.importing import fields, mapping
from targets.views.downloads import PEOPLE


def layout(*rows: tuple[object, ...]) -> mapping.Layout:
    found = mapping.find_layout(SheetRow(n, row) for n, row in enumerate(rows, start=1))  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("header", "field"),
    [
        ("موبایل", "mobile"),
        ("موبايل", "mobile"),
        ("شماره‌موبایل", "mobile"),
        ("شماره همراه *", "mobile"),
        ("تلفن همراه:", "mobile"),
        ("Mobile (WhatsApp)", "mobile"),
        ("MOBILE_NUMBER", "mobile"),
        ("موبایل ۱", "mobile"),
        ("تلفن", "phone"),
        ("شماره تماس", "phone"),
        ("Phone", "phone"),
        ("تلفن ثابت", "landline"),
        ("نام و نام خانوادگی", "name"),
        ("نام خانوادگي", "last_name"),
        ("نام‌خانوادگی", "last_name"),
        ("Last-Name", "last_name"),
        ("کد مشتری", "external_id"),
        ("كد مشترى", "external_id"),
        ("ایمیل", "email"),
        ("استان", "province"),
        ("شهر", "city"),
        ("وضعیت", "status"),
        ("تاریخ تولد", "date:birth_date"),
        ("تولد", "date:birth_date"),
        ("تاریخ عضویت", "date:تاریخ_عضویت"),
        ("رنگ دلخواه", "trait:رنگ_دلخواه"),
        ("ردیف", ""),
        ("#", ""),
    ],
)
def test_a_header_is_understood_in_its_usual_spellings(header: str, field: str) -> None:
    assert mapping.suggest([header])["0"] == field


@pytest.mark.parametrize(
    ("columns", "first"),
    [(["نام", "نام خانوادگی"], "first_name"), (["نام", "موبایل"], "name"), (["name"], "name")],
)
def test_a_column_called_name_is_the_whole_name_unless_the_last_name_has_its_own(
    columns: list[str], first: str
) -> None:
    assert mapping.suggest(columns)["0"] == first


def test_a_second_column_for_the_same_field_becomes_a_trait() -> None:
    assert mapping.suggest(["موبایل", "موبایل ۲"]) == {"0": "mobile", "1": "trait:موبایل_۲"}


def test_every_trait_can_be_a_variable_of_a_text() -> None:
    for header in ("رنگ / مدل (۱۴۰۵)", "۲ قلو؟", "a.b{c}|d", "x" * 200):
        key = traits.trait_key(header)
        assert traits.KEY.fullmatch(key)


def test_titles_above_the_header_are_passed_over() -> None:
    found = layout(("فهرست مشتریان",), ("بهار ۱۴۰۵",), ("نام", "موبایل"), ("سارا", "09123456789"))
    assert (found.header_row, found.columns) == (3, ("نام", "موبایل"))


def test_a_file_without_a_header_names_its_columns_by_letters() -> None:
    found = layout(("سارا", "09123456789"), ("علی", "09351112233"))
    assert found.header_row == 0
    assert len(found.columns) == 2
    assert mapping.suggest(found.columns, found.first_row) == {"0": "", "1": "phone"}


def test_headers_nobody_knows_are_told() -> None:
    found = layout(("الف", "ب"), ("سارا", "09123456789"))
    assert (found.header_row, found.columns) == (1, ("الف", "ب"))
    assert mapping.recognises_nothing(mapping.suggest(found.columns))


def test_a_column_without_a_header_gets_its_letter() -> None:
    assert layout(("موبایل", None, "شهر"), ("0912", "x", "y")).columns[1].endswith("B")


@pytest.mark.parametrize(
    "field",
    [
        "id",
        "workspace",
        "workspace_id",
        "opted_out",
        "deleted_at",
        "owner",
        "blacklist",
        "trait:",
        "trait:a.b",
    ],
)
def test_what_is_no_field_of_a_person_cannot_be_mapped(field: str) -> None:
    with pytest.raises(Invalid) as refused:
        mapping.checked({"0": "mobile", "1": field}, ["موبایل", "x"])
    assert refused.value.code == "mapping_unknown_field"


@pytest.mark.parametrize("index", ["9", "-1", "x", "²"])
def test_a_column_that_is_not_there_cannot_be_mapped(index: str) -> None:
    with pytest.raises(Invalid):
        mapping.checked({index: "mobile"}, ["موبایل"])


def test_a_mapping_without_a_number_is_refused() -> None:
    with pytest.raises(Invalid) as refused:
        mapping.checked({"0": "name"}, ["نام"])
    assert refused.value.code == "mapping_no_number"


def test_one_field_takes_one_column() -> None:
    with pytest.raises(Invalid) as refused:
        mapping.checked({"0": "mobile", "1": "city", "2": "city"}, ["a", "b", "c"])
    assert refused.value.code == "mapping_twice"


def test_several_columns_may_hold_numbers() -> None:
    chosen = {"0": "phone", "1": "phone", "2": "mobile"}
    assert mapping.checked({**chosen, "3": ""}, ["a", "b", "c", "d"]) == chosen


@pytest.mark.parametrize("language", ["fa", "en"])
def test_the_products_own_table_of_people_is_understood(language: str) -> None:
    with translation.override(language):
        found = mapping.suggest([str(column) for column in PEOPLE.columns])
    wanted = {"1": "name", "2": "first_name", "3": "last_name", "4": "mobile", "5": "landline"}
    assert {index: found[index] for index in wanted} == wanted
    assert found["0"] not in fields.NUMBER_FIELDS  # the person's number is no phone number

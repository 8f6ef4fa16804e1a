"""Dates that differ from their weekday, as people type them."""

from __future__ import annotations

import pytest
from django.utils import translation

from automation.builder.window_form import WindowForm, read_exceptions, write_exceptions

WEEK = {"use_window": "on", "timezone": "Asia/Tehran", "sat": "09:00-18:00"}


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("", {}),
        ("\n  \n", {}),
        ("1405/01/13", {"2026-04-02": None}),
        ("۱۴۰۵/۰۱/۱۳", {"2026-04-02": None}),
        ("2026-04-02 10-12", {"2026-04-02": [["10:00", "12:00"]]}),
        (
            "1405/01/13\n1405/01/14 9:00-10:00, 11-12",
            {"2026-04-02": None, "2026-04-03": [["09:00", "10:00"], ["11:00", "12:00"]]},
        ),
    ],
)
def test_dates_are_read(typed, stored):
    assert read_exceptions(typed) == stored


@pytest.mark.parametrize("typed", ["1405/13/01", "tomorrow", "1405/01/13 closed", "1405/12/30 9-10"])
def test_a_line_that_cannot_be_read_is_named(typed):
    form = WindowForm({**WEEK, "exceptions": f"1405/01/01\n{typed}"})

    assert not form.is_valid()
    assert typed in form.errors["exceptions"][0]


def test_hours_of_a_date_that_overlap_are_named_at_the_field():
    form = WindowForm({**WEEK, "exceptions": "1405/01/13 9-11, 10-12"})

    assert not form.is_valid()
    assert list(form.errors) == ["exceptions"]


@pytest.mark.parametrize(("language", "shown"), [("fa", "1405/01/13"), ("en", "2026-04-02")])
def test_stored_dates_come_back_in_the_calendar_of_the_reader(language, shown):
    stored = {"2026-04-02": None, "2026-04-03": [["10:00", "12:00"]]}
    with translation.override(language):
        text = write_exceptions(stored)
        assert text.splitlines()[0] == shown
        assert read_exceptions(text) == stored


def test_a_window_with_exceptions_is_stored():
    form = WindowForm({**WEEK, "exceptions": "1405/01/13"})

    assert form.is_valid()
    window = form.window()
    assert window is not None
    assert window["exceptions"] == {"2026-04-02": None}


def test_a_page_without_the_box_leaves_stored_dates_alone():
    form = WindowForm(WEEK, stored={"exceptions": {"2026-04-02": None}})

    assert form.is_valid()
    window = form.window()
    assert window is not None
    assert window["exceptions"] == {"2026-04-02": None}


def test_without_dates_that_differ_none_are_stored():
    stored = {
        "timezone": "Asia/Tehran",
        "days": {"sat": [["09:00", "18:00"]]},
        "exceptions": {"2026-04-02": None},
    }
    form = WindowForm({**WEEK, "exceptions": ""}, stored=stored)

    assert form.is_valid()
    window = form.window()
    assert window is not None
    assert not window.get("exceptions")

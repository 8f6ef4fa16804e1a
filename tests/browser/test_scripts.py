"""Scripts that repeat a rule of the server must give the server's answers."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import jdatetime
import pytest
from playwright.sync_api import Page

from sms.parts import count_parts
from tests.browser.conftest import Watch

pytestmark = pytest.mark.django_db(transaction=True)

TEXTS = [
    "",
    "hello",
    "a" * 160,
    "a" * 161,
    "€" * 80,
    "€" * 81,
    "a" * 152 + "€" + "a" * 200,
    "سلام",
    "س" * 70,
    "س" * 71,
    "س" * 66 + "😀" + "س" * 60,
    "😀" * 35,
    "line\nline",
    "نیم\u200cفاصله",
    "Ünïcode ^{}",
    "a\tb",
]
FIRST = date(1990, 3, 1)


@pytest.fixture
def static_page(page: Page, watch: Watch) -> Page:
    watch.allow("favicon.ico")  # a script shown as a page names no icon
    page.goto("/static/js/numbers.js")  # any address of the site: modules are imported from here
    return page


def test_the_browser_counts_parts_as_the_server_does(static_page: Page) -> None:
    counted: list[dict[str, Any]] = static_page.evaluate(
        "async (texts) => { const m = await import('/static/js/parts.js'); return texts.map(m.countParts); }",
        TEXTS,
    )
    expected = [count_parts(text) for text in TEXTS]
    assert [(c["parts"], c["units"], c["left"]) for c in counted] == [
        (e.parts, e.units, e.room_left) for e in expected
    ]


def test_the_browser_knows_the_same_jalali_days_as_the_server(static_page: Page) -> None:
    days = [FIRST + timedelta(days=37 * i) for i in range(900)]
    times = [datetime(d.year, d.month, d.day, tzinfo=UTC).timestamp() * 1000 for d in days]
    found: list[list[int]] = static_page.evaluate(
        "async (times) => { const m = await import('/static/js/jalali.js'); return times.map(m.toJalali); }",
        times,
    )
    jalali = [jdatetime.date.fromgregorian(date=d) for d in days]
    assert found == [[j.year, j.month, j.day] for j in jalali]


def test_the_browser_turns_jalali_days_back(static_page: Page) -> None:
    texts = ["1405/12/29", "1405/12/30", "1403/12/30", "1404-01-31", "2026-02-29", "2028.02.29", "x"]
    found: list[str | None] = static_page.evaluate(
        """async (texts) => {
            const m = await import('/static/js/jalali.js');
            const day = (time) => (Number.isNaN(time) ? null : new Date(time).toISOString().slice(0, 10));
            return texts.map(m.parseDay).map(day);
        }""",
        texts,
    )
    assert found == ["2027-03-20", None, "2025-03-20", "2025-04-20", None, "2028-02-29", None]

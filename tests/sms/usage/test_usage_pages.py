"""The usage page, its downloads and the prices page, as people see them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from campaigns.models import Campaign
from core.spreadsheets.reading import reading
from core.tenancy import workspace_scope
from sms.models import Script, SmsPrice, SmsUsage
from sms.usage import exporting
from sms.usage.accounting import account_of, history
from sms.usage.months import Month
from sms.usage.prices import PriceBook
from tests.clocks import MovableClock
from tests.factories import make
from tests.people import Answer
from tests.sms.messages import make_account
from tests.spreadsheets import upload
from workspaces.models import AuditRecord, User, Workspace

pytestmark = pytest.mark.django_db
AZAR = Month(1405, 9, "Asia/Tehran")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture
def month(workspace: Workspace, clock: MovableClock) -> Campaign:
    """Azar 1405: a price that changes within, three lines' worth of messages; one before, one elsewhere."""
    campaign = make(Campaign, workspace, name="یلدا")
    make(SmsPrice, workspace, rials=1000, valid_from=date(2026, 3, 21))
    make(SmsPrice, workspace, rials=1500, valid_from=date(2026, 11, 25))
    common: dict[str, Any] = {"line": "50001", "campaign_id": campaign.pk}
    make(SmsUsage, workspace, sent_on=at("2026-11-22 09:00"), sms_count=2, counted_parts=2, **common)
    make(SmsUsage, workspace, sent_on=at("2026-11-26 09:00"), sms_count=3, counted_parts=2, **common)
    make(SmsUsage, workspace, sent_on=at("2026-11-27 09:00"), script=Script.LATIN, event_type="test")
    make(SmsUsage, workspace, sent_on=at("2026-11-21 20:29"), sms_count=7, counted_parts=7)  # Aban
    return campaign


# -- reckoning ----------------------------------------------------------------------------------------


def test_a_month_is_reckoned_with_the_prices_of_its_days(month: Campaign) -> None:
    total = account_of(AZAR, PriceBook.load()).total

    assert (total.messages, total.parts, total.counted) == (3, 6, 5)
    assert (total.cost, total.expected) == (Decimal(2 * 1000 + 3 * 1500), Decimal(2 * 1000 + 2 * 1500))
    assert (total.extra_parts, total.extra_cost, total.unpriced) == (1, Decimal(1500), 1)


def test_months_before_are_told_beside_it(month: Campaign) -> None:
    told = [(one.key, total.parts, total.cost) for one, total in history(AZAR, PriceBook.load(), months=3)]

    costs = [Decimal(6500), Decimal(7000), Decimal(0)]
    assert told == list(zip(("1405-09", "1405-08", "1405-07"), (6, 7, 0), costs, strict=True))


def test_sums_add_up_by_whatever_they_are_told(month: Campaign) -> None:
    account = account_of(AZAR, PriceBook.load())
    for field in ("event_type", "campaign_id", "line", "script", "stretch"):
        assert sum(total.parts for _key, total in account.by(lambda g: getattr(g, field))) == 6  # noqa: B023


def test_another_workspace_s_usage_is_not_ours(workspace: Workspace, other_workspace: Workspace) -> None:
    make(SmsUsage, other_workspace, sent_on=at("2026-11-22 09:00"))

    assert account_of(AZAR, PriceBook.load()).total.messages == 0


def test_an_account_is_one_query(month: Campaign, django_assert_num_queries: Any) -> None:
    book = PriceBook.load()
    with django_assert_num_queries(2):
        account_of(AZAR, book)
        history(AZAR, book)


# -- the page -----------------------------------------------------------------------------------------


def page(client: Client, key: str = "") -> str:
    response = client.get(reverse("sms:usage"), {"month": key} if key else {})
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_tells_the_current_month(month: Campaign, member_client: Client) -> None:
    html = page(member_client)

    assert "آذر ۱۴۰۵" in html
    assert "یلدا" in html
    assert "۶٬۵۰۰" in html


def test_the_page_goes_back_month_by_month(month: Campaign, member_client: Client) -> None:
    html = page(member_client, "1405-08")

    assert "آبان ۱۴۰۵" in html
    assert "month=1405-07" in html
    assert "۷٬۰۰۰" in html


def test_a_month_that_has_not_begun_is_the_current_one(month: Campaign, member_client: Client) -> None:
    assert "آذر ۱۴۰۵" in page(member_client, "1405-11")


def test_parts_without_a_price_are_told(month: Campaign, member_client: Client) -> None:
    assert reverse("sms:prices") in page(member_client)
    assert "۱ پارت" in page(member_client)


def test_an_empty_month_says_so(workspace: Workspace, clock: MovableClock, member_client: Client) -> None:
    assert "empty" in page(member_client)


def test_the_page_costs_the_same_however_much_was_sent(
    month: Campaign, workspace: Workspace, member_client: Client
) -> None:
    page(member_client)  # what is asked once in a session
    costs = []
    for count in (0, 30):
        for number in range(count):
            campaign = make(Campaign, workspace, name=f"c{number}")
            make(
                SmsUsage, workspace, sent_on=at("2026-11-22 09:00"), line=str(number), campaign_id=campaign.pk
            )
        with CaptureQueriesContext(connection) as queries:
            page(member_client)
        costs.append(len(queries))

    assert costs[0] == costs[1]


@pytest.mark.parametrize("role", ["marketer", "operator"])
def test_who_may_not_set_prices_is_not_asked_to(
    month: Campaign, request: pytest.FixtureRequest, client_of: Callable[..., Client], role: str
) -> None:
    html = page(client_of(request.getfixturevalue(role)))

    assert reverse("sms:prices") not in html


# -- downloads ----------------------------------------------------------------------------------------


def download(client: Client, what: str, kind: str, key: str = "1405-09") -> Answer:
    url = reverse("sms:usage-export", kwargs={"what": what, "kind": kind})
    response = client.get(url, {"month": key})
    assert response.status_code == 200
    return response


def csv_of(response: Answer) -> list[list[str]]:
    data = response.getvalue()
    assert data.startswith(b"\xef\xbb\xbf")  # or Excel shows Persian as noise
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"))))


def test_every_message_of_the_month_is_in_the_csv(month: Campaign, member_client: Client) -> None:
    header, *rows = csv_of(download(member_client, "messages", "csv"))

    assert len(rows) == 3
    assert header[0] == "زمان"
    assert rows[1][2:] == ["گام گردش‌کار", "یلدا", "50001", "فارسی", "2", "3", "1500.00", "4500.00"]
    assert rows[0][0].startswith("1405/09/01")
    assert rows[2][-2:] == ["", ""]


def test_the_csv_is_read_while_it_is_sent(month: Campaign, member_client: Client) -> None:
    assert download(member_client, "messages", "csv").streaming


def test_the_summary_adds_up(month: Campaign, member_client: Client) -> None:
    _header, *rows = csv_of(download(member_client, "summary", "csv"))

    assert rows[-1][4:] == ["3", "5", "6", "5000.00", "6500.00", "1"]


@pytest.mark.parametrize(("what", "rows"), [("messages", 4), ("summary", 4)])
def test_the_workbook_can_be_read_and_summed(
    month: Campaign, member_client: Client, what: str, rows: int
) -> None:
    response = download(member_client, what, "xlsx")
    data = response.getvalue()
    response.close()

    with reading(upload("usage.xlsx", data)) as table:
        cells = [row.cells for row in table]
    assert len(cells) == rows
    assert sum(float(cell) for cell in cells[1] if isinstance(cell, int | float)) > 0


def test_a_campaign_that_is_named_like_a_formula_cannot_act(month: Campaign, member_client: Client) -> None:
    Campaign.objects.update(name="=HYPERLINK(1)")

    assert "'=HYPERLINK(1)" in csv_of(download(member_client, "messages", "csv"))[1]


def test_a_month_that_no_workbook_holds_is_refused(
    month: Campaign, member_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "MAX_XLSX_ROWS", 2)
    url = reverse("sms:usage-export", kwargs={"what": "messages", "kind": "xlsx"})
    response = member_client.get(url, {"month": "1405-09"}, follow=True)

    assert "csv" in response.content.decode()
    assert response.redirect_chain[0][0].endswith("month=1405-09")


def test_a_download_is_audited(month: Campaign, member_client: Client) -> None:
    download(member_client, "summary", "csv").getvalue()

    record = AuditRecord.objects.get(event="sms.usage_exported")
    assert record.new == {"format": "csv", "rows": "summary", "month": "1405-09"}


@pytest.mark.parametrize(("what", "kind"), [("messages", "pdf"), ("people", "csv")])
def test_there_is_no_other_download(member_client: Client, what: str, kind: str) -> None:
    url = reverse("sms:usage-export", kwargs={"what": what, "kind": kind})

    assert member_client.get(url).status_code == 404


def test_a_download_holds_our_own_messages_only(
    month: Campaign, other_workspace: Workspace, stranger: User, client_of: Callable[..., Client]
) -> None:
    with workspace_scope(other_workspace.pk):
        _header, *rows = csv_of(download(client_of(stranger), "messages", "csv"))

    assert rows == []


# -- prices -------------------------------------------------------------------------------------------


def add(client: Client, **values: str) -> Answer:
    given = {"line": "", "script": "ucs2", "rials": "۱٬۲۵۰٫۵", "valid_from": "۱۴۰۵/۰۹/۱۰", **values}
    return client.post(reverse("sms:prices"), given)


def test_a_price_is_added_in_persian_digits_and_from_a_jalali_day(
    workspace: Workspace, clock: MovableClock, member_client: Client
) -> None:
    make_account(workspace, lines=["50004001"])
    response = add(member_client, line="50004001")

    row = SmsPrice.objects.get()
    assert (response.status_code, str(row.rials), row.valid_from, row.line) == (
        302, "1250.50", date(2026, 12, 1), "50004001",
    )  # fmt: skip


@pytest.mark.parametrize(
    "values",
    [
        {"rials": "-1"},
        {"rials": ""},
        {"rials": "NaN"},
        {"rials": "1e9"},
        {"rials": "1.234"},
        {"rials": "x" * 5000},
        {"script": "ascii"},
        {"line": "50009999"},
        {"valid_from": "1405/13/01"},
        {"valid_from": ""},
    ],
)
def test_a_wrong_price_is_refused_in_words(
    workspace: Workspace, clock: MovableClock, member_client: Client, values: dict[str, str]
) -> None:
    response = add(member_client, **values)

    assert (response.status_code, SmsPrice.objects.count()) == (422, 0)
    assert 'role="alert"' in response.content.decode()


def test_a_second_price_from_the_same_day_is_refused(
    workspace: Workspace, clock: MovableClock, member_client: Client
) -> None:
    add(member_client)
    response = add(member_client, rials="5")

    assert (response.status_code, SmsPrice.objects.count()) == (409, 1)


def test_a_price_is_removed(workspace: Workspace, clock: MovableClock, member_client: Client) -> None:
    row = make(SmsPrice, workspace)
    member_client.post(reverse("sms:price-remove", args=(row.pk,)))

    assert not SmsPrice.objects.exists()


def test_the_page_says_which_price_is_in_force(
    workspace: Workspace, clock: MovableClock, owner: User, client_of: Callable[..., Client]
) -> None:
    for day in (date(2026, 3, 21), date(2026, 11, 1), date(2027, 3, 21)):
        make(SmsPrice, workspace, valid_from=day)
    html = client_of(owner, language="en").get(reverse("sms:prices")).content.decode()

    assert [html.count(f">{word}<") for word in ("In force", "Over", "Not yet")] == [1, 1, 1]

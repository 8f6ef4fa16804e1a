from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from python_calamine import CalamineWorkbook

from sms import switch
from sms.models import SmsLog, SmsLogEvent, SmsStatus
from sms.providers.melipayamak_codes import DELIVERY_CODES
from sms.reports import ingest_reports
from sms.types import DeliveryReport, DeliveryStatus
from tests.clocks import MovableClock
from tests.factories import make_campaign
from tests.people import client_of
from tests.sms.messages import make_log
from workspaces.models import AuditRecord, User, Workspace

PAGE = "/automation/sms-logs/"


@pytest.fixture
def english(marketer: User, clock: MovableClock) -> Client:
    return client_of(marketer, language="en")


def shown(client: Client, query: str = "") -> set[int]:
    """The numbers of the messages on the page."""
    response = client.get(PAGE + query)
    assert response.status_code == 200
    return {line["row"].pk for line in response.context["lines"]}


@pytest.mark.parametrize(("role", "status"), [("operator", 200), ("marketer", 200), ("seller", 403)])
def test_the_log_needs_its_own_permission(
    workspace: Workspace, role: str, status: int, request: pytest.FixtureRequest
) -> None:
    row = make_log(workspace)
    client = client_of(request.getfixturevalue(role))

    assert client.get(PAGE).status_code == status
    assert client.get(reverse("sms:log", args=[row.pk])).status_code == status


def test_another_workspaces_messages_are_not_there(
    english: Client, workspace: Workspace, other_workspace: Workspace
) -> None:
    ours, theirs = make_log(workspace), make_log(other_workspace)

    assert shown(english) == {ours.pk}
    assert english.get(reverse("sms:log", args=[theirs.pk])).status_code == 404


def test_messages_are_listed_newest_first(english: Client, workspace: Workspace) -> None:
    rows = [make_log(workspace) for _ in range(3)]

    listed = [line["row"].pk for line in english.get(PAGE).context["lines"]]

    assert listed == [row.pk for row in reversed(rows)]


def test_each_filter_narrows_the_list(english: Client, workspace: Workspace) -> None:
    delivered = make_log(workspace, status=SmsStatus.DELIVERED, phone_number="09121111111", campaign_id=7)
    failed = make_log(workspace, status=SmsStatus.FAILED, phone_number="09122222222", campaign_id=8)

    assert shown(english, "?status=delivered") == {delivered.pk}
    assert shown(english, "?campaign=8") == {failed.pk}
    assert shown(english, "?campaign=۷") == {delivered.pk}
    assert shown(english, "?number=%2B989121111111") == {delivered.pk}
    assert shown(english, "?number=۲۲۲۲") == {failed.pk}
    assert shown(english, "?status=delivered&campaign=8") == set()


@pytest.mark.parametrize(
    "query",
    ["?status=nonsense", "?since=never", "?campaign=x", "?campaign=-1", "?campaign=99999999999999999999"],
)
def test_a_wrong_filter_narrows_nothing(english: Client, workspace: Workspace, query: str) -> None:
    row = make_log(workspace)

    assert shown(english, query) == {row.pk}


def test_days_are_the_workspaces_and_both_ends_are_included(
    english: Client, workspace: Workspace, clock: MovableClock
) -> None:
    clock.move_to(datetime(2026, 11, 29, 20, 29, tzinfo=UTC))  # 23:59 in Tehran, the day before
    make_log(workspace)
    clock.move_to(datetime(2026, 11, 29, 20, 30, tzinfo=UTC))
    midnight = make_log(workspace)
    clock.move_to(datetime(2026, 11, 30, 20, 29, tzinfo=UTC))
    evening = make_log(workspace)
    clock.move_to(datetime(2026, 11, 30, 20, 30, tzinfo=UTC))
    make_log(workspace)

    assert shown(english, "?since=1405/09/09&until=1405/09/09") == {midnight.pk, evening.pk}


def test_a_failed_message_that_is_tried_again_is_called_waiting(
    english: Client, workspace: Workspace, clock: MovableClock
) -> None:
    at = clock.now() + timedelta(minutes=15)
    waiting = make_log(workspace, status=SmsStatus.FAILED, retry_scheduled_at=at)
    make_log(workspace, status=SmsStatus.FAILED)

    assert shown(english, "?status=waiting") == {waiting.pk}
    assert "Waiting to retry" in english.get(f"{PAGE}?status=waiting").content.decode()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"status": SmsStatus.BLACKLISTED, "error_code": "blacklisted"}, "Skipped – Blacklisted"),
        ({"status": SmsStatus.SKIPPED, "error_code": "no_mobile"}, "The person has no valid mobile number."),
        (
            {"status": SmsStatus.REJECTED, "error_code": "7"},
            "The text contains a word that the provider filters.",
        ),
        (
            {"status": SmsStatus.UNKNOWN, "error_code": "answer_timeout"},
            "The provider did not answer in time",
        ),
        (
            {"status": SmsStatus.UNKNOWN, "error_code": "interrupted"},
            "The work was interrupted while sending",
        ),
    ],
)
def test_the_list_says_in_words_what_happened(
    english: Client, workspace: Workspace, fields: dict[str, str], words: str
) -> None:
    make_log(workspace, **fields)

    assert words in english.get(PAGE).content.decode()


def test_fifty_messages_are_on_a_page(english: Client, workspace: Workspace) -> None:
    for _ in range(51):
        make_log(workspace)

    assert len(shown(english)) == 50
    assert len(shown(english, "?page=2")) == 1


def test_the_number_of_queries_does_not_grow_with_the_messages(english: Client, workspace: Workspace) -> None:
    english.get(PAGE)  # the first visit of a day renews the session
    counts = []
    for size in (1, 40):
        for _ in range(size):
            make_log(workspace)
        with CaptureQueriesContext(connection) as queries:
            english.get(PAGE)
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_a_message_shows_everything_known_of_it(
    english: Client, workspace: Workspace, clock: MovableClock
) -> None:
    row = make_log(
        workspace,
        "4700000000000000007",
        phone_number="09123456789",
        sender_number="50004001",
        final_message="<b>سلام</b>",
        status=SmsStatus.FAILED,
        error_code="6",
        provider_response={"http_status": 200, "Value": "6", "RetStatus": "35"},
        retry_scheduled_at=clock.now() + timedelta(minutes=15),
    )

    page = english.get(reverse("sms:log", args=[row.pk])).content.decode()

    for words in (
        "09123456789", "50004001", "&lt;b&gt;سلام&lt;/b&gt;", "Waiting to retry", "4700000000000000007",
        "The provider is updating its system; nothing was sent.", "&quot;RetStatus&quot;: &quot;35&quot;",
        "Next try",
    ):  # fmt: skip
        assert words in page
    assert "<b>سلام" not in page


def test_a_message_names_its_provider_and_links_its_campaign(english: Client, workspace: Workspace) -> None:
    campaign = make_campaign(workspace, name="Autumn")
    row = make_log(workspace, provider="melipayamak", campaign_id=campaign.pk)
    html = english.get(reverse("sms:log", args=[row.pk])).content.decode()
    assert "<bdi>Melipayamak</bdi>" in html
    assert f'<a href="{reverse("campaigns:detail", args=[campaign.pk])}"><bdi>Autumn</bdi></a>' in html


def test_delivery_reports_are_shown_as_the_provider_sent_them(english: Client, workspace: Workspace) -> None:
    row = make_log(workspace, "1" * 19)
    report = DeliveryReport(
        provider_message_id="1" * 19,
        status=DeliveryStatus.DELIVERED,
        provider_status="DELIVRD",
        raw={"operator": "<script>"},
    )
    ingest_reports(workspace.pk, [report])

    page = english.get(reverse("sms:log", args=[row.pk])).content.decode()

    assert "DELIVRD" in page
    assert "&lt;script&gt;" in page
    assert "<script>&quot;" not in page


def test_the_log_is_closed_while_automation_is_off(
    english: Client, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = make_log(workspace)
    monkeypatch.setattr(switch, "_switch", lambda workspace_id: False)

    assert english.get(PAGE).status_code == 404
    assert english.get(reverse("sms:log", args=[row.pk])).status_code == 404


def test_an_empty_log_says_so(english: Client) -> None:
    assert "No message yet" in english.get(PAGE).content.decode()
    assert "No message matches these filters." in english.get(f"{PAGE}?status=sent").content.decode()


def test_dates_are_jalali_in_persian(marketer: User, workspace: Workspace, clock: MovableClock) -> None:
    make_log(workspace)

    assert "۱۴۰۵/۰۹/۰۹" in client_of(marketer).get(PAGE).content.decode()
    assert SmsLog.objects.count() == 1


def test_line_and_code_narrow(english: Client, workspace: Workspace) -> None:
    one = make_log(workspace, sender_number="50004001", error_code="7", status=SmsStatus.REJECTED)
    make_log(workspace, sender_number="30001", error_code="35", status=SmsStatus.REJECTED)

    assert shown(english, "?line=50004001") == {one.pk}
    assert shown(english, "?line=۵۰۰۰۴۰۰۱") == {one.pk}
    assert shown(english, "?code=7") == {one.pk}
    assert shown(english, "?code=7&line=30001") == set()


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("35", "operator&#x27;s block list"), ("2", "off or out of reach"),
        ("16", "did not reach the operator"), ("300", "filtered the message"),
    ],
)  # fmt: skip
def test_an_undelivered_message_says_why_in_words(
    english: Client, workspace: Workspace, word: str, sentence: str
) -> None:
    row = make_log(workspace, "1" * 19)
    report = DeliveryReport(
        provider_message_id="1" * 19, status=DELIVERY_CODES[word], provider_status=word, raw={}
    )
    ingest_reports(workspace.pk, [report])

    assert sentence in english.get(PAGE).content.decode()
    assert sentence in english.get(reverse("sms:log", args=[row.pk])).content.decode()


def test_a_generic_report_may_say_why(workspace: Workspace) -> None:
    row = make_log(workspace, "1" * 19)
    raw = {"message_id": "1" * 19, "status": "failed", "reason": "unknown_number"}
    report = DeliveryReport(
        provider_message_id="1" * 19, status=DeliveryStatus.FAILED, provider_status="failed", raw=raw
    )
    ingest_reports(workspace.pk, [report])

    row.refresh_from_db()
    assert (row.status, row.error_code) == (SmsStatus.FAILED, "number_unknown")


def test_delivery_after_all_takes_the_reason_away(workspace: Workspace) -> None:
    row = make_log(workspace, "1" * 19)
    for word in ("2", "1"):
        report = DeliveryReport(
            provider_message_id="1" * 19, status=DELIVERY_CODES[word], provider_status=word, raw={}
        )
        ingest_reports(workspace.pk, [report])

    row.refresh_from_db()
    assert (row.status, row.error_code) == (SmsStatus.DELIVERED, "")


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_the_messages_of_a_filter_can_be_downloaded(english: Client, workspace: Workspace, kind: str) -> None:
    make_log(workspace, phone_number="09121111111", final_message="=1+1", status=SmsStatus.DELIVERED)
    make_log(workspace, phone_number="09122222222", status=SmsStatus.FAILED)

    response = english.get(f"/automation/sms-logs/export.{kind}?status=delivered")

    body = b"".join(response) if response.streaming else response.content
    rows = read_rows(body, kind)
    assert [row[2] for row in rows[1:]] == ["09121111111"]
    assert rows[1][4].endswith("=1+1")
    assert rows[1][4].startswith("'")
    audited = AuditRecord.objects.get(event="sms.logs_exported")
    assert audited.new == {"format": kind, "status": "delivered"}


def read_rows(body: bytes, kind: str) -> list[list[str]]:
    if kind == "csv":
        rows = csv.reader(io.StringIO(body.decode("utf-8-sig")))
        return [[cell.strip("\t") for cell in row] for row in rows]
    sheet = CalamineWorkbook.from_filelike(io.BytesIO(body)).get_sheet_by_index(0)
    return [[str(cell) for cell in row] for row in sheet.to_python()]


def test_an_unknown_kind_of_file_is_not_there(english: Client) -> None:
    assert english.get("/automation/sms-logs/export.pdf").status_code == 404


def test_a_campaign_is_chosen_by_its_name(english: Client, workspace: Workspace) -> None:
    campaign = make_campaign(workspace, name="Autumn")
    row = make_log(workspace, campaign_id=campaign.pk)
    make_log(workspace)

    for address in (PAGE, "/automation/sms-unknown/"):
        page = english.get(f"{address}?campaign={campaign.pk}").content.decode()
        assert f'<option value="{campaign.pk}" selected>Autumn</option>' in page
    assert shown(english, f"?campaign={campaign.pk}") == {row.pk}
    assert "Autumn</bdi></a>" in english.get(PAGE).content.decode()


def test_the_list_costs_the_same_for_any_number_of_campaigns(english: Client, workspace: Workspace) -> None:
    counts = []
    english.get(PAGE)
    for _ in range(2):
        for number in range(5):
            campaign = make_campaign(workspace, name=f"Campaign {number}")
            make_log(workspace, campaign_id=campaign.pk)
        with CaptureQueriesContext(connection) as queries:
            english.get(PAGE)
        counts.append(len(queries))

    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("provider", "word", "said"),
    [
        ("melipayamak", "35", "(on the operator&#x27;s block list)"),
        ("melipayamak", "42", "(not in the provider&#x27;s list of codes)"),
        ("generic", "delivered", "(on the phone)"),
    ],
)
def test_a_delivery_code_is_told_in_words(
    english: Client, workspace: Workspace, provider: str, word: str, said: str
) -> None:
    row = make_log(workspace, provider=provider)
    SmsLogEvent.objects.create(
        workspace=workspace, sms_log=row, event="delivery_report", provider_status=word, payload={},
        dedupe_key=f"delivery_report:{word}", occurred_at=row.created_at,
    )  # fmt: skip

    assert said in english.get(f"{PAGE}{row.pk}").content.decode()

"""The block list in the browser."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from blacklist import importing
from blacklist.models import BlacklistEntry, Reason, Source
from core.spreadsheets.reading import reading
from tests.factories import make_blacklist_entry
from tests.people import client_of
from tests.spreadsheets import csv_file, upload, xlsx_file
from workspaces.models import AuditRecord, User, Workspace

URL = "/automation/blacklist/"


@pytest.fixture
def site(marketer: User) -> Client:
    return client_of(marketer, language="en")


def test_the_page_shows_number_state_reason_and_source(site: Client, workspace: Workspace) -> None:
    make_blacklist_entry(workspace, value="09123456789", reason=Reason.COMPLAINT, source=Source.API)
    html = site.get(URL).content.decode()
    for word in ("09123456789", "Blocked", "Complaint", "API"):
        assert word in html


def test_numbers_of_another_workspace_are_not_shown(
    site: Client, workspace: Workspace, other_workspace: Workspace
) -> None:
    make_blacklist_entry(other_workspace, value="09120000009")
    assert "09120000009" not in site.get(URL).content.decode()


@pytest.mark.parametrize("query", ["0912345", "۰۹۱۲۳۴۵", "+98912345", "912 345"])
def test_search_finds_a_part_of_a_number_in_any_digits(
    site: Client, workspace: Workspace, query: str
) -> None:
    make_blacklist_entry(workspace, value="09123456789")
    make_blacklist_entry(workspace, value="09350000000")
    html = site.get(URL, {"q": query}).content.decode()
    assert "09123456789" in html
    assert "09350000000" not in html


@pytest.mark.parametrize(
    ("parameters", "shown"),
    [
        ({"source": "opt_out"}, "09120000001"),
        ({"reason": "complaint"}, "09120000002"),
        ({"state": "removed"}, "09120000003"),
    ],
)
def test_filters_narrow_by_source_reason_and_state(
    site: Client, workspace: Workspace, parameters: dict[str, str], shown: str
) -> None:
    make_blacklist_entry(workspace, value="09120000001", source=Source.OPT_OUT)
    make_blacklist_entry(workspace, value="09120000002", reason=Reason.COMPLAINT)
    make_blacklist_entry(workspace, value="09120000003", is_active=False)
    html = site.get(URL, parameters).content.decode()
    assert [n for n in ("09120000001", "09120000002", "09120000003") if n in html] == [shown]


def test_several_numbers_are_blocked_at_once(site: Client, workspace: Workspace, marketer: User) -> None:
    numbers = "۰۹۱۲۳۴۵۶۷۸۹\n+98 935 111 2233، 9120000000"
    response = site.post(
        URL + "add/", {"numbers": numbers, "reason": "complaint", "description": "asked by phone"}
    )
    assert response.status_code == 302
    entries = BlacklistEntry.objects.order_by("value")
    assert [e.value for e in entries] == ["09120000000", "09123456789", "09351112233"]
    assert {(e.source, e.reason, e.description, e.created_by) for e in entries} == {
        ("manual", "complaint", "asked by phone", marketer)
    }


def test_what_cannot_be_read_comes_back_with_its_reason_and_the_rest_is_blocked(
    site: Client, workspace: Workspace
) -> None:
    response = site.post(URL + "add/", {"numbers": "09123456789\n0912CALLNOW", "reason": "manual"})
    html = response.content.decode()
    assert response.status_code == 422
    assert "0912CALLNOW" in html
    assert "characters that do not belong" in html
    assert [e.value for e in BlacklistEntry.objects.all()] == ["09123456789"]


def test_a_number_is_unblocked_and_blocked_again(site: Client, workspace: Workspace) -> None:
    entry = make_blacklist_entry(workspace)
    site.post(f"{URL}{entry.pk}/deactivate/")
    entry.refresh_from_db()
    assert entry.is_active is False
    site.post(f"{URL}{entry.pk}/reactivate/")
    entry.refresh_from_db()
    assert entry.is_active is True


def test_an_entry_of_another_workspace_is_not_found(
    site: Client, workspace: Workspace, other_workspace: Workspace
) -> None:
    entry = make_blacklist_entry(other_workspace)
    assert site.post(f"{URL}{entry.pk}/deactivate/").status_code == 404
    assert BlacklistEntry.unscoped.get(pk=entry.pk).is_active


def test_a_file_is_imported_with_its_counts(site: Client, workspace: Workspace) -> None:
    for number in ("09120000001", "09120000002"):
        make_blacklist_entry(workspace, value=number)
    numbers = [
        "09120000001",
        "۰۹۱۲۰۰۰۰۰۰۲",
        "09120000003",
        "+989120000004",
        "9120000005",
        "nonsense",
        "09120000005",
    ]
    file = csv_file([["شماره"], *([number] for number in numbers)])
    result = site.post(URL + "import/", {"file": file, "reason": "imported"}).context["result"]
    assert (result.added, result.already, result.reactivated, result.invalid) == (3, 2, 0, 1)
    assert (result.examples[0].row, result.examples[0].raw) == (7, "nonsense")
    assert BlacklistEntry.objects.filter(source=Source.IMPORT).count() == 3


def test_the_column_of_numbers_is_found(site: Client, workspace: Workspace) -> None:
    file = xlsx_file([["ردیف", "نام", "موبایل"], [1, "سارا", 9123456789], [2, "علی", "۰۹۳۵۱۱۱۲۲۳۳"]])
    site.post(URL + "import/", {"file": file, "reason": "imported"})
    assert set(BlacklistEntry.objects.values_list("value", flat=True)) == {"09123456789", "09351112233"}


def test_a_file_without_a_header_loses_no_number(site: Client, workspace: Workspace) -> None:
    site.post(URL + "import/", {"file": csv_file([["09123456789"], ["09351112233"]]), "reason": "imported"})
    assert BlacklistEntry.objects.count() == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"%PDF-1.7", "is not a spreadsheet"),
        (b"", "is empty"),
        (b"name,city\nsara,tehran\n", "no column of phone numbers"),
        (b"PK\x03\x04broken", "is damaged"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_words(
    site: Client, workspace: Workspace, content: bytes, words: str
) -> None:
    response = site.post(URL + "import/", {"file": upload("numbers.xlsx", content), "reason": "imported"})
    assert response.status_code == 422
    assert words in response.content.decode()
    assert "numbers.xlsx" in response.content.decode()


def test_a_file_too_long_to_wait_for_blocks_nobody(
    site: Client, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "MAX_ROWS", 2)
    numbers = csv_file([[f"0912000000{n}"] for n in range(3)])
    response = site.post(URL + "import/", {"file": numbers, "reason": "imported"})
    assert "more than 2 filled rows" in response.content.decode()
    assert not BlacklistEntry.objects.exists()


def test_no_file_is_no_server_error(site: Client, workspace: Workspace) -> None:
    assert site.post(URL + "import/", {"reason": "imported"}).status_code == 422


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
def test_the_export_holds_the_filtered_numbers_of_this_workspace(
    site: Client, workspace: Workspace, other_workspace: Workspace, kind: str
) -> None:
    make_blacklist_entry(workspace, value="09120000001", source=Source.OPT_OUT)
    make_blacklist_entry(workspace, value="09120000002")
    make_blacklist_entry(other_workspace, value="09120000003", source=Source.OPT_OUT)
    response = site.get(f"{URL}export.{kind}", {"source": "opt_out"})
    with reading(upload(f"x.{kind}", response.getvalue())) as table:
        assert [row.cells[0].strip() for row in table][1:] == ["09120000001"]
    assert response["Content-Disposition"].startswith("attachment")
    assert response["X-Content-Type-Options"] == "nosniff"


def test_an_export_can_be_imported_again(site: Client, workspace: Workspace) -> None:
    make_blacklist_entry(workspace, value="09120000001", description="=1+1")
    exported = site.get(URL + "export.xlsx").getvalue()
    BlacklistEntry.objects.all().delete()
    site.post(URL + "import/", {"file": upload("x.xlsx", exported), "reason": "imported"})
    assert BlacklistEntry.objects.get().value == "09120000001"


@pytest.mark.parametrize("language", ["fa", "en"])
def test_whom_an_export_calls_unblocked_is_not_blocked_elsewhere(
    workspace: Workspace, marketer: User, other_workspace: Workspace, stranger: User, language: str
) -> None:
    make_blacklist_entry(workspace, value="09120000001")
    make_blacklist_entry(workspace, value="09120000002", is_active=False)
    exported = client_of(marketer, language=language).get(URL + "export.csv").getvalue()
    answer = client_of(stranger).post(
        URL + "import/", {"file": upload("x.csv", exported), "reason": "imported"}
    )
    result = answer.context["result"]
    assert (result.added, result.released, result.invalid) == (1, 1, 0)
    entry = BlacklistEntry.unscoped.get(workspace=other_workspace)
    assert (entry.value, entry.source) == ("09120000001", Source.IMPORT)


def test_an_export_is_audited(site: Client, workspace: Workspace) -> None:
    site.get(URL + "export.csv")
    assert AuditRecord.objects.get().event == "blacklist.exported"


def test_looking_needs_the_right_to_view_and_changing_the_right_to_manage(
    workspace: Workspace, operator: User, seller: User
) -> None:
    make_blacklist_entry(workspace, value="09123456789")
    assert client_of(seller).get(URL).status_code == 403
    looking = client_of(operator, language="en")
    assert "Block numbers" not in looking.get(URL).content.decode()
    assert looking.post(URL + "add/", {"numbers": "09120000000", "reason": "manual"}).status_code == 403
    assert looking.get(URL + "import/").status_code == 403


def test_the_list_costs_as_many_queries_for_fifty_rows_as_for_one(
    site: Client, workspace: Workspace, owner: User
) -> None:
    site.get(URL)
    costs = []
    for count in (1, 49):
        for _n in range(count):
            make_blacklist_entry(workspace, created_by=owner)
        with CaptureQueriesContext(connection) as captured:
            site.get(URL)
        costs.append(len(captured))
    assert costs[0] == costs[1] <= 6


def test_pages_hold_fifty_rows(site: Client, workspace: Workspace) -> None:
    for _n in range(51):
        make_blacklist_entry(workspace)
    assert len(site.get(URL).context["page"]) == 50
    assert len(site.get(URL, {"page": "۲"}).context["page"]) == 1

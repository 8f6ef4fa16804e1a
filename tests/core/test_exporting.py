"""Downloads of tables: bounded, in the reader's language, safe in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import translation
from python_calamine import CalamineWorkbook

from automation.models import Workflow
from campaigns.models import Campaign
from core import exporting
from core.errors import NotFound, Refused
from core.exporting import Digits, Table, download
from core.tenancy import current_workspace_id, workspace_scope
from sms.models import InboundSms, LineRule, SmsLog, SmsTemplate
from targets.models import Activity, ImportJob, Target, TargetList
from tests.campaigns import builders
from tests.factories import make
from workspaces.models import ApiToken, AuditRecord, User, Workspace

pytestmark = pytest.mark.usefixtures("workspace", "clock")


def body_of(response: Any) -> bytes:
    return b"".join(response) if response.streaming else response.content


def csv_rows(response: Any) -> list[list[str]]:
    return list(csv.reader(io.StringIO(body_of(response).decode("utf-8-sig"))))


def cells(chunk: Sequence[Target]) -> list[list[object]]:
    return [
        [Digits(row.mobile), row.display_name, translation.get_language(), current_workspace_id()]
        for row in chunk
    ]


TABLE = Table(name="people", title="People", columns=("Mobile", "Name", "L", "W"), cells=cells)


def test_a_table_is_read_in_chunks_however_long_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "CHUNK", 4)
    builders.people(10)
    with CaptureQueriesContext(connection) as seen:
        rows = csv_rows(download(TABLE, Target.objects.all(), "csv"))
    assert len(rows) == 11
    assert len(seen) == 3
    assert [row[0] for row in rows[1:]] == sorted((row[0] for row in rows[1:]), reverse=True)


def test_what_is_streamed_after_the_view_is_still_in_its_language_and_workspace(
    workspace: Workspace, other_workspace: Workspace
) -> None:
    builders.people(1)
    with translation.override("fa"):
        response = download(TABLE, Target.objects.all(), "csv")
    with translation.override("en"), workspace_scope(other_workspace.pk):
        assert csv_rows(response)[1][2:] == ["fa", str(workspace.pk)]


def test_a_phone_stays_text_in_both_kinds_of_file(
    workspace: Workspace, owner: User, client_of: Callable[..., Client]
) -> None:
    make(Target, workspace, mobile="09121234567", name="=1+1")
    web = client_of(owner, language="en")
    name, mobile = (csv_rows(web.get("/targets/export.csv"))[1][place] for place in (1, 4))
    assert (name, mobile) == ("'=1+1", "\t09121234567")
    book = body_of(web.get("/targets/export.xlsx"))
    sheet = CalamineWorkbook.from_filelike(io.BytesIO(book)).get_sheet_by_index(0)
    assert [sheet.to_python()[1][place] for place in (1, 4)] == ["'=1+1", "09121234567"]


def test_a_workbook_of_too_many_rows_is_refused_and_a_strange_kind_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exporting, "XLSX_ROWS", 2)
    builders.people(3)
    with pytest.raises(Refused) as refused:
        download(TABLE, Target.objects.all(), "xlsx")
    assert refused.value.code == "too_many_rows"
    with pytest.raises(NotFound):
        download(TABLE, Target.objects.all(), "pdf")


# -- every table of the site --------------------------------------------------------------------------


def filled(workspace: Workspace, owner: User) -> dict[str, str]:
    """Addresses of all downloads, each with something in it."""
    campaign = builders.running(user=owner)
    ids = builders.people(3)
    builders.enrol(campaign, ids, user=owner)
    builders.on_list(ids)
    make(SmsLog, workspace, status="unknown", phone_number="09121111111", campaign_id=campaign.pk)
    make(InboundSms, workspace)
    make(SmsTemplate, workspace, name="=offer", body="Hello {target.first_name}", created_by=owner)
    make(LineRule, workspace, line="*", finality_hours=48)
    make(TargetList, workspace)
    make(Activity, workspace, owner=owner, target=Target.objects.get(pk=ids[0]))
    make(ImportJob, workspace, file_name="@people.csv", created_by=owner)
    make(ApiToken, workspace, name="+reports")
    Workflow.objects.filter(pk=campaign.workflow_id).update(name="=welcome")
    User.objects.filter(pk=owner.pk).update(full_name="-owner")
    one = [campaign.pk, "csv"]
    return {
        "targets:export": reverse("targets:export", args=["csv"]),
        "targets:lists-export": reverse("targets:lists-export", args=["csv"]),
        "targets:activities-export": reverse("targets:activities-export", args=["csv"]),
        "campaigns:list-export": reverse("campaigns:list-export", args=["csv"]),
        "campaigns:numbers-export": reverse("campaigns:numbers-export", args=one),
        "campaigns:people-export": reverse("campaigns:people-export", args=one),
        "campaigns:logs-export": reverse("campaigns:logs-export", args=one),
        "sms:logs-export": reverse("sms:logs-export", args=["csv"]),
        "sms:unknown-export": reverse("sms:unknown-export", args=["csv"]),
        "sms:inbound-export": reverse("sms:inbound-export", args=["csv"]),
        "sms:templates-export": reverse("sms:templates-export", args=["csv"]),
        "sms:line-rules-export": reverse("sms:line-rules-export", args=["csv"]),
        "targets:imports-export": reverse("targets:imports-export", args=["csv"]),
        "automation:list-export": reverse("automation:list-export", args=["csv"]),
        "workspaces:members-export": reverse("workspaces:members-export", args=["csv"]),
        "workspaces:tokens-export": reverse("workspaces:tokens-export", args=["csv"]),
        "workspaces:audit-export": reverse("workspaces:audit-export", args=["csv"]),
    }


def test_every_download_has_a_cell_for_each_column_and_is_audited(
    workspace: Workspace, owner: User, client_of: Callable[..., Client]
) -> None:
    web = client_of(owner, language="en")
    for name, address in filled(workspace, owner).items():
        before = AuditRecord.objects.count()
        response = web.get(address)
        assert response.status_code == 200, name
        header, *rows = csv_rows(response)
        assert rows, name
        assert {len(row) for row in rows} == {len(header)}, name
        assert AuditRecord.objects.count() == before + 1, name
    assert AuditRecord.objects.filter(event="table.downloaded").latest("pk").new == {
        "table": "audit-log",
        "format": "csv",
    }


def test_formulas_in_names_stay_text_and_no_file_holds_a_secret(
    workspace: Workspace, owner: User, client_of: Callable[..., Client]
) -> None:
    web, addresses = client_of(owner, language="en"), filled(workspace, owner)
    hostile = {
        "sms:templates-export": "'=offer",
        "targets:imports-export": "'@people.csv",
        "automation:list-export": "'=welcome",
        "workspaces:members-export": "'-owner",
        "workspaces:tokens-export": "'+reports",
    }
    found = {name: csv_rows(web.get(addresses[name])) for name in hostile}
    cells = {name: {cell for row in rows for cell in row} for name, rows in found.items()}
    assert [name for name, text in hostile.items() if text not in cells[name]] == []
    digest = ApiToken.objects.values_list("digest", flat=True)[0]
    assert not any(digest[:12] in cell for cell in cells["workspaces:tokens-export"])


def test_a_download_costs_the_same_for_many_rows(
    workspace: Workspace, owner: User, client_of: Callable[..., Client]
) -> None:
    web = client_of(owner, language="en")
    addresses = filled(workspace, owner)

    def cost() -> dict[str, int]:
        found = {}
        for name, address in addresses.items():
            with CaptureQueriesContext(connection) as seen:
                body_of(web.get(address))
            found[name] = len(seen)
        return found

    cost()
    few = cost()
    campaign_id = int(addresses["campaigns:people-export"].split("/")[3])
    builders.enrol(Campaign.objects.get(pk=campaign_id), builders.people(20), user=owner)
    for _ in range(10):
        make(SmsLog, workspace, status="unknown", campaign_id=campaign_id)
        make(InboundSms, workspace)
        make(SmsTemplate, workspace, created_by=owner)
        make(LineRule, workspace)
    assert cost() == few
    assert few.pop("campaigns:numbers-export") <= 30  # as many as its page
    assert max(few.values()) <= 16


def test_a_filter_of_the_page_holds_for_its_download(
    workspace: Workspace, owner: User, client_of: Callable[..., Client]
) -> None:
    web = client_of(owner, language="en")
    addresses = filled(workspace, owner)
    assert csv_rows(web.get(addresses["campaigns:people-export"] + "?status=completed"))[1:] == []
    assert len(csv_rows(web.get(addresses["campaigns:logs-export"] + "?type=enrolled"))) == 4
    assert csv_rows(web.get(addresses["targets:export"] + "?q=nobody-like-that"))[1:] == []


def test_somebody_with_own_people_takes_only_them_out(
    workspace: Workspace, owner: User, seller: User, client_of: Callable[..., Client]
) -> None:
    builders.people(2, owner=seller)
    addresses = filled(workspace, owner)
    web = client_of(seller, language="en")
    assert len(csv_rows(web.get(addresses["targets:export"]))) == 3
    assert csv_rows(web.get(addresses["campaigns:people-export"]))[1:] == []

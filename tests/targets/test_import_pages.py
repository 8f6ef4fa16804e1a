"""Import in the browser: upload, map, watch, read the result."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client, RequestFactory

from core.spreadsheets.limits import MAX_BYTES
from core.spreadsheets.reading import reading
from targets.importing import jobs
from targets.models import ImportJob, ImportStatus, Target, TargetList, TargetListMember
from tests.factories import make_import_job, make_target
from tests.people import client_of
from tests.spreadsheets import csv_file, upload, xlsx_file
from workspaces.models import User, Workspace

URL = "/targets/imports/"
ROWS = [["نام", "موبایل", "شهر"], ["سارا", "09123456789", "کرج"], ["علی", "0912CALLNOW", "یزد"]]


@pytest.fixture(autouse=True)
def _uploads(settings: Any, tmp_path: Path) -> None:
    storages = {**settings.STORAGES}
    storages["default"] = {**storages["default"], "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = storages


@pytest.fixture
def site(marketer: User) -> Client:
    return client_of(marketer, language="en")


@pytest.fixture
def job(site: Client, workspace: Workspace) -> ImportJob:
    """An uploaded file that waits for its mapping."""
    site.post(URL + "new/", {"file": xlsx_file(ROWS, name="مشتریان.xlsx")})
    return ImportJob.objects.get()


def mapped(job: ImportJob, **changes: str) -> dict[str, str]:
    """What the mapping form posts when nothing but `changes` was touched."""
    return {**{f"c{index}": field for index, field in job.mapping.items()}, **changes}


def test_an_upload_leads_to_its_mapping(site: Client, workspace: Workspace) -> None:
    response = site.post(URL + "new/", {"file": xlsx_file(ROWS)})
    job = ImportJob.objects.get()
    assert response["Location"] == f"{URL}{job.pk}/"
    assert (job.status, job.columns, job.row_count) == ("uploaded", ROWS[0], 3)


def test_the_mapping_page_shows_suggestions_samples_and_what_rows_become(
    site: Client, job: ImportJob
) -> None:
    make_target(job.workspace, name="سارای پیشین", mobile="09123456789")
    html = site.get(f"{URL}{job.pk}/").content.decode()
    assert '<option value="mobile" selected>' in html
    for word in (
        "09123456789 · 0912CALLNOW",
        "Known",
        "سارای پیشین",
        "Refused",
        "characters that do not belong",
    ):
        assert word in re.sub(r"</?(bdi|span)[^>]*>", "", html)


def test_the_preview_follows_the_choice(site: Client, job: ImportJob) -> None:
    html = site.post(f"{URL}{job.pk}/preview/", mapped(job, c1="")).content.decode()
    assert "The row has no phone number" in html
    assert "<html" not in html


def test_headers_nobody_knows_are_told_in_words(site: Client, workspace: Workspace) -> None:
    site.post(URL + "new/", {"file": csv_file([["الف", "ب"], ["سارا", "09123456789"]])})
    job = ImportJob.objects.get()
    assert "None of the headers was recognised" in site.get(f"{URL}{job.pk}/").content.decode()
    assert site.post(f"{URL}{job.pk}/start/", {"c0": "name", "c1": "phone"}).status_code == 302
    assert Target.objects.get().mobile == "09123456789"


def test_a_small_file_is_imported_at_once(site: Client, job: ImportJob) -> None:
    site.post(f"{URL}{job.pk}/start/", mapped(job))
    assert Target.objects.get().city == "کرج"
    html = site.get(f"{URL}{job.pk}/").content.decode()
    for words in ("The import is done", "\u2068موبایل\u2069: The number holds characters", "0912CALLNOW"):
        assert words in html


def test_people_go_on_a_new_list(site: Client, job: ImportJob) -> None:
    site.post(f"{URL}{job.pk}/start/", mapped(job, new_list="بهار"))
    assert TargetListMember.objects.get().list.name == "بهار"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"c1": ""}, "Choose the column that holds the phone number"),
        ({"c2": "name"}, "Two columns are meant for"),
        ({"c2": "workspace_id"}, "not one of the available choices"),
        ({"new_list": "موجود"}, "There is a list of this name already"),
    ],
)
def test_a_mapping_that_cannot_be_used_is_refused_in_words(
    site: Client, job: ImportJob, changes: dict[str, str], words: str
) -> None:
    TargetList.objects.create(workspace=job.workspace, name="موجود")
    response = site.post(f"{URL}{job.pk}/start/", mapped(job, **changes))
    job.refresh_from_db()
    assert (response.status_code in (409, 422), job.status) == (True, "uploaded")
    assert words in response.content.decode()


def test_the_refused_rows_can_be_mended_and_uploaded_again(site: Client, job: ImportJob) -> None:
    site.post(f"{URL}{job.pk}/start/", mapped(job))
    download = site.get(f"{URL}{job.pk}/refused.xlsx")
    with reading(upload("refused.xlsx", download.getvalue())) as table:
        rows = [list(row.cells) for row in table]
    assert rows[0] == ["Row", "Reason", "نام", "موبایل", "شهر"]
    assert (rows[1][0], rows[1][2:]) == ("3", ["علی", "0912CALLNOW", "یزد"])
    rows[1][3] = "09351112233"
    site.post(URL + "new/", {"file": xlsx_file(rows)})
    again = ImportJob.objects.latest("pk")
    assert again.mapping == {"0": "", "1": "", "2": "name", "3": "mobile", "4": "city"}
    site.post(f"{URL}{again.pk}/start/", mapped(again))
    assert Target.objects.get(mobile="09351112233").name == "علی"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"%PDF-1.7", "is not a spreadsheet"),
        (b"PK\x03\x04", "is damaged"),
        ("نام,موبایل\n".encode(), "has a header but no rows below it"),
        (b'a,b\n"c', "A quotation mark"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_under_its_field(
    site: Client, workspace: Workspace, content: bytes, words: str
) -> None:
    response = site.post(URL + "new/", {"file": upload("people.xlsx", content)})
    error = str(response.context["form"].errors["file"])
    assert response.status_code == 422
    assert words in error
    assert "people.xlsx" in error


def test_the_refusal_is_persian_for_persian_readers(workspace: Workspace, marketer: User) -> None:
    response = client_of(marketer).post(URL + "new/", {"file": upload("people.xlsx", b"%PDF-1.7")})
    assert "صفحه‌گسترده نیست" in response.content.decode()


def test_uploading_nothing_is_no_server_error(site: Client, workspace: Workspace) -> None:
    assert site.post(URL + "new/", {}).status_code == 422


def test_a_large_file_is_watched_while_it_runs(site: Client, job: ImportJob) -> None:
    ImportJob.objects.filter(pk=job.pk).update(
        status=ImportStatus.RUNNING, counts={"sheet_rows": 9000, "last_row": 4500, "created": 4000}
    )
    html = site.get(f"{URL}{job.pk}/").content.decode()
    assert f'hx-get="{URL}{job.pk}/progress/"' in html
    fragment = site.get(f"{URL}{job.pk}/progress/").content.decode()
    assert 'value="4500" max="9000"' in fragment


def test_watching_ends_itself(site: Client, job: ImportJob) -> None:
    ImportJob.objects.filter(pk=job.pk).update(status=ImportStatus.DONE)
    response = site.get(f"{URL}{job.pk}/progress/")
    assert response["HX-Redirect"] == f"{URL}{job.pk}/"
    assert b"hx-trigger" not in response.content


def test_a_stopped_import_says_why_and_can_be_continued(site: Client, job: ImportJob) -> None:
    ImportJob.objects.filter(pk=job.pk).update(status=ImportStatus.FAILED, error="unexpected")
    assert "The import stopped unexpectedly" in site.get(f"{URL}{job.pk}/").content.decode()
    site.post(f"{URL}{job.pk}/resume/")
    job.refresh_from_db()
    assert (job.status, job.counts["created"]) == ("done", 1)


def test_an_upload_is_discarded_before_it_starts_only(site: Client, job: ImportJob) -> None:
    started = make_import_job(job.workspace, status=ImportStatus.DONE)
    site.post(f"{URL}{job.pk}/discard/")
    assert site.post(f"{URL}{started.pk}/discard/").status_code == 409
    assert list(ImportJob.objects.all()) == [started]


def test_starting_twice_imports_once(site: Client, job: ImportJob) -> None:
    for _n in range(2):
        assert site.post(f"{URL}{job.pk}/start/", mapped(job)).status_code == 302
    job.refresh_from_db()
    assert job.counts["created"] == 1


@pytest.mark.parametrize("page", ["", "progress/", "refused.xlsx"])
def test_an_import_of_another_workspace_is_not_found(
    site: Client, workspace: Workspace, other_workspace: Workspace, page: str
) -> None:
    job = make_import_job(other_workspace)
    assert site.get(f"{URL}{job.pk}/{page}").status_code == 404


def test_the_history_lists_imports_with_their_counts(site: Client, job: ImportJob) -> None:
    site.post(f"{URL}{job.pk}/start/", mapped(job))
    assert "مشتریان.xlsx" in site.get(URL).content.decode()


def test_a_busy_reader_refuses_kindly(
    site: Client, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MAX_RUNNING", 0)
    response = site.post(URL + "new/", {"file": xlsx_file(ROWS)})
    assert response.status_code == 409
    assert "Too many imports" in response.content.decode()


def test_of_an_upload_far_too_large_only_the_beginning_is_kept(
    site: Client, workspace: Workspace, tmp_path: Path, settings: Any
) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    request = RequestFactory().post(URL, {"file": upload("huge.csv", b"x" * (2 * MAX_BYTES))})
    kept = request.FILES["file"].size or 0
    request.close()
    assert MAX_BYTES < kept < MAX_BYTES + 1024 * 1024
    response = site.post(URL + "new/", {"file": upload("huge.csv", b"x" * (2 * MAX_BYTES))})
    assert response.status_code == 422
    assert "is larger than 10 MB" in response.content.decode()

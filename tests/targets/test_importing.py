"""From a file to people in the database."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import connection
from django.test.utils import CaptureQueriesContext

from blacklist import actions as blacklist
from blacklist.queries import blocked_values
from core import clock
from core.errors import Invalid, Refused
from core.queue import run
from core.spreadsheets.reading import FileProblem
from core.tenancy import workspace_scope
from targets.importing import jobs
from targets.models import (
    ImportJob,
    ImportRow,
    ImportStatus,
    Target,
    TargetList,
    TargetListMember,
    TargetStatus,
)
from tests.clocks import MovableClock
from tests.factories import make_import_job, make_target, make_target_list
from tests.spreadsheets import csv_file, upload
from workspaces.models import AuditRecord, User, Workspace

HEADER = ["نام", "موبایل", "تلفن", "کد مشتری", "شهر", "وضعیت"]
Row = Sequence[object]


@pytest.fixture(autouse=True)
def _uploads(settings: Any, tmp_path: Any) -> None:
    storages = {**settings.STORAGES}
    storages["default"] = {**storages["default"], "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = storages


@pytest.fixture
def bring(workspace: Workspace, owner: User) -> Callable[..., ImportJob]:
    """`bring([row, …])`: those rows under HEADER, imported with the suggested mapping."""

    def run_it(
        rows: Sequence[Row], *, header: Row = HEADER, target_list: TargetList | None = None
    ) -> ImportJob:
        return jobs.import_file(csv_file([header, *rows]), user=owner, target_list=target_list)

    return run_it


def uploaded(owner: User, rows: Sequence[Row], header: Row = HEADER) -> ImportJob:
    return jobs.store_upload(csv_file([header, *rows]), user=owner)


def people(count: int) -> list[Row]:
    return [[f"کس {n}", f"0912{n:07d}"] for n in range(count)]


Bring = Callable[..., ImportJob]


def outcomes(job: ImportJob) -> list[tuple[int, str, str]]:
    rows = ImportRow.objects.filter(job=job).order_by("row_number")
    return [(row.row_number, row.outcome, row.reason) for row in rows]


# --- people


def test_rows_become_people(bring: Bring) -> None:
    job = bring([["سارا احمدي", "۰۹۱۲۳۴۵۶۷۸۹", "021-88776655", "A1", "كرج", "علاقه‌مند"]])
    person = Target.objects.get()
    assert (person.name, person.mobile, person.landline) == ("سارا احمدی", "09123456789", "02188776655")
    assert (person.external_id, person.city, person.status) == ("A1", "کرج", "interested")
    assert "کرج" in person.search_text
    assert job.status == ImportStatus.DONE


def test_a_mixed_column_is_sorted_by_the_nature_of_its_numbers(bring: Bring) -> None:
    numbers = ["09120000001", "02188776655", "09120000002", "03155550001", "+989120000003"]
    bring([["x", number] for number in numbers], header=["نام", "تلفن"])
    assert Target.objects.exclude(mobile="").count() == 3
    assert Target.objects.filter(mobile="").exclude(landline="").count() == 2


def test_first_and_last_name_are_optional_columns(bring: Bring) -> None:
    bring([["سارا", "احمدی", "09120000001"]], header=["نام", "نام خانوادگی", "موبایل"])
    bring([["09120000002"]], header=["موبایل"])
    first, second = Target.objects.order_by("mobile")
    assert (first.first_name, first.last_name, first.name) == ("سارا", "احمدی", "")
    assert (second.first_name, second.last_name) == ("", "")


@pytest.mark.parametrize(
    ("known", "row"),
    [
        ({"mobile": "09123456789"}, ["سارا", "+98 912 345 6789", "", ""]),
        ({"landline": "02188776655"}, ["سارا", "", "02188776655", ""]),
        ({"mobile": "09120000000", "external_id": "A1"}, ["سارا", "09123456789", "", "A1"]),
        ({"landline": "02188776655"}, ["سارا", "09123456789", "02188776655", ""]),
    ],
)
def test_somebody_known_is_updated_not_added(
    bring: Bring, workspace: Workspace, known: dict[str, str], row: Row
) -> None:
    target = make_target(workspace, name="", **known)
    job = bring([row])
    assert outcomes(job) == [(2, "updated", "")]
    target.refresh_from_db()
    assert (Target.objects.count(), target.name) == (1, "سارا")


def test_a_customer_code_carries_a_new_number(bring: Bring, workspace: Workspace) -> None:
    target = make_target(workspace, mobile="09120000000", external_id="A1")
    bring([["سارا", "09123456789", "", "A1"]])
    target.refresh_from_db()
    assert target.mobile == "09123456789"


def test_empty_cells_change_nothing(bring: Bring, workspace: Workspace) -> None:
    target = make_target(workspace, mobile="09123456789", name="سارا", city="تهران", traits={"رنگ": "آبی"})
    job = bring([["", "09123456789", "", "", "", ""]])
    assert outcomes(job) == [(2, "same", "")]
    target.refresh_from_db()
    assert (target.name, target.city, target.traits) == ("سارا", "تهران", {"رنگ": "آبی"})


def test_somebody_twice_in_the_file_is_one_person(bring: Bring) -> None:
    rows = [["سارا", "09123456789"], ["سارا", "۰۹۱۲۳۴۵۶۷۸۹"], ["سارا احمدی", "+989123456789"]]
    assert [outcome for _row, outcome, _reason in outcomes(bring(rows))] == ["created", "same", "updated"]
    assert Target.objects.get().name == "سارا احمدی"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (["x", "09120000001", "02188770002"], "two_people"),
        (["x", "09120000001", "", "B2"], "two_people"),
        (["x", "09120000001", "", "Z9"], "external_id_differs"),
        (["x", "09129999999", "02188770002"], "landline_taken"),
    ],
)
def test_a_row_that_fits_two_people_is_refused(
    bring: Bring, workspace: Workspace, row: Row, reason: str
) -> None:
    make_target(workspace, mobile="09120000001", external_id="A1")
    make_target(workspace, mobile="09120000002", landline="02188770002", external_id="B2")
    assert outcomes(bring([row])) == [(2, "refused", reason)]


def test_a_refused_row_keeps_its_cells(bring: Bring) -> None:
    job = bring([["سارا", "0912CALLNOW", "", "A1"]])
    row = ImportRow.objects.get(job=job)
    assert (row.column, row.cells) == ("موبایل", ["سارا", "0912CALLNOW", "", "A1"])


def test_every_row_of_the_sheet_is_accounted_for(bring: Bring) -> None:
    job = bring([["سارا", "09123456789"], [], ["", ""], HEADER, ["علی", "x"], ["سارا", "09123456789"]])
    expected = {"created": 1, "same": 1, "refused": 1, "header": 2, "sheet_rows": 7, "last_row": 7}
    assert {key: job.counts.get(key) for key in expected} == expected


def test_people_of_another_workspace_are_neither_found_nor_touched(
    bring: Bring, workspace: Workspace, other_workspace: Workspace
) -> None:
    theirs = make_target(other_workspace, mobile="09123456789", name="شیرین")
    assert outcomes(bring([["سارا", "09123456789"]])) == [(2, "created", "")]
    with workspace_scope(other_workspace.pk):
        assert Target.objects.get().name == theirs.name == "شیرین"


def test_everybody_goes_on_the_list_once(bring: Bring, workspace: Workspace) -> None:
    known = make_target(workspace, mobile="09120000001")
    target_list = make_target_list(workspace, known)
    bring([["x", "09120000001"], ["y", "09120000002"], ["y", "09120000002"]], target_list=target_list)
    assert TargetListMember.objects.filter(list=target_list).count() == 2


def test_an_import_never_unblocks_a_number(bring: Bring, workspace: Workspace) -> None:
    number = "09123456789"
    blacklist.add(
        workspace_id=workspace.pk,
        channel="sms",
        values=[number],
        source="opt_out",
        reason="opt_out",
        user=None,
    )
    bring([["سارا", number, "", "", "", "جدید"]])
    assert blocked_values(workspace.pk, "sms", [number]) == {number}


@pytest.mark.parametrize("status", [TargetStatus.UNWILLING, TargetStatus.INVALID_NUMBER])
def test_an_import_never_ends_a_status_that_stops_messages(
    bring: Bring, workspace: Workspace, status: str
) -> None:
    target = make_target(workspace, mobile="09123456789", status=status)
    job = bring([["سارا", "09123456789", "", "", "", "علاقه‌مند"]])
    target.refresh_from_db()
    assert (target.status, target.name, job.counts["status_kept"]) == (status, "سارا", 1)


def test_a_deleted_person_comes_back_as_a_new_one(bring: Bring, workspace: Workspace) -> None:
    make_target(workspace, mobile="09123456789", deleted_at=clock.now())
    assert outcomes(bring([["سارا", "09123456789"]])) == [(2, "created", "")]


def test_the_same_file_again_changes_nobody(bring: Bring) -> None:
    rows = people(30)
    bring(rows)
    assert bring(rows).counts["same"] == 30
    assert Target.objects.count() == 30


# --- the job


def test_an_import_is_audited(bring: Bring, owner: User) -> None:
    bring(people(2))
    records = AuditRecord.objects.order_by("pk")
    assert [(r.event, r.user) for r in records] == [
        ("target_import.started", owner),
        ("target_import.finished", owner),
    ]
    assert records[1].new["created"] == 2


def test_the_rows_are_forgotten_when_the_import_is_done(
    bring: Bring, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        job = bring(people(2))
    assert not default_storage.exists(job.stored_as)


def test_the_upload_is_kept_under_a_random_name(workspace: Workspace, owner: User) -> None:
    file = csv_file([HEADER, *people(1)], name="../../etc/\u202ex.csv")
    job = jobs.store_upload(file, user=owner)
    assert "etc" not in job.stored_as
    assert job.file_name == "x.csv"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("نام,موبایل\n".encode(), "file_no_rows"),
        (b"", "file_empty"),
        (b"%PDF-1.7", "file_not_spreadsheet"),
        (b"PK\x03\x04", "file_broken"),
    ],
)
def test_a_file_without_people_leaves_nothing_behind(
    workspace: Workspace, owner: User, content: bytes, code: str
) -> None:
    with pytest.raises(Invalid) as refused:
        jobs.store_upload(upload("people.csv", content), user=owner)
    assert refused.value.code == code
    assert "people.csv" in str(refused.value)
    assert not ImportJob.objects.exists()


def test_a_mapping_is_checked_before_anything_happens(workspace: Workspace, owner: User) -> None:
    job = uploaded(owner, people(2))
    with pytest.raises(Invalid):
        jobs.start(job, mapping={"0": "workspace", "1": "mobile"}, target_list=None, user=owner)
    job.refresh_from_db()
    assert job.status == ImportStatus.UPLOADED


def test_an_import_starts_once(workspace: Workspace, owner: User) -> None:
    job = uploaded(owner, people(2))
    first = jobs.start(job, mapping=job.mapping, target_list=None, user=owner)
    assert (first, jobs.start(job, mapping=job.mapping, target_list=None, user=owner)) == (True, False)


def test_an_import_killed_half_way_goes_on_where_it_was(
    workspace: Workspace, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = uploaded(owner, people(7))
    jobs.start(job, mapping=job.mapping, target_list=None, user=owner)
    monkeypatch.setattr(jobs, "PIECE", 4)  # the header and three people
    assert jobs.run_import(workspace_id=workspace.pk, job_id=job.pk, seconds=0) is False
    assert Target.objects.count() == 3
    assert jobs.run_import(workspace_id=workspace.pk, job_id=job.pk) is True
    job.refresh_from_db()
    assert (Target.objects.count(), job.counts["created"], job.status) == (7, 7, "done")
    assert [number for number, _outcome, _reason in outcomes(job)] == list(range(2, 9))


def test_rows_that_were_done_are_not_done_again(
    workspace: Workspace, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two workers on one job: the second holds a piece that the first has finished."""
    job = uploaded(owner, people(3))
    jobs.start(job, mapping=job.mapping, target_list=None, user=owner)
    job.refresh_from_db()
    (piece,) = list(jobs._pieces(job))
    assert jobs._write_piece(job, piece)
    assert jobs._write_piece(job, piece)
    job.refresh_from_db()
    assert (job.counts["created"], ImportRow.objects.count()) == (3, 3)


def test_a_finished_import_is_not_run_again(bring: Bring, workspace: Workspace) -> None:
    job = bring(people(2))
    assert jobs.run_import(workspace_id=workspace.pk, job_id=job.pk) is True
    assert ImportRow.objects.filter(job=job).count() == 2


def test_an_unforeseen_failure_is_shown_and_can_be_continued(
    workspace: Workspace, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = uploaded(owner, people(20))
    whole = gzip.decompress(Path(default_storage.path(job.stored_as)).read_bytes())
    lines = whole.splitlines(keepends=True)
    keep(job, b"".join(lines[:16]) + b"[17, [")  # the disk was full
    jobs.start(job, mapping=job.mapping, target_list=None, user=owner)
    monkeypatch.setattr(jobs, "PIECE", 4)
    jobs.run_import(workspace_id=workspace.pk, job_id=job.pk)
    job.refresh_from_db()
    assert (job.status, job.error, Target.objects.count()) == ("failed", "unexpected", 15)
    keep(job, whole)
    assert jobs.start(job, mapping=job.mapping, target_list=None, user=owner)
    jobs.run_import(workspace_id=workspace.pk, job_id=job.pk)
    job.refresh_from_db()
    assert (job.status, job.error, Target.objects.count()) == ("done", "", 20)


def keep(job: ImportJob, lines: bytes) -> None:
    Path(default_storage.path(job.stored_as)).write_bytes(gzip.compress(lines))


def test_a_job_whose_file_is_gone_says_so(workspace: Workspace, owner: User) -> None:
    job = uploaded(owner, people(2))
    default_storage.delete(job.stored_as)
    jobs.start(job, mapping=job.mapping, target_list=None, user=owner)
    jobs.run_import(workspace_id=workspace.pk, job_id=job.pk)
    job.refresh_from_db()
    assert (job.status, job.error) == ("failed", "file_gone")


def test_the_task_establishes_its_own_workspace(
    workspace: Workspace, other_workspace: Workspace, owner: User
) -> None:
    job = uploaded(owner, people(2))
    jobs.start(job, mapping=job.mapping, target_list=None, user=owner)
    with workspace_scope(other_workspace.pk):
        run(jobs.TASK, {"workspace_id": workspace.pk, "job_id": job.pk})
        assert Target.objects.count() == 0
    assert Target.objects.count() == 2


def test_a_job_of_another_workspace_is_not_run(
    workspace: Workspace, other_workspace: Workspace, owner: User
) -> None:
    job = uploaded(owner, people(2))
    jobs.start(job, mapping=job.mapping, target_list=None, user=owner)
    jobs.run_import(workspace_id=other_workspace.pk, job_id=job.pk)
    assert not Target.unscoped.exists()


def test_a_long_import_hands_over_to_its_successor(
    workspace: Workspace, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(jobs, "PIECE", 2)
    monkeypatch.setattr(jobs, "AT_ONCE", 3)
    job = uploaded(owner, people(7))
    jobs.start(job, mapping=job.mapping, target_list=None, user=owner)
    jobs.run(job)
    assert (job.status, job.counts["created"]) == ("done", 7)


def test_a_stalled_import_is_queued_again_once(
    workspace: Workspace, owner: User, clock: MovableClock
) -> None:
    job = uploaded(owner, people(2))
    jobs.start(job, mapping=job.mapping, target_list=None, user=owner)
    assert jobs.resume_stalled() == 0
    clock.advance(minutes=3)
    assert (jobs.resume_stalled(), jobs.resume_stalled()) == (1, 0)
    job.refresh_from_db()
    assert job.status == ImportStatus.DONE


def test_a_workspace_runs_a_few_imports_at_a_time_and_others_are_not_affected(
    workspace: Workspace, other_workspace: Workspace, owner: User
) -> None:
    for _n in range(jobs.MAX_RUNNING):
        make_import_job(workspace, status=ImportStatus.RUNNING)
    with pytest.raises(Refused):
        uploaded(owner, people(1))
    with workspace_scope(other_workspace.pk):
        assert uploaded(owner, people(1)).pk


def test_uploads_nobody_started_are_forgotten(workspace: Workspace, owner: User, clock: MovableClock) -> None:
    old = uploaded(owner, people(1))
    clock.move_to(clock.now() + timedelta(days=8))
    uploaded(owner, people(1))
    assert not ImportJob.objects.filter(pk=old.pk).exists()
    assert not default_storage.exists(old.stored_as)


def test_pieces_cost_the_same_number_of_statements(
    workspace: Workspace, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = []
    for size in (5, 40):
        Target.objects.all().delete()
        job = uploaded(owner, people(size))
        jobs.start(job, mapping=job.mapping, target_list=None, user=owner)
        with CaptureQueriesContext(connection) as captured:
            jobs.run_import(workspace_id=workspace.pk, job_id=job.pk)
        costs.append(len(captured))
    assert costs[0] == costs[1]


def test_the_demonstration_file_is_read_completely(workspace: Workspace, owner: User) -> None:
    with open("demo/people.xlsx", "rb") as file:
        job = jobs.import_file(File(file, "people.xlsx"), user=owner, target_list=None)
    counted = sum(job.counts[key] for key in ("created", "same", "refused", "header"))
    assert job.status == ImportStatus.DONE
    assert job.counts["refused"] == 4
    assert job.counts["header"] == 2
    assert counted == job.row_count
    assert Target.objects.count() == job.counts["created"]


def test_two_hundred_thousand_and_one_rows_are_refused_before_anybody_is_stored(
    workspace: Workspace, owner: User
) -> None:
    content = "نام,موبایل\n".encode() + b"x,0912\n" * 200_001
    with pytest.raises(FileProblem) as refused:
        jobs.store_upload(upload("huge.csv", content), user=owner)
    assert refused.value.code == "too_many_rows"
    assert not ImportJob.objects.exists()


def test_the_audit_log_tells_the_outcome_in_words_it_has_labels_for(bring: Bring) -> None:
    bring([["مینا", "09121234567"], ["بی‌شماره", ""]])

    told = AuditRecord.objects.get(event="target_import.finished").new
    assert told["created"] == 1
    assert set(told) <= {"file", "created", "updated", "same", "refused"}

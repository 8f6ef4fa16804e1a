"""Imports that overlap: on PostgreSQL really at once, on SQLite one writer after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.tenancy import workspace_scope
from targets.importing import jobs
from targets.models import ImportJob, ImportRow, Target
from tests.concurrency.threads import at_once
from tests.people import make_workspace
from tests.spreadsheets import csv_file
from workspaces.models import Workspace

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True)]
COUNT = 300


@pytest.fixture
def home(transactional_db: None, settings: Any, tmp_path: Path) -> Workspace:
    storages = {**settings.STORAGES}
    storages["default"] = {**storages["default"], "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = storages
    return make_workspace("imports")


def started(home: Workspace, *, backwards: bool = False) -> ImportJob:
    numbers = [f"0912{n:07d}" for n in range(COUNT)]
    rows = [["سارا", number] for number in (reversed(numbers) if backwards else numbers)]
    with workspace_scope(home.pk):
        job = jobs.store_upload(csv_file([["نام", "موبایل"], *rows]), user=None)
        jobs.start(job, mapping=job.mapping, target_list=None, user=None)
    return job


def test_two_workers_on_one_import_do_every_row_once(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "PIECE", 20)
    job = started(home)
    at_once(4, lambda _i: jobs.run_import(workspace_id=home.pk, job_id=job.pk), workspace_id=home.pk)
    with workspace_scope(home.pk):
        job.refresh_from_db()
        assert (job.status, job.counts["created"]) == ("done", COUNT)
        assert ImportRow.objects.filter(job=job).count() == Target.objects.count() == COUNT


def test_imports_of_the_same_people_at_once_make_each_person_once(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In opposite order, so that their inserts meet each other: the loser of a collision looks again."""
    monkeypatch.setattr(jobs, "PIECE", 50)
    both = [started(home), started(home, backwards=True)]
    at_once(2, lambda i: jobs.run_import(workspace_id=home.pk, job_id=both[i].pk), workspace_id=home.pk)
    with workspace_scope(home.pk):
        counts = [ImportJob.objects.get(pk=job.pk).counts for job in both]
        assert Target.objects.count() == COUNT
    assert sum(c.get("created", 0) for c in counts) == COUNT
    assert sum(c.get("same", 0) for c in counts) == COUNT

"""The life of one import: uploaded, mapped, run in pieces, done. Killed anywhere, it goes on from there.

Each piece is one transaction that holds the people, the result of every row and the place reached, and
takes the job's row first, so two workers on one job take turns and never do a row twice.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import structlog
from django.core.files.base import File
from django.db import Error, IntegrityError, OperationalError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from core import clock
from core.errors import Invalid, Refused
from core.failpoints import failpoint
from core.locks import named_lock
from core.queue import enqueue, task
from core.spreadsheets.reading import SheetRow, clean_name, forget_rows, reading, stored_rows
from core.tenancy import current_workspace_id, workspace_scope
from targets.importing import mapping as mappings
from targets.importing.interpret import Interpreter, Reading
from targets.importing.writing import write
from targets.models import ImportJob, ImportStatus, RowOutcome, TargetList
from workspaces import audit
from workspaces.models import User

log = structlog.get_logger(__name__)

TASK = "targets.run_import"
PIECE = 500
AT_ONCE = 1_000  # so many rows are imported while the person waits
MAX_RUNNING = 5  # imports of one workspace at a time
SLICE_SECONDS = 15.0  # then the task hands over to its successor: queues stop tasks that run for long
STALLED_AFTER = timedelta(minutes=2)
ABANDONED_AFTER = timedelta(days=7)
ATTEMPTS = 4  # of one piece, when somebody else stores the same people meanwhile
FOLDER = "imports"


def store_upload(file: File[bytes], *, user: User | None) -> ImportJob:
    """Read an upload into the active workspace; nothing of the upload itself is kept.

    Raises FileProblem with a sentence that names file, row and column; Refused when this workspace is
    reading another file or has too many imports under way.
    """
    workspace_id = current_workspace_id()
    _refuse_too_many()
    with named_lock(f"sheet-{workspace_id}") as held:
        if not held:
            raise Refused(_("Another file is being read. Try again in a moment."), code="import_busy")
        with reading(file) as table:
            layout = mappings.find_layout(iter(table))
            if layout is None or table.rows <= (1 if layout.header_row else 0):
                raise Invalid(_no_rows(file), code="file_no_rows")
            job = ImportJob(
                workspace_id=workspace_id,
                file_name=clean_name(file.name),
                stored_as=table.keep(FOLDER),
                size=table.size,
                row_count=table.rows,
                columns=list(layout.columns),
                mapping=mappings.suggest(layout.columns, layout.first_row),
                counts={"sheet_rows": table.last_row},
                created_by=user,
            )
            job.save()
    forget_abandoned()
    return job


def _no_rows(file: File[bytes]) -> str:
    return _("“%(file)s” has a header but no rows below it.") % {"file": clean_name(file.name)}


def _refuse_too_many() -> None:
    if ImportJob.objects.filter(status=ImportStatus.RUNNING).count() >= MAX_RUNNING:
        raise Refused(_("Too many imports are running. Wait for one to end."), code="import_too_many")


def layout_of(job: ImportJob) -> mappings.Layout:
    """Where the header of the kept file is. Raises FileNotFoundError when it was deleted."""
    layout = mappings.find_layout(stored_rows(job.stored_as))
    if layout is None:
        raise FileNotFoundError(job.stored_as)
    return layout


def preview(job: ImportJob, column_map: Mapping[str, str], limit: int = 20) -> list[tuple[SheetRow, Reading]]:
    """The first `limit` rows below the header and what each would become. Reads nothing but the file."""
    layout = layout_of(job)
    interpreter = Interpreter(layout, column_map)
    below = (row for row in stored_rows(job.stored_as) if row.number > layout.header_row)
    return [(row, interpreter.read(row)) for row in islice(below, limit)]


def start(
    job: ImportJob, *, mapping: Mapping[str, str], target_list: TargetList | None, user: User | None
) -> bool:
    """Fix the mapping and begin (or go on after a failure); False when it is running or done already.

    The rows themselves are imported by `run_import`. Raises Invalid for a mapping that cannot be used.
    """
    column_map = mappings.checked(mapping, job.columns)
    with transaction.atomic():
        waiting = ImportJob.objects.filter(pk=job.pk, status__in=[ImportStatus.UPLOADED, ImportStatus.FAILED])
        values = {"mapping": column_map, "list": target_list, "error": "", "updated_at": clock.now()}
        if not waiting.update(status=ImportStatus.RUNNING, **values):
            return False
        new = {"file": job.file_name, "list": target_list.name if target_list else ""}
        audit.record("target_import.started", entity=job, new=new, user=user)
    job.refresh_from_db()
    return True


def run(job: ImportJob) -> None:
    """Import small files at once, hand large ones to the queue. A queue that is away is tried again later."""
    if job.row_count <= AT_ONCE:
        run_import(workspace_id=job.workspace_id, job_id=job.pk)
    else:
        _hand_over(job.workspace_id, job.pk)
    job.refresh_from_db()


def import_file(file: File[bytes], *, user: User | None, target_list: TargetList | None) -> ImportJob:
    """The whole way with the suggested mapping, in the caller's process: commands and demonstrations.

    Raises what `store_upload` and `start` raise; a failure while running is on the job.
    """
    job = store_upload(file, user=user)
    start(job, mapping=job.mapping, target_list=target_list, user=user)
    run_import(workspace_id=job.workspace_id, job_id=job.pk)
    job.refresh_from_db()
    return job


def _hand_over(workspace_id: int, job_id: int) -> None:
    try:
        enqueue(TASK, {"workspace_id": workspace_id, "job_id": job_id}, group="default")
    except Exception:  # the job stays "running" and is found by resume_stalled
        log.exception("import_not_queued", workspace=workspace_id, job=job_id)


@task(TASK)
def _run_task(payload: dict[str, Any]) -> None:
    workspace_id, job_id = int(payload["workspace_id"]), int(payload["job_id"])
    if not run_import(workspace_id=workspace_id, job_id=job_id, seconds=SLICE_SECONDS):
        _hand_over(workspace_id, job_id)


def run_import(*, workspace_id: int, job_id: int, seconds: float | None = None) -> bool:
    """Work through the file from the place reached, at most about `seconds`; False when rows are left.

    Does nothing for a job that is not running. What goes wrong is written on the job, which keeps its
    place: starting it again goes on there.
    """
    stop_at = None if seconds is None else time.monotonic() + seconds
    with workspace_scope(workspace_id):
        job = ImportJob.objects.filter(pk=job_id, status=ImportStatus.RUNNING).first()
        if job is None:
            return True
        try:
            return _work(job, stop_at)
        except FileNotFoundError:
            _fail(job, "file_gone")
        except Exception:  # a failure nobody foresaw must not leave the job "running"
            log.exception("import_failed", job=job_id)
            _fail(job, "unexpected")
        return True


def _work(job: ImportJob, stop_at: float | None) -> bool:
    for piece in _pieces(job):
        if not _write_piece(job, piece):
            return True
        failpoint("import_piece")
        if stop_at is not None and time.monotonic() >= stop_at:
            return False
    _finish(job)
    return True


def _pieces(job: ImportJob) -> Iterator[list[Reading]]:
    """Rows not yet done, in pieces. Earlier rows are read too: a second header among them matters."""
    interpreter = Interpreter(layout_of(job), job.mapping)
    done = int(job.counts.get("last_row", 0))
    readings = (interpreter.read(row) for row in stored_rows(job.stored_as))
    left = (reading for reading in readings if reading.number > done)
    while piece := list(islice(left, PIECE)):
        yield piece


def _write_piece(job: ImportJob, piece: list[Reading]) -> bool:
    """One piece, one transaction; False when the job was stopped or somebody else finished it."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with transaction.atomic():
                written = _write_locked(job, piece)
                failpoint("import_piece_tx")
                return written
        except (IntegrityError, OperationalError):
            # Somebody stored one of these people a moment ago (or waits for us): look again.
            if attempt == ATTEMPTS:
                raise
    return False


def _write_locked(job: ImportJob, piece: list[Reading]) -> bool:
    locked = ImportJob.objects.select_for_update().get(pk=job.pk)
    if locked.status != ImportStatus.RUNNING:
        return False
    done = int(locked.counts.get("last_row", 0))
    counts = Counter({k: v for k, v in locked.counts.items() if k not in ("last_row", "sheet_rows")})
    counts += write(locked, [reading for reading in piece if reading.number > done])
    reached = max(done, piece[-1].number)
    kept = {"sheet_rows": locked.counts.get("sheet_rows", 0), "last_row": reached}
    ImportJob.objects.filter(pk=job.pk).update(counts={**counts, **kept}, updated_at=clock.now())
    return True


def _finish(job: ImportJob) -> None:
    with transaction.atomic():
        locked = ImportJob.objects.select_for_update().get(pk=job.pk)
        if locked.status != ImportStatus.RUNNING:
            return
        now = clock.now()
        ImportJob.objects.filter(pk=job.pk).update(status=ImportStatus.DONE, finished_at=now, updated_at=now)
        outcomes = {name: count for name, count in locked.counts.items() if name in RowOutcome.values}
        new = {"file": locked.file_name, **outcomes}
        audit.record("target_import.finished", entity=locked, new=new, user=locked.created_by)
        transaction.on_commit(lambda: forget_rows(locked.stored_as))


def _fail(job: ImportJob, error: str) -> None:
    """Keep the place and a key of `reasons.JOB_ERRORS`."""
    try:
        running = ImportJob.objects.filter(pk=job.pk, status=ImportStatus.RUNNING)
        running.update(status=ImportStatus.FAILED, error=error, updated_at=clock.now())
    except Error:
        log.exception("import_failure_not_stored", job=job.pk)


def is_stalled(job: ImportJob) -> bool:
    """Whether a running job has not moved for so long that its worker must be gone."""
    return job.status == ImportStatus.RUNNING and job.updated_at < clock.now() - STALLED_AFTER


def resume_if_stalled(job: ImportJob) -> bool:
    """Queue a job again whose worker is gone; whether it was. Only one caller wins."""
    late = ImportJob.objects.filter(
        pk=job.pk, status=ImportStatus.RUNNING, updated_at__lt=clock.now() - STALLED_AFTER
    )
    if not late.update(updated_at=clock.now()):
        return False
    log.info("import_resumed", job=job.pk)
    _hand_over(job.workspace_id, job.pk)
    return True


def stalled(now: datetime) -> QuerySet[ImportJob]:
    """Running jobs of all workspaces whose worker must be gone."""
    return ImportJob.unscoped.filter(status=ImportStatus.RUNNING, updated_at__lt=now - STALLED_AFTER)


def resume_stalled() -> int:
    """The same for every workspace: the scheduler calls it. Returns how many were queued again."""
    resumed = 0
    for job in stalled(clock.now()).order_by("pk")[:50]:
        with workspace_scope(job.workspace_id):
            resumed += resume_if_stalled(job)
    return resumed


def forget_abandoned() -> None:
    """Delete uploads of the active workspace that nobody started."""
    old = ImportJob.objects.filter(status=ImportStatus.UPLOADED, created_at__lt=clock.now() - ABANDONED_AFTER)
    for job in old[:100]:
        forget_rows(job.stored_as)
        job.delete()


def discard(job: ImportJob) -> None:
    """Drop an upload before it was started. Raises Refused for one that has run."""
    deleted, _kinds = ImportJob.objects.filter(pk=job.pk, status=ImportStatus.UPLOADED).delete()
    if not deleted:
        raise Refused(_("This import has been started already."), code="import_started")
    forget_rows(job.stored_as)

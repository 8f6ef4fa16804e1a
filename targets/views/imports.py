"""Import in the browser: upload, map the columns, watch, read the result."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.errors import DomainError, Invalid, NotFound, Refused
from core.pagination import paginate
from core.posting import posted, posted_files
from core.spreadsheets.export import xlsx_response
from targets import actions, queries
from targets.forms import MappingForm, UploadForm
from targets.importing import jobs, mapping, reasons, results
from targets.models import ImportJob, ImportStatus, TargetList
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

FORM_METHODS = ["GET", "HEAD", "POST"]
PREVIEW_ROWS = 10


@require_safe
@permission_required(Perm.TARGETS_IMPORT)
def history(request: MemberRequest) -> HttpResponse:
    return render(request, "targets/imports.html", {"page": paginate(request, queries.import_jobs())})


@require_http_methods(FORM_METHODS)
@permission_required(Perm.TARGETS_IMPORT)
def upload(request: MemberRequest) -> HttpResponse:
    form = UploadForm(posted(request), posted_files(request))
    status = 422 if form.is_bound else 200
    if request.method == "POST" and form.is_valid():
        try:
            job = jobs.store_upload(form.cleaned_data["file"], user=request.user)
        except DomainError as problem:
            form.add_error("file", str(problem))
            status = problem.status
        else:
            return redirect("targets:import", job.pk)
    return render(request, "targets/import_upload.html", {"form": form, "steps": _steps(0)}, status=status)


def _steps(current: int) -> list[dict[str, str | Promise]]:
    labels = (_("Choose the file"), _("Match the columns"), _("Import"), _("Result"))
    states = ["done"] * current + ["current"] + ["todo"] * (len(labels) - current - 1)
    return [{"label": label, "state": state} for label, state in zip(labels, states, strict=True)]


@require_safe
@permission_required(Perm.TARGETS_IMPORT)
def show(request: MemberRequest, job_id: int) -> HttpResponse:
    """The page of one import, whatever state it is in."""
    job = queries.job_for(job_id)
    if job.status == ImportStatus.UPLOADED:
        return _mapping_page(request, job, MappingForm(None, job=job))
    if job.status == ImportStatus.RUNNING:
        jobs.resume_if_stalled(job)
        return render(request, "targets/import_running.html", {**_progress(job), "steps": _steps(2)})
    rows = paginate(request, queries.refused_rows(job))
    failed = job.status == ImportStatus.FAILED
    context = {
        **_progress(job),
        "page": rows,
        "lines": [(row, reasons.of_row(row)) for row in rows],
        "summary": results.summary(job),
        "error": reasons.JOB_ERRORS.get(job.error, "") if failed else "",
        "steps": _steps(2 if failed else 3),
    }
    return render(request, "targets/import_result.html", context)


def _mapping_page(
    request: MemberRequest, job: ImportJob, form: MappingForm, *, status: int = 200
) -> HttpResponse:
    column_map = form.column_map()
    try:
        preview = results.preview(job, column_map, PREVIEW_ROWS)
    except FileNotFoundError:
        raise NotFound from None
    context = {
        "job": job,
        "form": form,
        "columns": list(zip(form.column_fields(), preview.samples, strict=True)),
        "preview": preview,
        "recognises_nothing": not form.is_bound and mapping.recognises_nothing(column_map),
        "steps": _steps(1),
    }
    return render(request, "targets/import_mapping.html", context, status=status)


@require_POST
@permission_required(Perm.TARGETS_IMPORT)
def preview(request: MemberRequest, job_id: int) -> HttpResponse:
    """The fragment that shows what the rows would become with the columns as chosen now."""
    job = _waiting(job_id)
    column_map = MappingForm(request.POST, job=job).column_map()
    context = {"job": job, "preview": results.preview(job, column_map, PREVIEW_ROWS)}
    return render(request, "targets/_import_preview.html", context)


def _waiting(job_id: int) -> ImportJob:
    job = queries.job_for(job_id)
    if job.status != ImportStatus.UPLOADED:
        raise Refused(_("This import has been started already."), code="import_started")
    return job


@require_POST
@permission_required(Perm.TARGETS_IMPORT)
def start(request: MemberRequest, job_id: int) -> HttpResponse:
    job = queries.job_for(job_id)
    if job.status != ImportStatus.UPLOADED:
        return redirect("targets:import", job.pk)
    form = MappingForm(request.POST, job=job)
    if not form.is_valid():
        return _mapping_page(request, job, form, status=422)
    try:
        column_map = mapping.checked(form.column_map(), job.columns)
        target_list = _list_of(form, request)
    except (Invalid, Refused) as problem:
        form.add_error(None, str(problem))
        return _mapping_page(request, job, form, status=problem.status)
    if jobs.start(job, mapping=column_map, target_list=target_list, user=request.user):
        jobs.run(job)
    return redirect("targets:import", job.pk)


def _list_of(form: MappingForm, request: MemberRequest) -> TargetList | None:
    name = form.cleaned_data["new_list"]
    if name:
        return actions.create_list(name, user=request.user)
    chosen: TargetList | None = form.cleaned_data["target_list"]
    return chosen


@require_POST
@permission_required(Perm.TARGETS_IMPORT)
def resume(request: MemberRequest, job_id: int) -> HttpResponse:
    """Go on with an import that failed on its way."""
    job = queries.job_for(job_id)
    if job.status == ImportStatus.FAILED and jobs.start(
        job, mapping=job.mapping, target_list=job.list, user=request.user
    ):
        jobs.run(job)
    return redirect("targets:import", job.pk)


@require_POST
@permission_required(Perm.TARGETS_IMPORT)
def discard(request: MemberRequest, job_id: int) -> HttpResponse:
    jobs.discard(queries.job_for(job_id))
    messages.success(request, _("The file was discarded."))
    return redirect("targets:imports")


@require_safe
@permission_required(Perm.TARGETS_IMPORT)
def progress(request: MemberRequest, job_id: int) -> HttpResponse:
    """The fragment that a running import's page asks for; when it is over it sends the page on."""
    job = queries.job_for(job_id)
    if job.status != ImportStatus.RUNNING:
        response = HttpResponse(status=204)
        response["HX-Redirect"] = reverse("targets:import", args=[job.pk])
        return response
    jobs.resume_if_stalled(job)
    return render(request, "targets/_import_progress.html", _progress(job))


def _progress(job: ImportJob) -> dict[str, Any]:
    total = max(int(job.counts.get("sheet_rows", 0)), 1)
    return {"job": job, "done": min(int(job.counts.get("last_row", 0)), total), "total": total}


@require_safe
@permission_required(Perm.TARGETS_IMPORT)
def refused_file(request: MemberRequest, job_id: int) -> HttpResponse:  # noqa: ARG001
    """The refused rows with their reasons, ready to be mended and uploaded again."""
    job = queries.job_for(job_id)
    header, rows = results.refused_table(job)
    return xlsx_response(f"refused-{job.pk}.xlsx", _("Refused rows"), header, rows)

"""The message log: every text this workspace sent or decided not to send."""

from __future__ import annotations

import json
from collections.abc import Iterator

from django.db import transaction
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from core.errors import NotFound
from core.pagination import paginate
from core.spreadsheets.export import csv_response, xlsx_response
from sms import log_queries, switch, unknown_queries
from sms.log_forms import LogFilterForm
from sms.models import SmsLog, SmsLogEvent
from sms.providers.registry import gateway_kind
from sms.reasons import explain, explain_look, status_label, verdict_label
from sms.settlement import EVENT as LOOKED_UP
from sms.usage.hooks import campaign_labels
from workspaces import audit
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm

CHUNK = 2_000
XLSX_ROWS = 100_000  # a workbook is made in memory and on disk; csv has no limit


@require_safe
@permission_required(Perm.SMS_LOGS_VIEW)
def log_list(request: MemberRequest) -> HttpResponse:
    only_while_on(request)
    form = LogFilterForm(request.GET or None)
    page = paginate(request, log_queries.messages(form.chosen()))
    lines = [line_of(row) for row in page]
    return render(request, "sms/logs.html", {"form": form, "page": page, "lines": lines})


@require_safe
@permission_required(Perm.SMS_LOGS_VIEW)
def log_export(request: MemberRequest, kind: str) -> HttpResponseBase:
    """The messages that the filters leave, as csv or xlsx; audited, since it takes numbers out."""
    only_while_on(request)
    if kind not in ("csv", "xlsx"):
        raise Http404
    chosen = LogFilterForm(request.GET or None).chosen()
    with transaction.atomic():
        new = {"format": kind, **chosen.as_dict()}
        audit.record("sms.logs_exported", entity=(SmsLog, 0), new=new, user=request.user)
    rows = log_queries.messages(chosen)
    if kind == "csv":
        return csv_response("messages.csv", _with_header(rows.iterator(chunk_size=CHUNK)))
    cells = map(_cells, rows[:XLSX_ROWS].iterator(chunk_size=CHUNK))
    return xlsx_response("messages.xlsx", _("Message log"), _header(), cells)


@require_safe
@permission_required(Perm.SMS_LOGS_VIEW)
def log_detail(request: MemberRequest, pk: int) -> HttpResponse:
    only_while_on(request)
    row = log_queries.message(pk)
    history = [_happened(row, event) for event in log_queries.history_of(row)]
    kind = gateway_kind(row.provider)
    context = {
        "line": line_of(row),
        "row": row,
        "provider_name": kind.label if kind else row.provider,
        "campaign": campaign_labels(filter(None, [row.campaign_id])).get(row.campaign_id or 0),
        "answer": _pretty(row.provider_response),
        "reports": history,
    }
    return render(request, "sms/log.html", context)


def only_while_on(request: MemberRequest) -> None:
    if not switch.is_on(request.workspace.pk):
        raise NotFound


def line_of(row: SmsLog) -> dict[str, object]:
    return {"row": row, "label": status_label(row), "reason": explain(row.provider, row.error_code)}


def _happened(row: SmsLog, event: SmsLogEvent) -> dict[str, object]:
    shown: dict[str, object] = {
        "at": event.occurred_at,
        "word": event.provider_status,
        "payload": _pretty(event.payload),
    }
    if event.event == LOOKED_UP:
        look = unknown_queries.look_of(event)
        shown |= {"verdict": verdict_label(look.verdict), "why": explain_look(row.provider, look.why)}
    return shown


def _header() -> list[str]:
    return [
        _("Message number"), _("When"), _("Number"), _("Sender line"), _("Text"), _("Parts"), _("Campaign"),
        _("Attempt"), _("Status"), _("Reason"), _("Error code"), _("Provider"),
        _("Message id of the provider"),
    ]  # fmt: skip


def _with_header(rows: Iterator[SmsLog]) -> Iterator[list[object]]:
    yield list(_header())
    yield from map(_cells, rows)


def _cells(row: SmsLog) -> list[object]:
    return [
        row.pk, timezone.localtime(row.created_at).strftime("%Y-%m-%d %H:%M:%S"), row.phone_number,
        row.sender_number, row.final_message, row.segments, row.campaign_id or "", row.attempt_number,
        status_label(row), explain(row.provider, row.error_code), row.error_code, row.provider,
        row.provider_message_id,
    ]  # fmt: skip


def _pretty(document: object) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) if document else ""

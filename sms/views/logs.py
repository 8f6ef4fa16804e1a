"""The message log: every text this workspace sent or decided not to send."""

from __future__ import annotations

import json

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from core.errors import NotFound
from core.pagination import paginate
from sms import log_queries, switch
from sms.forms import LogFilterForm
from sms.models import SmsLog
from sms.reasons import explain, status_label
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


@require_safe
@permission_required(Perm.SMS_LOGS_VIEW)
def log_list(request: MemberRequest) -> HttpResponse:
    _only_while_on(request)
    form = LogFilterForm(request.GET or None)
    page = paginate(request, log_queries.messages(form.chosen()))
    lines = [_line(row) for row in page]
    return render(request, "sms/logs.html", {"form": form, "page": page, "lines": lines})


@require_safe
@permission_required(Perm.SMS_LOGS_VIEW)
def log_detail(request: MemberRequest, pk: int) -> HttpResponse:
    _only_while_on(request)
    row = log_queries.message(pk)
    reports = [
        {
            "at": event.occurred_at,
            "word": event.provider_status,
            "payload": _pretty(event.payload),
        }
        for event in log_queries.history_of(row)
    ]
    context = {"line": _line(row), "row": row, "answer": _pretty(row.provider_response), "reports": reports}
    return render(request, "sms/log.html", context)


def _only_while_on(request: MemberRequest) -> None:
    if not switch.is_on(request.workspace.pk):
        raise NotFound


def _line(row: SmsLog) -> dict[str, object]:
    return {"row": row, "label": status_label(row), "reason": explain(row.provider, row.error_code)}


def _pretty(document: object) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) if document else ""

"""The message log: every text this workspace sent or decided not to send."""

from __future__ import annotations

import json

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from core.errors import NotFound
from core.pagination import paginate
from sms import log_queries, retries, switch, unknown_queries
from sms.log_forms import LogFilterForm, RetryForm
from sms.models import SmsLog, SmsLogEvent
from sms.providers.registry import gateway_kind
from sms.reasons import (
    explain,
    explain_look,
    explain_report,
    is_ours,
    retry_refusal,
    status_label,
    verdict_label,
)
from sms.settlement import EVENT as LOOKED_UP
from sms.usage.hooks import campaign_labels
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


@require_safe
@permission_required(Perm.SMS_LOGS_VIEW)
def log_list(request: MemberRequest) -> HttpResponse:
    only_while_on(request)
    form = LogFilterForm(request.GET or None)
    page = paginate(request, log_queries.messages(form.chosen()))
    names = campaign_labels(row.campaign_id for row in page if row.campaign_id)
    lines = [line_of(row) | {"campaign": names.get(row.campaign_id or 0)} for row in page]
    return render(request, "sms/logs.html", {"form": form, "page": page, "lines": lines})


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
        "provider_code": "" if is_ours(row.error_code) else row.error_code,
        "answer": _pretty(row.provider_response),
        "reports": history,
        "attempts": log_queries.attempts_of(row),
        **_retry(request, row),
    }
    return render(request, "sms/log.html", context)


def _retry(request: MemberRequest, row: SmsLog) -> dict[str, object]:
    """What the page needs to offer another try to those who may ask for one."""
    if Perm.SUPPORT not in request.permissions or row.status not in retries.RETRYABLE:
        return {}
    why = retries.refusal(row)
    return {"retry_form": None if why else RetryForm(), "no_retry": retry_refusal(why)}


def only_while_on(request: MemberRequest) -> None:
    if not switch.is_on(request.workspace.pk):
        raise NotFound


def line_of(row: SmsLog) -> dict[str, object]:
    return {"row": row, "label": status_label(row), "reason": explain(row.provider, row.error_code)}


def _happened(row: SmsLog, event: SmsLogEvent) -> dict[str, object]:
    shown: dict[str, object] = {
        "at": event.occurred_at,
        "word": event.provider_status,
        "said": explain_report(row.provider, event.provider_status),
        "payload": _pretty(event.payload),
    }
    if event.event == LOOKED_UP:
        look = unknown_queries.look_of(event)
        shown |= {"verdict": verdict_label(look.verdict), "why": explain_look(row.provider, look.why)}
    elif event.event == retries.EVENT:
        shown |= {"retried": event.payload.get("sms_log"), "why": event.payload.get("reason", "")}
    return shown


def _pretty(document: object) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) if document else ""

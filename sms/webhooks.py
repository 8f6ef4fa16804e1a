"""Where a provider posts delivery reports and opt-outs: no session, one secret in the address.

Whoever does not know the secret learns nothing: a wrong one, an unknown provider and a switched-off
workspace are one and the same 404. Whoever knows it learns nothing of people either: every
well-formed request is answered alike, whether a message or a number is known or not.
"""

from __future__ import annotations

import re

import structlog
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from blacklist import actions as blacklist_actions
from core import clock
from core.client_address import client_ip
from sms import switch
from sms.models import SmsSettings
from sms.report_formats import FORMATS, Malformed, Posted, TooManyReports
from sms.reports import ingest_reports

log = structlog.get_logger(__name__)

MAX_BODY_BYTES = 65_536
REQUESTS_PER_MINUTE = 120
OPT_OUTS_AT_ONCE = 500  # a block waits for nobody long, and nobody waits long for it

_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,64}")


@csrf_exempt  # the caller has no session; the token in the address is the credential
@require_POST
def receive(request: HttpRequest, provider: str, token: str) -> HttpResponse:
    """Take delivery reports and opt-outs.

    In this order: rate by client address, token, size, form, number of reports. The rate is counted
    first and answered after the token, so that 429 tells nothing to somebody without it.
    """
    too_fast = past_limit(f"sms-webhook:{client_ip(request)}", REQUESTS_PER_MINUTE)
    workspace_id = workspace_of(token)
    parser = FORMATS.get(provider)
    if workspace_id is None or parser is None or not switch.is_on(workspace_id):
        return answer(404, b'{"error":"not_found"}')
    if too_fast:
        return answer(429, b'{"error":"too_many_requests"}', retry_after=60)
    if is_packed(request):
        return answer(400, b'{"error":"malformed"}')
    body = request.read(MAX_BODY_BYTES + 1)
    if len(body) > MAX_BODY_BYTES:
        return answer(413, b'{"error":"too_large"}')
    try:
        posted = parser.parse(body)
    except Malformed:
        return answer(400, b'{"error":"malformed"}')
    except TooManyReports:
        return answer(422, b'{"error":"too_many_reports"}')
    _take(workspace_id, posted)
    return answer(200, b'{"ok":true}')


def _take(workspace_id: int, posted: Posted) -> None:
    """Opt-outs first: the wish not to be written to waits for nothing."""
    for start in range(0, len(posted.opt_outs), OPT_OUTS_AT_ONCE):
        blacklist_actions.add(
            workspace_id=workspace_id,
            channel="sms",
            values=posted.opt_outs[start : start + OPT_OUTS_AT_ONCE],
            source="opt_out",
            reason="opt_out",
            user=None,
        )
    done = ingest_reports(workspace_id, posted.reports)
    log.info(
        "sms_webhook", workspace_id=workspace_id, reports=len(posted.reports), matched=done.matched,
        moved=done.moved, waiting=done.waiting, opt_outs=len(posted.opt_outs),
    )  # fmt: skip


def workspace_of(token: str) -> int | None:
    """The active workspace whose secret this is. One query at most, in constant time."""
    if not _TOKEN.fullmatch(token):
        return None
    found = SmsSettings.unscoped.filter(webhook_token=token, workspace__is_active=True)
    row = found.values_list("webhook_token", "workspace_id").first()
    stored, workspace_id = row or ("-" * len(token), None)
    return workspace_id if constant_time_compare(stored, token) else None


def is_packed(request: HttpRequest) -> bool:
    """Whether the body is compressed: nothing is unpacked here, so that no small body becomes a large one."""
    return request.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity")


def past_limit(who: str, most: int) -> bool:
    """Count this request of `who`; whether there were more than `most` in this minute."""
    minute = int(clock.now().timestamp()) // 60
    key = f"{who}:{minute}"
    cache.add(key, 0, timeout=120)
    try:
        return cache.incr(key) > most
    except ValueError:  # the entry was evicted between the two calls
        return False


def answer(status: int, body: bytes, *, retry_after: int = 0) -> HttpResponse:
    """A refusal, or the one answer of success."""
    response = HttpResponse(body, status=status, content_type="application/json")
    if retry_after:
        response["Retry-After"] = str(retry_after)
    return response

"""Where a provider passes on what people wrote: no session, one secret in the address, always the same OK.

The address is filled in by the provider's panel, so it is a GET that stores. Nobody may keep its answer,
HEAD is refused, and a request without fields, as a panel makes to try the address, stores nothing.
"""

from __future__ import annotations

import structlog
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from core.tenancy import workspace_scope
from sms.inbound.preferences import names_of, preferences_of
from sms.inbound.reading import Malformed, read_fields, read_message
from sms.inbound.storing import store
from sms.webhooks import MAX_BODY_BYTES, answer, is_packed, past_limit, workspace_of

log = structlog.get_logger(__name__)

# The provider sends an answer only once: the limit stops a flood, not a busy campaign.
MESSAGES_PER_MINUTE = 3000


@csrf_exempt  # the caller has no session; the token in the address is the credential
@require_http_methods(["GET", "POST"])
def take(request: HttpRequest, token: str) -> HttpResponse:
    """Keep one message and answer OK, whoever it is from and whether it came before.

    A workspace whose automation is switched off still hears: a "no" that is lost is a message to somebody
    who said no. Without the token everything is the webhook's 404. With it: 429 past the limit, 413 for a
    body that is too large, 400 for what is no list of fields.
    """
    workspace_id = workspace_of(token)
    if workspace_id is None:
        return answer(404, b'{"error":"not_found"}')
    if past_limit(f"sms-inbound:{workspace_id}", MESSAGES_PER_MINUTE):
        log.warning("inbound_refused", workspace_id=workspace_id, reason="too_many")
        return answer(429, b'{"error":"too_many_requests"}', retry_after=60)
    if is_packed(request):
        return answer(400, b'{"error":"malformed"}')
    body = request.read(MAX_BODY_BYTES + 1) if request.method == "POST" else b""
    query = request.META.get("QUERY_STRING", "").encode("latin-1", "replace")
    if len(body) > MAX_BODY_BYTES or len(query) > MAX_BODY_BYTES:
        return answer(413, b'{"error":"too_large"}')
    try:
        fields = read_fields(query, body, request.content_type or "")
    except Malformed:
        return answer(400, b'{"error":"malformed"}')
    if fields:
        _keep(workspace_id, fields)
    response = HttpResponse(b"OK", content_type="text/plain")
    response["Cache-Control"] = "no-store"
    return response


def _keep(workspace_id: int, fields: dict[str, str]) -> None:
    with workspace_scope(workspace_id):
        names = names_of(preferences_of(workspace_id))
    pk = store(workspace_id, read_message(fields, names))
    log.info("inbound_taken", workspace_id=workspace_id, inbound_id=pk, repeated=pk is None)

"""Messages of which nobody knows whether they went out: what was found about them, and looking again."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from core.pagination import paginate
from sms import lookups, unknown_queries
from sms.log_forms import UnknownFilterForm
from sms.models import SmsLog
from sms.reasons import explain_look, verdict_label
from sms.settlement import FOR_GOOD
from sms.unknown_queries import Look
from sms.views.logs import line_of, only_while_on
from workspaces.addresses import next_url
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


@require_safe
@permission_required(Perm.SMS_LOGS_VIEW)
def unknown_list(request: MemberRequest) -> HttpResponse:
    """Constant queries, whatever the number of messages."""
    only_while_on(request)
    form = UnknownFilterForm(request.GET or None)
    state, chosen = form.chosen()
    page = paginate(request, unknown_queries.messages(state, chosen))
    looks = unknown_queries.looks_at(list(page))
    lines = [line_of(row) | _evidence(row, looks[row.pk]) for row in page]
    may_ask = Perm.SUPPORT in request.permissions
    context = {"form": form, "page": page, "lines": lines, "may_ask": may_ask, "state": state}
    return render(request, "sms/unknown.html", context)


@require_POST
@permission_required(Perm.SUPPORT)
def look_again(request: MemberRequest, pk: int) -> HttpResponse:
    """Look one message up at the next round, also when it was given up."""
    only_while_on(request)
    if lookups.ask_again(pk, user=request.user):
        messages.success(request, _("The message is looked up at the provider now."))
    else:
        messages.info(request, _("The outcome of this message is known already."))
    return redirect(next_url(request, "sms:unknown"))


def _evidence(row: SmsLog, looks: list[Look]) -> dict[str, object]:
    last = looks[-1] if looks else None
    return {
        "looks": len(looks),
        "last": last,
        "verdict": verdict_label(last.verdict) if last else "",
        "why": explain_look(row.provider, last.why) if last else "",
        "next_at": row.lookup_at if row.status == "unknown" and row.lookup_at != FOR_GOOD else None,
        "is_open": row.status == "unknown",
    }

"""Stop everything in the workspace, see what was on its way, and let it go on."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from campaigns import queries, stopping
from campaigns.models import CampaignStatus, SendingStop
from core.dates import format_number
from core.errors import DomainError
from core.pagination import paginate
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm, has_perm

SHOWN = 100  # messages on their way that the page lists


@require_safe
@permission_required(Perm.CAMPAIGNS_MANAGE)
def stop_page(request: MemberRequest) -> HttpResponse:
    """Not gated by automation being on: whoever looks for the brake must find it."""
    return _page(request)


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def stop(request: MemberRequest) -> HttpResponse:
    return _done(request, stopping.stop, _stopped_text)


@require_POST
@permission_required(Perm.CAMPAIGNS_MANAGE)
def resume(request: MemberRequest) -> HttpResponse:
    return _done(request, stopping.resume, lambda _made: _("Messages leave again."))


def _done(
    request: MemberRequest, action: Callable[..., SendingStop], text: Callable[[SendingStop], str]
) -> HttpResponse:
    reason = request.POST.get("reason", "")
    try:
        made = action(reason=reason, user=request.user)
    except DomainError as exc:
        return _page(request, refusal=str(exc), reason=reason, status=exc.status)
    messages.success(request, text(made))
    return redirect("campaigns:stop")


def _page(request: MemberRequest, *, refusal: str = "", reason: str = "", status: int = 200) -> HttpResponse:
    current = stopping.current()
    page = paginate(request, stopping.stops(), size=20)
    shown = current or (page[0] if len(page) else None)
    sees_messages = has_perm(request.permissions, Perm.SMS_LOGS_VIEW) and shown is not None
    context = {
        "current": current,
        "shown": shown,
        "on_the_way": len(shown.on_the_way) if shown else 0,
        "listed": stopping.became_of(shown, limit=SHOWN) if shown and sees_messages else [],
        "page": page,
        "running": queries.status_counts().get(CampaignStatus.ACTIVE, 0),
        "refusal": refusal,
        "reason": reason,
        "most": stopping.MAX_REASON,
    }
    return render(request, "campaigns/stop.html", context, status=status)


def _stopped_text(made: SendingStop) -> str:
    """Never "stopped" alone while something may still arrive."""
    count = len(made.on_the_way)
    if not count:
        return _("Everything is stopped. No message was on its way.")
    text = ngettext(
        "Everything is stopped. %(n)s message was on its way already and may still arrive.",
        "Everything is stopped. %(n)s messages were on their way already and may still arrive.",
        count,
    )
    return text % {"n": format_number(count, get_language() or "fa")}

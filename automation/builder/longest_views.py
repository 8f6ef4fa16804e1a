"""The fragment below a preview: the longest message the text makes for anybody here, when asked for."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST

from automation.action_specs import send_sms
from automation.builder.longest import longest
from core import clock
from workspaces.decorators import permission_required
from workspaces.http import MemberRequest
from workspaces.permissions import Perm


@require_POST
@permission_required(Perm.WORKFLOWS_MANAGE)
def longest_text(request: MemberRequest) -> HttpResponse:
    """Of the text as it stands in the form, among the people whom this member may see."""
    typed = request.POST
    config = {
        "body": typed.get("body", "")[: send_sms.MAX_BODY],
        "append_opt_out": bool(typed.get("append_opt_out")),
        "on_missing_variable": typed.get("on_missing_variable", ""),
        "provider": typed.get("provider", ""),
        "sender": typed.get("sender", ""),
        "message_kind": typed.get("message_kind", ""),
    }
    today = clock.now().astimezone(timezone.get_current_timezone()).date()
    found = longest(config, workspace=request.workspace, membership=request.membership, today=today)
    return render(request, "automation/workflows/_longest.html", {"longest": found, "asked": True})

"""The campaign pages are closed while automation is off; what has been sent stays in the message log."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from automation.workspace_settings import on_for
from workspaces.http import MemberRequest, wants_json
from workspaces.permissions import Perm, has_perm

P = ParamSpec("P")
View = Callable[Concatenate[MemberRequest, P], HttpResponseBase]


def automation_page(view: View[P]) -> View[P]:
    """Reading pages answer 404 with the way to the switch; a fragment lets its page load anew.

    The buttons need no gate: their actions say themselves what automation being off means.
    """

    @wraps(view)
    def gated(request: MemberRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        return view(request, *args, **kwargs) if on_for(request) else _closed(request)

    return gated


def _closed(request: MemberRequest) -> HttpResponse:
    if "HX-Request" in request.headers:
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    if wants_json(request):
        error = _("Automation is switched off for this workspace")
        return JsonResponse({"error": error, "code": "automation_disabled"}, status=404)
    context = {"may_switch": has_perm(request.permissions, Perm.SETTINGS_MANAGE)}
    return render(request, "campaigns/closed.html", context, status=404)

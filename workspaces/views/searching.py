"""The search box of the frame: its page of results, and suggestions while somebody types."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from workspaces import search
from workspaces.decorators import workspace_required
from workspaces.http import MemberRequest


@require_safe
@workspace_required
def page(request: MemberRequest) -> HttpResponse:
    return render(request, "workspaces/search.html", _found(request, search.ON_PAGE))


@require_safe
@workspace_required
def suggestions(request: MemberRequest) -> HttpResponse:
    """The fragment of the list below the box."""
    return render(request, "workspaces/_suggestions.html", _found(request, search.SUGGESTED))


def _found(request: MemberRequest, limit: int) -> dict[str, object]:
    wanted = search.Wanted.read(request.GET.get("q", ""))
    return {"wanted": wanted, "groups": search.results(request, wanted, limit)}

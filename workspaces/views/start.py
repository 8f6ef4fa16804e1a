"""The start page, the list of workspaces, and the switches of the shell."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from core import clock
from core.errors import Invalid, NotFound
from workspaces import home as registry
from workspaces.addresses import next_url
from workspaces.decorators import sign_in_required, workspace_required
from workspaces.http import MemberRequest, UserRequest
from workspaces.middleware import SESSION_WORKSPACE

LANGUAGE_AGE_S = 365 * 24 * 3600


@require_safe
@workspace_required
def home(request: MemberRequest) -> HttpResponse:
    """Where things stand, and what to do next while something is missing."""
    steps = registry.steps.entries(request)
    context = {
        "cards": registry.cards.entries(request),
        "notices": registry.notices.entries(request),
        "today": clock.now(),
        "steps": steps,
        "next_step": next((step for step in steps if not step.done), None),
        "done": sum(step.done for step in steps),
    }
    return render(request, "workspaces/home.html", context)


@require_safe
@sign_in_required
def workspace_list(request: UserRequest) -> HttpResponse:
    return render(request, "workspaces/workspace_list.html")


@require_POST
@sign_in_required
def switch(request: UserRequest) -> HttpResponse:
    """Stand in another workspace from the next request on; 404 for one the person is no member of."""
    wanted = request.POST.get("workspace", "")
    if wanted not in {str(workspace.pk) for workspace in request.workspace_choices}:
        raise NotFound
    request.session[SESSION_WORKSPACE] = int(wanted)
    return redirect(next_url(request))


@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """Keep the language in this browser, and for somebody signed in in their account too."""
    language = request.POST.get("language", "")
    if language not in dict(settings.LANGUAGES):
        raise Invalid(_("This language is not offered."))
    if request.user.is_authenticated:
        request.user.language = language
        request.user.save(update_fields=["language", "updated_at"])
    response = redirect(next_url(request))
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=LANGUAGE_AGE_S,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response

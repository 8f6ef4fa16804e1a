"""Who may open a view. Every view of the site carries one of these, or is listed as public."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.auth.views import redirect_to_login
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from core.errors import Forbidden
from workspaces import audit
from workspaces.http import MemberRequest, UserRequest, wants_json
from workspaces.permissions import Perm

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]
UserView = Callable[Concatenate[UserRequest, P], HttpResponseBase]
MemberView = Callable[Concatenate[MemberRequest, P], HttpResponseBase]

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


def sign_in_required(view: UserView[P]) -> View[P]:
    """Only for somebody signed in; others go to the sign-in page, JSON callers get 401."""

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return ask_to_sign_in(request)
        return view(request, *args, **kwargs)  # type: ignore[arg-type]  # the middleware set the rest

    return guarded


def workspace_required(view: MemberView[P]) -> View[P]:
    """Only for a member of the active workspace, whatever their role."""
    return _guard(view, (), json=False)


def permission_required(*needed: Perm, json: bool = False) -> Callable[[MemberView[P]], View[P]]:
    """Only for a member who holds one of `needed`.

    Nobody signed in: redirect to the sign-in page, or 401. No workspace: redirect to the list of
    workspaces, or 403. Without the right: 403, and an attempt to change something is audited.
    `json` answers in JSON whatever the caller's Accept header says.
    """
    if not needed:
        raise ValueError("name a permission, or use workspace_required")

    def decorate(view: MemberView[P]) -> View[P]:
        return _guard(view, needed, json=json)

    return decorate


def _guard(view: MemberView[P], needed: tuple[Perm, ...], *, json: bool) -> View[P]:
    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return ask_to_sign_in(request, json=json)
        if getattr(request, "workspace", None) is None:
            return _no_workspace(request, json=json)
        member: MemberRequest = request  # type: ignore[assignment]  # what the two checks establish
        if needed and member.permissions.isdisjoint(needed):
            return _refuse(member, needed, json=json)
        return view(member, *args, **kwargs)

    return guarded


def ask_to_sign_in(request: HttpRequest, *, json: bool = False) -> HttpResponse:
    """401 for JSON, a redirect of the whole page for htmx, else the sign-in page with the way back."""
    if json or wants_json(request):
        body = {"error": _("Please sign in."), "code": "not_signed_in"}
        return JsonResponse(body, status=401, headers={"WWW-Authenticate": "Bearer"})
    if "HX-Request" in request.headers:
        return HttpResponse(status=401, headers={"HX-Redirect": reverse("workspaces:sign-in")})
    return redirect_to_login(request.get_full_path())


def _no_workspace(request: HttpRequest, *, json: bool) -> HttpResponse:
    if json or wants_json(request):
        body = {"error": _("You are not a member of a workspace."), "code": "no_workspace"}
        return JsonResponse(body, status=403)
    return redirect("workspaces:workspace-list")


def _refuse(request: MemberRequest, needed: tuple[Perm, ...], *, json: bool) -> HttpResponse:
    error = Forbidden(_("Your role does not allow this."))
    if request.method not in SAFE_METHODS:
        page = request.resolver_match.view_name if request.resolver_match else ""
        with transaction.atomic():
            audit.record(
                "access.denied",
                entity=request.membership,
                new={"page": page, "needed": sorted(needed)},
                user=request.user,
            )
    if json:
        return JsonResponse({"error": str(error), "code": error.code}, status=error.status)
    raise error

"""Error pages. They hold no detail of the fault: what went wrong is in the log, by request."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

JSON_NAMESPACE: Final = "json"  # of the addresses that answer JSON only


def bad_request(request: HttpRequest, *_args: Any, **_kwargs: Any) -> HttpResponse:
    return _answer(request, 400, _("The request could not be understood."))


def permission_denied(request: HttpRequest, *_args: Any, **_kwargs: Any) -> HttpResponse:
    return _answer(request, 403, _("You may not do this."))


def page_not_found(request: HttpRequest, *_args: Any, **_kwargs: Any) -> HttpResponse:
    return _answer(request, 404, _("There is nothing at this address."))


def server_error(request: HttpRequest, **_kwargs: Any) -> HttpResponse:
    return _answer(request, 500, _("Something went wrong on our side; it has been recorded."))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001  # never shown
    """The form was open too long, or came from another site: a fresh page helps.

    A program that sent neither a session nor a token is told so, which is what it has to mend.
    """
    if speaks_json(request):
        if not request.user.is_authenticated:
            body = {"error": _("Please sign in."), "code": "not_signed_in"}
            return JsonResponse(body, status=401, headers={"WWW-Authenticate": "Bearer"})
        body = {"error": _("The request carries no valid CSRF token."), "code": "csrf_failed"}
        return JsonResponse(body, status=403)
    return render(request, "errors/csrf.html", status=403)


def speaks_json(request: HttpRequest) -> bool:
    """Whether an error is told in JSON: at the addresses of the JSON interface, or where it is asked for."""
    match = request.resolver_match
    if match is not None and JSON_NAMESPACE in match.namespaces:
        return True
    return "application/json" in request.headers.get("Accept", "")


def _answer(request: HttpRequest, status: int, text: str) -> HttpResponse:
    if speaks_json(request):
        return JsonResponse({"error": text, "code": f"http_{status}"}, status=status)
    return render(request, f"errors/{status}.html", status=status)

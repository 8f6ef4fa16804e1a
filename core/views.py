"""Error pages. They hold no detail of the fault: what went wrong is in the log, by request."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _


def bad_request(request: HttpRequest, *_args: Any, **_kwargs: Any) -> HttpResponse:
    return _answer(request, 400, _("The request could not be understood."))


def permission_denied(request: HttpRequest, *_args: Any, **_kwargs: Any) -> HttpResponse:
    return _answer(request, 403, _("You may not do this."))


def page_not_found(request: HttpRequest, *_args: Any, **_kwargs: Any) -> HttpResponse:
    return _answer(request, 404, _("There is nothing at this address."))


def server_error(request: HttpRequest, **_kwargs: Any) -> HttpResponse:
    return _answer(request, 500, _("Something went wrong on our side; it has been recorded."))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001  # never shown
    """The form was open too long, or came from another site: a fresh page helps."""
    return render(request, "errors/csrf.html", status=403)


def _answer(request: HttpRequest, status: int, text: str) -> HttpResponse:
    if "application/json" in request.headers.get("Accept", ""):
        return JsonResponse({"error": text, "code": f"http_{status}"}, status=status)
    return render(request, f"errors/{status}.html", status=status)

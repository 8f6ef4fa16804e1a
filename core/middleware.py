"""Cross-cutting answers: private pages are not stored, refusals become pages or JSON."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from core.errors import DomainError, Invalid

log = structlog.get_logger(__name__)
Handler = Callable[[HttpRequest], HttpResponse]


class PrivateCacheMiddleware:
    """Pages hold personal data: no cache keeps them unless a view says otherwise."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if "Cache-Control" not in response and not request.path.startswith("/static/"):
            response["Cache-Control"] = "no-store, private"
        return response


class DomainErrorMiddleware:
    """Maps a refusal to its HTTP status once, for pages and for JSON."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, DomainError):
            return None
        log.info("refused", code=exception.code, status=exception.status)
        if "application/json" in request.headers.get("Accept", ""):
            body = {"error": str(exception), "code": exception.code}
            if isinstance(exception, Invalid):
                body["problems"] = [str(p) for p in exception.problems]  # type: ignore[assignment]
            return JsonResponse(body, status=exception.status)
        return render(
            request, f"errors/{_page(exception.status)}.html", {"error": exception}, status=exception.status
        )


def _page(status: int) -> str:
    return str(status) if status in (403, 404) else "refused"

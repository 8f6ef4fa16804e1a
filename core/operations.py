"""Addresses for those who run the installation: is it alive, and how is it doing."""

from __future__ import annotations

import hmac

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from core import health, metrics


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:  # noqa: ARG001
    """200 while the database answers, else 503. A late scheduler or queue is named, not an error."""
    state = health.look()
    ages = {name: None if age is None else round(age) for name, age in state.ages.items()}
    body = {"status": state.status, "database": state.database, "late": state.late, "age_seconds": ages}
    return JsonResponse(body, status=200 if state.database else 503)


@require_safe
def metrics_page(request: HttpRequest) -> HttpResponse:
    """Numbers in the Prometheus text format for a bearer of the token; 404 when none is set up."""
    token: str = settings.METRICS_TOKEN
    if not token:
        raise Http404
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), token.encode()):
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    return HttpResponse(metrics.as_text(), content_type="text/plain; version=0.0.4; charset=utf-8")

"""The caller's address, believing only as many proxies as are configured."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def client_ip(request: HttpRequest) -> str:
    """REMOTE_ADDR, or with N trusted proxies the Nth entry of X-Forwarded-For from the right."""
    count: int = settings.PROXY_COUNT
    if count:
        header = request.headers.get("X-Forwarded-For", "")
        forwarded = [part.strip() for part in header.split(",") if part.strip()]
        if len(forwarded) >= count:
            return forwarded[-count]
    return str(request.META.get("REMOTE_ADDR", ""))

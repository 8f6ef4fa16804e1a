"""Where a person may be sent next."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme


def next_url(request: HttpRequest, default: str = "workspaces:home") -> str:
    """The address named by `next`, if it lies on this site; else the page called `default`.

    Other hosts, other schemes and addresses that browsers read as another host are not followed.
    """
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    safe = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if safe and wanted.startswith("/") else reverse(default)

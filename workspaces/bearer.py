"""The `Authorization: Bearer` header: read before anything else, and counted where it is wrong.

A request that carries one is judged by it alone, whatever its cookies say; it needs no CSRF token, since
no other site can make a browser send the header. Tokens count at the addresses of the JSON interface only.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from django.core.cache import cache
from django.http import HttpRequest
from django.urls import Resolver404, resolve
from django.utils.translation import gettext as _

from core.client_address import client_ip
from core.errors import DomainError, TooMany
from core.views import JSON_NAMESPACE
from workspaces import tokens
from workspaces.models import ApiToken, Membership

WRONG_ALLOWED: Final = 20  # wrong tokens from one address
WRONG_WINDOW_S: Final = 600


class WrongToken(DomainError):
    """Unknown, expired, revoked, or its maker is gone: which of them is not told."""

    code = "token_invalid"
    status = 401
    headers = {"WWW-Authenticate": 'Bearer error="invalid_token"'}

    def __init__(self) -> None:
        super().__init__(_("This token is not valid."))


@dataclass(frozen=True, slots=True)
class Bearer:
    """What the header gave: a living token and the membership it acts with, or neither."""

    token: ApiToken | None = None
    membership: Membership | None = None


def presented(request: HttpRequest) -> Bearer | None:
    """The token of the request; None when it carries no such header or asks for a page."""
    scheme, _space, secret = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not _is_json(request):
        return None
    found = tokens.recognise(secret.strip())
    return Bearer() if found is None else Bearer(*found)


def check(request: HttpRequest) -> None:
    """Raises WrongToken or TooMany. A request without a token passes."""
    bearer: Bearer | None = getattr(request, "bearer", None)
    if bearer is None:
        return
    if bearer.token is None:
        _count_wrong(request)
        raise WrongToken
    if wait := tokens.admit(bearer.token):
        raise TooMany(_("Too many requests with this token; slow down."), retry_after=wait)


def _count_wrong(request: HttpRequest) -> None:
    """A right token goes on working from the same address: a lock would be a weapon against its owner."""
    key = "wrong-tokens:" + hashlib.sha256(client_ip(request).encode()).hexdigest()[:32]
    cache.add(key, 0, timeout=WRONG_WINDOW_S)
    try:
        count = cache.incr(key)
    except ValueError:  # forgotten between the two
        return
    if count > WRONG_ALLOWED:
        raise TooMany(
            _("Too many wrong tokens from this address."),
            code="too_many_attempts",
            retry_after=WRONG_WINDOW_S,
        )


def _is_json(request: HttpRequest) -> bool:
    try:
        return JSON_NAMESPACE in resolve(request.path_info).namespaces
    except Resolver404:
        return False

"""Who is asking, and in which workspace: settled once a request, before any view runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import FileResponse, HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone, translation

from core import clock
from core.tenancy import workspace_scope
from workspaces import bearer, queries
from workspaces.models import Membership
from workspaces.permissions import permissions_of

SESSION_WORKSPACE = "workspace"
SESSION_RENEWED = "renewed"
RENEW_AFTER_S = 24 * 3600
Handler = Callable[[HttpRequest], HttpResponseBase]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What holds while a request is answered: the workspace of its queries, its language and zone."""

    workspace_id: int | None
    language: str
    zone: ZoneInfo

    @contextmanager
    def apply(self) -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(translation.override(self.language))
            stack.enter_context(timezone.override(self.zone))
            if self.workspace_id is not None:
                stack.enter_context(workspace_scope(self.workspace_id))
            yield


class WorkspaceMiddleware:
    """Sets `request.workspace`, `.membership`, `.permissions` and `.workspace_choices`.

    Memberships are read at every request, so a removed member, a changed role or a closed workspace
    takes effect at once. The workspace chosen in the session counts only while the person is a member
    of it; else the one they joined first. Everything below runs inside that workspace's scope, language
    and time zone, a streamed answer too; all three are put back whatever happens.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        membership = _settle(request)
        surroundings = Surroundings(
            workspace_id=membership.workspace_id if membership else None,
            language=language_of(request, membership),
            zone=_zone(membership.workspace.timezone if membership else settings.DEFAULT_WORKSPACE_TIMEZONE),
        )
        with surroundings.apply():
            response = self.get_response(request)
        response.headers.setdefault("Content-Language", surroundings.language)
        if isinstance(response, StreamingHttpResponse) and not isinstance(response, FileResponse):
            response.streaming_content = _stream(
                cast(Iterator[bytes], response.streaming_content), surroundings
            )
        return response


def _settle(request: HttpRequest) -> Membership | None:
    """Put the member's attributes on the request. Two queries at most: the person and the memberships."""
    given = bearer.presented(request)
    request.bearer = given  # type: ignore[attr-defined]
    if given is not None:
        return _settle_token(request, given)
    user = request.user
    memberships = queries.memberships_of(user) if user.is_authenticated else []
    wanted = request.session.get(SESSION_WORKSPACE) if memberships else None
    eldest = min(memberships, key=lambda m: m.pk, default=None)
    chosen = next((m for m in memberships if m.workspace_id == wanted), eldest)
    request.workspace = chosen.workspace if chosen else None  # type: ignore[attr-defined]
    request.membership = chosen  # type: ignore[attr-defined]
    request.permissions = permissions_of(chosen)  # type: ignore[attr-defined]
    request.workspace_choices = [m.workspace for m in memberships]  # type: ignore[attr-defined]
    if user.is_authenticated:
        renew_session(request)
    return chosen


def _settle_token(request: HttpRequest, given: bearer.Bearer) -> Membership | None:
    """The same for a request with a token: its cookies count for nothing, so forgery has no hold on it."""
    membership = given.membership
    request.user = membership.user if membership else AnonymousUser()
    request.workspace = membership.workspace if membership else None  # type: ignore[attr-defined]
    request.membership = membership  # type: ignore[attr-defined]
    request.permissions = permissions_of(membership)  # type: ignore[attr-defined]
    request.workspace_choices = []  # type: ignore[attr-defined]
    request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]  # read by Django's middleware
    return membership


def renew_session(request: HttpRequest) -> None:
    """Somebody who keeps coming back stays signed in: once a day the session's end is moved on."""
    now = clock.now().timestamp()
    if abs(now - request.session.get(SESSION_RENEWED, 0)) > RENEW_AFTER_S:
        request.session[SESSION_RENEWED] = now


def language_of(request: HttpRequest, membership: Membership | None) -> str:
    """The person's own language, else the one chosen in this browser, else the workspace's, else Persian."""
    known = dict(settings.LANGUAGES)
    own = request.user.language if request.user.is_authenticated else ""
    workspace = membership.workspace.language if membership else ""
    for choice in (own, request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, ""), workspace):
        if choice in known:
            return choice
    return settings.LANGUAGE_CODE


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo(settings.DEFAULT_WORKSPACE_TIMEZONE)


def _stream(chunks: Iterator[bytes], surroundings: Surroundings) -> Iterator[bytes]:
    """The chunks, each made inside the surroundings: the server pulls them after the middleware returned."""
    iterator = iter(chunks)
    while True:
        with surroundings.apply():
            chunk = next(iterator, None)
        if chunk is None:
            return
        yield chunk

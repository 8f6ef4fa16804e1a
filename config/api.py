"""The JSON interface: every app's routes under one roof, one shape of errors, one strict reading of JSON.

Routes live beside their pages under /automation/ and never share a path and a method with one. The document
that describes them all is served at /automation/openapi.json to whoever may call them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern
from django.utils.translation import gettext as _
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.parser import Parser
from ninja.security import APIKeyCookie, HttpBearer

from automation.api import router as automation
from blacklist.api import router as blacklist
from campaigns.api import router as campaigns
from core.errors import DomainError, Invalid, NotFound, Unreadable
from engine.portable import check_values
from workspaces import kept_answers
from workspaces.json_api import Problem, error_answer, needs, route

PREFIX: Final = "/automation/"
HIDDEN: Final = ("api-root", "openapi-json")  # ninja's own pages; ours need a permission
View = Callable[..., HttpResponseBase]
DESCRIPTION: Final = """\
Everything the panel's builder and campaign pages can do, for programs.

Sign in with the session cookie of the panel (changes then need the `X-CSRFToken` header), or send an API
token: `Authorization: Bearer peyk_...`. A token acts in one workspace with the permissions it was given.
Errors are `{"error": text, "code": word}`; match on `code`. What a role or token may not do is 403, what
does not exist in the workspace is 404. A body is JSON of at most 2 MB; unknown keys are refused.
A request that is sent again with the same `Idempotency-Key` header is done once and answered alike.
"""


class Session(APIKeyCookie):
    """The panel's own session. Django's middleware has checked the CSRF token of a change."""

    param_name = settings.SESSION_COOKIE_NAME

    def authenticate(self, request: HttpRequest, key: str | None) -> bool:  # noqa: ARG002
        return request.user.is_authenticated and getattr(request, "bearer", None) is None


class Token(HttpBearer):
    """An API token of the workspace."""

    def authenticate(self, request: HttpRequest, token: str) -> bool:  # noqa: ARG002
        return request.user.is_authenticated and getattr(request, "bearer", None) is not None


class StrictParser(Parser):
    """JSON as every store and every other reader understands it, or nothing."""

    def parse_body(self, request: HttpRequest) -> Any:
        if request.content_type != "application/json":
            raise Unreadable(_("The body must be application/json."), code="unsupported_type", status=415)
        try:
            value = json.loads(request.body, parse_constant=_refused, object_pairs_hook=_object)
        except (ValueError, RecursionError) as exc:
            raise Unreadable(_("The body is not JSON."), code="json_invalid") from exc
        if check_values(value):
            text = _("The body holds a number or a character that cannot be stored, or is nested too deeply.")
            raise Unreadable(text, code="json_invalid")
        return value


def _refused(word: str) -> float:
    raise ValueError(word)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


api = NinjaAPI(
    title="Peyk",
    version="1",
    description=DESCRIPTION,
    urls_namespace="json",
    docs_url=None,
    auth=[Session(csrf=False), Token()],
    parser=StrictParser(),
)
for tag, router in (("workflows", automation), ("campaigns", campaigns), ("blacklist", blacklist)):
    api.add_router("", router, tags=[tag])


@api.exception_handler(DomainError)
def _domain_error(_request: HttpRequest, error: DomainError) -> HttpResponse:
    return error_answer(error)


@api.exception_handler(Http404)
def _not_found(_request: HttpRequest, _error: Http404) -> HttpResponse:
    return error_answer(NotFound(_("There is nothing at this address.")))


@api.exception_handler(RequestDataTooBig)
def _too_big(_request: HttpRequest, _error: RequestDataTooBig) -> HttpResponse:
    return error_answer(Unreadable(_("The body is too large."), code="too_large", status=413))


@api.exception_handler(SuspiciousOperation)
@api.exception_handler(BadRequest)
def _suspicious(_request: HttpRequest, _error: Exception) -> HttpResponse:
    return error_answer(Unreadable(_("The request could not be understood.")))


@api.exception_handler(HttpError)
def _http_error(_request: HttpRequest, error: HttpError) -> HttpResponse:
    """Ninja's own refusals; what the parser said stands behind its "cannot parse"."""
    cause = error.__cause__
    if isinstance(cause, DomainError):
        return error_answer(cause)
    if error.status_code == 401:
        body = {"error": _("Please sign in."), "code": "not_signed_in"}
        return JsonResponse(body, status=401, headers={"WWW-Authenticate": "Bearer"})
    return JsonResponse(
        {"error": _("The request could not be understood."), "code": "malformed"}, status=error.status_code
    )


@api.exception_handler(ValidationError)
def _invalid(_request: HttpRequest, error: ValidationError) -> HttpResponse:
    """What is wrong with the body or the query; an id that cannot exist is simply not there."""
    if any(one["loc"][0] == "path" for one in error.errors):
        return error_answer(NotFound(_("There is nothing at this address.")))
    problems = [
        Problem(message=str(one["msg"]), code=str(one["type"]), at=_place(one["loc"]))
        for one in error.errors[:100]
    ]
    return error_answer(Invalid(_("The request is not valid."), code="invalid_request", problems=problems))


def _place(steps: tuple[Any, ...]) -> str:
    """`body.ids.0`: where in the request; the name that a route gives its body says nothing to callers."""
    source, *rest = [str(step)[:100] for step in steps]
    return ".".join([source, *(rest[1:] if source in ("body", "form") and len(rest) > 1 else rest)])


@api.get(
    "/openapi.json", include_in_schema=True, tags=["interface"], **route("openapi", {200: dict[str, Any]})
)
@needs()
def openapi(request: HttpRequest) -> JsonResponse:  # noqa: ARG001
    """This document."""
    return JsonResponse(document())


@cache
def document() -> dict[str, Any]:
    """The OpenAPI description of every route."""
    described = dict(api.get_openapi_schema(path_prefix=PREFIX))
    for operations in described["paths"].values():
        for method in ("post", "put"):
            if method in operations:
                _takes_a_key(operations[method])
    return described


KEY: Final = {
    "name": kept_answers.HEADER,
    "in": "header",
    "required": False,
    "description": "Send the same key with a repeated request: it is done once and answered alike.",
    "schema": {"type": "string", "pattern": kept_answers.SHAPE, "minLength": 1, "maxLength": 200},
}


def _takes_a_key(operation: dict[str, Any]) -> None:
    operation["parameters"] = [*operation.get("parameters", ()), KEY]
    for code, name in (("409", "StateError"), ("422", "InvalidError")):
        schema = {"$ref": f"#/components/schemas/{name}"}
        refusal = {"description": "Refused", "content": {"application/json": {"schema": schema}}}
        answers = operation["responses"]
        if not {code, int(code)} & answers.keys():
            answers[code] = refusal


def addresses() -> list[URLPattern]:
    """The patterns of all routes. Django's middleware checks CSRF at them as at every page."""
    found = [one for one in api.urls[0] if isinstance(one, URLPattern) and one.name not in HIDDEN]
    by_route = {str(pattern.pattern): pattern for pattern in found}  # one for each method, all the same
    return [
        URLPattern(pattern.pattern, _answering(pattern.callback), name=pattern.name)
        for pattern in by_route.values()
    ]


def _answering(view: View) -> View:
    """`view` (without its exemption from CSRF) with refusals in JSON whoever raised them; HEAD is a GET."""

    def answering(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        if request.method == "HEAD":
            request.method = "GET"
        try:
            response = view(request, **kwargs)
        except DomainError as error:
            return error_answer(error)
        if not isinstance(response, HttpResponseNotAllowed):
            return response
        body = {"error": _("This address does not answer that method."), "code": "method_not_allowed"}
        return JsonResponse(body, status=405, headers={"Allow": response.headers["Allow"]})

    return answering

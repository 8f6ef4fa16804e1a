"""What every app's JSON routes share: who may call them, and the shapes of what goes in and out.

    router = Router(tags=["campaigns"])

    @router.post("/campaigns/{int:campaign_id}/pause", **route("pause", {200: StatusOut}, 404, 409))
    @needs(Perm.CAMPAIGNS_MANAGE)
    def pause(request: MemberRequest, campaign_id: int) -> StatusOut: ...

Errors are raised as `core.errors` and turned into `{"error", "code", ...}` in one place (config/api.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any, Final, TypeVar

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from ninja.decorators import decorate_view
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from core.errors import DomainError, Invalid
from workspaces import bearer, kept_answers
from workspaces.decorators import permission_required, workspace_required
from workspaces.permissions import Perm

Run = Callable[..., HttpResponseBase]
Operation = TypeVar("Operation", bound=Callable[..., Any])

ALWAYS: Final = (401, 403, 429)
WITH_BODY: Final = (400, 413, 415, 422)
MAX_ID: Final = 2**53 - 1  # what every reader of JSON keeps exactly


def _whole(value: Any) -> Any:
    """JSON knows one kind of number: 3.0 is a whole one."""
    return int(value) if type(value) is float and value.is_integer() else value


WHOLE: Final = BeforeValidator(_whole)
Id = Annotated[int, Field(ge=1, le=MAX_ID), WHOLE]


class In(BaseModel):
    """What a caller sends: unknown keys and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Out(BaseModel):
    """What a caller gets."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """One reason. `at` is the place in the request, `node` and `port` the step and its exit."""

    message: str
    code: str = ""
    at: str = ""
    node: str = ""
    port: str = ""
    remedy: str = ""


class Error(BaseModel):
    """Every refusal. Programs match on `code`, which never changes; `error` is for people."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"error": "There is no such campaign.", "code": "not_found"}]}
    )

    error: str
    code: str


class StateError(Error):
    """A refusal by the state of a thing. `status`: the state it is in, where that is the reason."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"error": "This campaign is over.", "code": "campaign_over", "status": "completed"}]
        }
    )

    status: str = ""


class InvalidError(Error):
    """What was sent is wrong. `problems`: all the reasons at once."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "error": "The request is not valid.",
                    "code": "invalid_request",
                    "problems": [{"at": "body.ids.0", "message": "Input should be a valid integer"}],
                }
            ]
        }
    )

    problems: list[Problem] = []


def error_answer(error: DomainError) -> JsonResponse:
    """A refusal as `{"error", "code"}`, with `problems` and the `status` of a thing where there are any."""
    words = str(error)
    if words == error.code and error.status == 404:  # raised without words
        words = _("There is nothing at this address.")
    body: dict[str, Any] = {"error": words, "code": error.code}
    if isinstance(error, Invalid):
        body["problems"] = [problem_of(reason).model_dump() for reason in error.problems]
    if "status_now" in error.fields:
        body["status"] = str(error.fields["status_now"])
    return JsonResponse(body, status=error.status, headers=dict(error.headers))


def problem_of(reason: Any) -> Problem:
    """A reason of `Invalid.problems` in the one shape: a finding about a step, a field's problem, a text."""
    if isinstance(reason, Problem):
        return reason
    return Problem(
        message=str(getattr(reason, "message", "") or reason),
        code=str(getattr(reason, "code", "")),
        at=str(getattr(reason, "field", "")),
        node=str(getattr(reason, "node", "")),
        port=str(getattr(reason, "port", "")),
        remedy=str(getattr(reason, "remedy", "")),
    )


ERRORS: Final[Mapping[int, type[Error]]] = {409: StateError, 422: InvalidError}


def route(
    name: str,
    answers: Mapping[int, Any],
    *codes: int,
    body: bool = False,
    extra: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Keywords of a route: its name, what it answers, and every code it may refuse with.

    `codes` are added to those that every route has; `body` adds those of a JSON body. `extra` goes into
    the description of the route as it is.
    """
    refusals = sorted({*ALWAYS, *codes, *(WITH_BODY if body else ())})
    described = {**answers, **{code: ERRORS.get(code, Error) for code in refusals}}
    return {
        "url_name": name,
        "operation_id": name,
        "response": described,
        "by_alias": True,
        "openapi_extra": extra or {},
    }


def needs(*permissions: Perm) -> Callable[[Operation], Operation]:
    """Only for a session or a token that holds one of `permissions`; any member without any named.

    Asked before the body is read. See `permission_required` for the answers; a wrong token is 401, one
    that is used too fast 429.
    """

    def decorate(run: Run) -> Run:
        once = _once(run)
        allowed = permission_required(*permissions, json=True)(once) if permissions else _any_member(once)

        @wraps(run)
        def guarded(request: HttpRequest, /, **kwargs: Any) -> HttpResponseBase:
            bearer.check(request)
            return allowed(request, **kwargs)

        return guarded

    def mark(operation: Operation) -> Operation:
        marked: Operation = decorate_view(decorate)(operation)
        return marked

    return mark


def _once(run: Run) -> Run:
    """Whoever may call it and sends a key is answered alike each time, and it is done once."""

    @wraps(run)
    def answering(request: HttpRequest, /, **kwargs: Any) -> HttpResponseBase:
        return kept_answers.answer_once(request, lambda: run(request, **kwargs))

    return answering


def _any_member(run: Run) -> Run:
    member: Run = workspace_required(run)
    return member

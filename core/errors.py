"""Errors by what the caller should do. The text is translated; clients and logs match on `code`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


class DomainError(Exception):
    """A refusal with a stable `code`, a translated sentence and the values it was made from.

    `status` is the HTTP status that the middleware answers with; `headers` are added to a JSON answer.
    """

    code = "refused"
    status = 400
    headers: Mapping[str, str] = MappingProxyType({})

    def __init__(self, message: object = "", *, code: str = "", **fields: Any) -> None:
        self.code = code or self.code
        self.message = message
        self.fields = fields
        super().__init__(self.code)

    def __str__(self) -> str:
        return str(self.message) or self.code


class Refused(DomainError):
    """Understood and not allowed. Show it; do not retry."""

    status = 409


class Invalid(DomainError):
    """The input is wrong. `problems` holds every reason, each naming its field, row or node."""

    code = "invalid"
    status = 422

    def __init__(self, message: object = "", *, problems: list[Any] | None = None, **kwargs: Any) -> None:
        self.problems = problems or []
        super().__init__(message, **kwargs)


class Forbidden(DomainError):
    """The signed-in user may not do this."""

    code = "forbidden"
    status = 403


class NotFound(DomainError):
    """No such thing in this workspace."""

    code = "not_found"
    status = 404


class Unreadable(DomainError):
    """The request itself cannot be read: no JSON (400), too large (413), of another kind (415)."""

    code = "malformed"

    def __init__(self, message: object = "", *, status: int = 400, **kwargs: Any) -> None:
        super().__init__(message, **kwargs)
        self.status = status


class TooMany(DomainError):
    """Too much was asked for in too short a time. `retry_after`: seconds until more may be."""

    code = "too_many_requests"
    status = 429

    def __init__(self, message: object = "", *, retry_after: int, **kwargs: Any) -> None:
        super().__init__(message, **kwargs)
        self.headers = {"Retry-After": str(retry_after)}


class TryLater(DomainError):
    """Nothing happened; the same call may succeed later."""

    code = "try_later"
    status = 503


class InDoubt(DomainError):
    """It may have happened. Reconcile first; never retry blindly."""

    code = "in_doubt"
    status = 500

"""Errors by what the caller should do. The text is translated; clients and logs match on `code`."""

from __future__ import annotations

from typing import Any


class DomainError(Exception):
    """A refusal with a stable `code`, a translated sentence and the values it was made from.

    `status` is the HTTP status that the middleware answers with.
    """

    code = "refused"
    status = 400

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


class TryLater(DomainError):
    """Nothing happened; the same call may succeed later."""

    code = "try_later"
    status = 503


class InDoubt(DomainError):
    """It may have happened. Reconcile first; never retry blindly."""

    code = "in_doubt"
    status = 500

"""A request that a program repeats is done once: the answer is kept under the key it was sent with.

The key, what the request does and its answer are stored in one transaction. So whatever dies in between,
either nothing happened or the repeated request finds the answer; of two at once the second waits for the
first. A refusal is not kept: nothing was done, and the next try may succeed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from django.core.exceptions import RequestDataTooBig
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from core.afterwards import Act, held_back
from core.errors import DomainError, Invalid, Refused
from core.tenancy import current_workspace_id
from workspaces.models import KeptAnswer

HEADER: Final = "Idempotency-Key"
REPEATED: Final = "Idempotency-Replayed"
SHAPE: Final = r"^[!-~]{1,200}$"
KEPT_FOR: Final = timedelta(days=3)
FORGOTTEN_AT_ONCE: Final = 500

Run = Callable[[], HttpResponseBase]


def answer_once(request: HttpRequest, run: Run) -> HttpResponseBase:
    """The answer of `run`, or the one that was given under the same key before.

    A request without the header, and one that changes nothing, is simply run. Raises Invalid for a key of
    another shape, Refused `key_reused` when the key was sent with another request.
    """
    key = request.headers.get(HEADER, "")
    if HEADER not in request.headers or request.method not in ("POST", "PUT"):
        return run()
    if not re.fullmatch(SHAPE, key):
        raise Invalid(_("A key is 1 to 200 visible Latin characters."), code="key_invalid")
    try:
        fingerprint = _fingerprint(request)
    except RequestDataTooBig:
        return run()  # which says so
    answer, after = _first_or_kept(key, fingerprint, run)
    try:
        for act in after:
            act()
    except DomainError:
        _row(key).delete()  # it was not done after all
        raise
    return answer


def old(now: datetime) -> QuerySet[KeptAnswer]:
    """Answers that nobody asks for again. Found by an index."""
    return KeptAnswer.unscoped.filter(created_at__lt=now - KEPT_FOR)


def forget_old(now: datetime) -> Mapping[str, int]:
    """A step of each tick."""
    ids = list(old(now).order_by("created_at").values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE])
    return {"answers_forgotten": KeptAnswer.unscoped.filter(pk__in=ids).delete()[0]}


def _first_or_kept(key: str, fingerprint: str, run: Run) -> tuple[HttpResponseBase, list[Act]]:
    with transaction.atomic(durable=True), held_back() as after:
        row, is_first = KeptAnswer.objects.get_or_create(
            workspace_id=current_workspace_id(), key=key, defaults={"fingerprint": fingerprint}
        )
        if not is_first:
            return _kept(row, fingerprint), []
        answer = run()
        if answer.status_code >= 400 or not isinstance(answer, HttpResponse):
            row.delete()
        else:
            row.status, row.headers = answer.status_code, dict(answer.items())
            row.body = answer.content.decode("utf-8")
            row.save(update_fields=["status", "headers", "body", "updated_at"])
    return answer, after


def _kept(row: KeptAnswer, fingerprint: str) -> HttpResponse:
    if row.fingerprint != fingerprint:
        raise Refused(_("This key was sent with another request before."), code="key_reused")
    answer = HttpResponse(row.body, status=row.status, headers=row.headers)
    answer[REPEATED] = "true"
    return answer


def _fingerprint(request: HttpRequest) -> str:
    """What makes two requests the same: who asks, by which token, for what, with which content."""
    token = getattr(getattr(request, "bearer", None), "token", None)
    who = f"{request.user.pk}|{token.pk if token else ''}"
    digest = hashlib.sha256(f"{who}|{request.method}|{request.get_full_path()}|".encode())
    if request.content_type == "multipart/form-data":  # its boundary differs each time
        for name, value in sorted(request.POST.items()):
            digest.update(f"{name}={value}|".encode())
        for name, file in sorted(request.FILES.items()):
            digest.update(f"{name}:{getattr(file, 'name', '')}|".encode())
            for chunk in getattr(file, "chunks", list)():
                digest.update(chunk)
            getattr(file, "seek", int)(0)
    else:
        digest.update(request.body)
    return digest.hexdigest()


def _row(key: str) -> QuerySet[KeptAnswer]:
    return KeptAnswer.objects.filter(key=key)

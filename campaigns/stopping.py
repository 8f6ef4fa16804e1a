"""Stopping everything in a workspace at once, and letting it go on.

Nobody inside any campaign is touched: while `Workspace.sending_stopped_at` is set no campaign is claimed,
and whoever prepares messages asks again under the lock that the stop waits for. So when the stop is
committed, every message that still may arrive has its row, and no other will leave.
"""

from __future__ import annotations

from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from campaigns import audit_events
from campaigns.models import SendingStop
from core import clock
from core.errors import Invalid, Refused
from core.locks import lock_sending
from core.tenancy import current_workspace_id
from core.text import normalize_text
from sms.models import SmsLog, SmsStatus
from workspaces import audit
from workspaces.models import User, Workspace

MAX_REASON: Final = 500


def stop(*, reason: str, user: User | None) -> SendingStop:
    """Let no message of the active workspace leave from now on; the answer names those on their way.

    Raises Invalid without a reason, Refused `stopped_already`.
    """
    why, workspace_id = _reason(reason), current_workspace_id()
    with transaction.atomic():
        lock_sending(workspace_id)
        now = clock.now()
        going = Workspace.objects.filter(pk=workspace_id, sending_stopped_at__isnull=True)
        if not going.update(sending_stopped_at=now, updated_at=now):
            raise Refused(_("Everything is stopped already."), code="stopped_already")
        leaving = SmsLog.objects.filter(status=SmsStatus.SENDING).order_by("pk")
        made = SendingStop.objects.create(
            workspace_id=workspace_id,
            stopped_at=now,
            stopped_by=user,
            reason=why,
            on_the_way=list(leaving.values_list("pk", flat=True)),
        )
        new = {"reason": why, "in_work": len(made.on_the_way)}
        audit.record(audit_events.SENDING_STOPPED, entity=made, new=new, user=user)
    return made


def resume(*, reason: str, user: User | None) -> SendingStop:
    """Let messages leave again: whoever became due meanwhile is next, within hours and limits.

    Raises Invalid without a reason, Refused `not_stopped`.
    """
    why, workspace_id = _reason(reason), current_workspace_id()
    with transaction.atomic():
        now = clock.now()
        stopped = Workspace.objects.filter(pk=workspace_id, sending_stopped_at__isnull=False)
        if not stopped.update(sending_stopped_at=None, updated_at=now):
            raise Refused(_("Nothing is stopped."), code="not_stopped")
        made = SendingStop.objects.select_for_update(no_key=True).get(resumed_at__isnull=True)
        made.resumed_at, made.resumed_by, made.resume_reason = now, user, why
        made.save(update_fields=["resumed_at", "resumed_by", "resume_reason", "updated_at"])
        audit.record(audit_events.SENDING_RESUMED, entity=made, new={"reason": why}, user=user)
    return made


def stops() -> QuerySet[SendingStop]:
    """The stops of the active workspace, newest first."""
    return SendingStop.objects.select_related("stopped_by", "resumed_by").order_by("-pk")


def current() -> SendingStop | None:
    """The stop that holds now."""
    return stops().filter(resumed_at__isnull=True).first()


def became_of(made: SendingStop, *, limit: int) -> list[SmsLog]:
    """The messages that were on their way when everything was stopped, as they are now. One query."""
    ids = made.on_the_way[:limit]
    return list(SmsLog.objects.filter(pk__in=ids).order_by("pk")) if ids else []


def _reason(raw: str) -> str:
    reason = normalize_text(raw)
    if not reason:
        raise Invalid(_("Say why, so that your colleagues know."), code="reason_missing")
    if len(reason) > MAX_REASON:
        raise Invalid(_("The reason is too long."), code="reason_too_long")
    return reason

"""Asking by hand that an unknown outcome be looked up once more."""

from __future__ import annotations

import structlog
from django.db import transaction

from core import clock
from core.errors import NotFound
from core.queue import enqueue
from sms.models import SmsLog, SmsStatus
from workspaces import audit
from workspaces.models import User

log = structlog.get_logger(__name__)
TASK = "sms.reconcile"


def ask_again(pk: int, *, user: User) -> bool:
    """Make the message due for the next round. False: its outcome is known. Raises NotFound."""
    now = clock.now()
    with transaction.atomic():
        row = SmsLog.objects.filter(pk=pk).first()
        if row is None:
            raise NotFound
        due = SmsLog.objects.filter(pk=pk, status=SmsStatus.UNKNOWN).update(lookup_at=now, updated_at=now)
        if not due:
            return False
        audit.record("sms.lookup_asked", entity=row, new={"sms_log": pk}, user=user)
    try:
        enqueue(TASK, {}, group="default")
    except Exception:  # whatever a broker raises: the next tick finds it due
        log.exception("sms_task_not_queued", task=TASK)
    return True

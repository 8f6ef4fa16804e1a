"""Signs that nothing moves: what the banner over the campaign pages says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from automation.models import WorkflowExecution
from automation.states import ExecutionStatus
from campaigns.queries import has_active_campaign
from core.heartbeat import last_beat
from core.tenancy import current_workspace_id
from sms.queries import outages
from sms.reasons import explain

TOO_OLD: Final = timedelta(minutes=5)
SCHEDULER, QUEUE = "scheduler", "queue"
TITLES: Final = {
    SCHEDULER: _("The scheduler is not running"),
    QUEUE: _("The queue is not being worked on"),
}
TEXTS: Final = {
    SCHEDULER: _("No message leaves until it runs again. Tell whoever looks after the server."),
    QUEUE: _("People have been in line for more than five minutes. Tell whoever looks after the server."),
}
CHANNEL_TITLE: Final = _("The SMS channel is closed")
CHANNEL_TEXT: Final = _(
    "Nobody loses their place: one message tries the channel after a pause, and the others follow it."
)


@dataclass(frozen=True, slots=True)
class Banner:
    title: str | Promise
    text: str | Promise


def banners(now: datetime) -> list[Banner]:
    """The warnings in words, and the accounts that stopped taking messages with the reason of each."""
    found = [Banner(TITLES[word], TEXTS[word]) for word in warnings(now)]
    return found + [
        Banner(CHANNEL_TITLE, f"{explain(row.kind, row.paused_reason)} {CHANNEL_TEXT}".strip())
        for row in outages(current_workspace_id())
    ]


def warnings(now: datetime) -> list[str]:
    """`scheduler`: no tick came although a campaign runs. `queue`: claimed people are not worked on."""
    found = []
    if _scheduler_is_late(now) and has_active_campaign():
        found.append(SCHEDULER)
    stuck = WorkflowExecution.objects.filter(
        status=ExecutionStatus.QUEUED, locked_at__isnull=False, locked_at__lt=now - TOO_OLD
    )
    if stuck.exists():
        found.append(QUEUE)
    return found


def _scheduler_is_late(now: datetime) -> bool:
    beat = last_beat("tick")
    return beat is None or now - beat > TOO_OLD

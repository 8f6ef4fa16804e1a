"""Signs that nothing moves: what the banner over the campaign pages says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from automation.models import WorkflowExecution
from automation.states import EndReason, ExecutionStatus
from campaigns.queries import has_active_campaign
from core import installation
from core.heartbeat import last_beat
from core.templatetags.peyk import number
from core.tenancy import current_workspace_id
from sms.queries import outages
from sms.reasons import explain

TOO_OLD: Final = timedelta(minutes=5)
SCHEDULER, QUEUE, COPY, HOST = "scheduler", "queue", "copy", "host"
TITLES: Final = {
    SCHEDULER: _("The scheduler is not running"),
    QUEUE: _("The queue is not being worked on"),
    COPY: _("Nothing is sent from this database"),
    HOST: _("Nothing is sent from this host"),
}
TEXTS: Final = {
    SCHEDULER: _("No message leaves until it runs again. Tell whoever looks after the server."),
    QUEUE: _("People have been in line for more than five minutes. Tell whoever looks after the server."),
    COPY: _("It is a copy, was moved or was restored. Whoever looks after the server must adopt it first."),
    HOST: _("Another host works on the same SQLite file, which is for one. One of the two must be stopped."),
}
CHANNEL_TITLE: Final = _("The SMS channel is closed")
CHANNEL_TEXT: Final = _(
    "Nobody loses their place: one message tries the channel after a pause, and the others follow it."
)


POISONED_TITLE: Final = _("Some people were set aside")
POISONED_SHOWN_FOR: Final = timedelta(days=7)
POISONED_CAMPAIGNS: Final = 5  # so many banners at most


@dataclass(frozen=True, slots=True)
class Banner:
    title: str | Promise
    text: str | Promise
    url: str = ""
    action: str | Promise = ""


def banners(now: datetime) -> list[Banner]:
    """The warnings in words, and the accounts that stopped taking messages with the reason of each."""
    found = [Banner(TITLES[word], TEXTS[word]) for word in warnings(now)]
    return (
        found
        + [
            Banner(CHANNEL_TITLE, f"{explain(row.kind, row.paused_reason)} {CHANNEL_TEXT}".strip())
            for row in outages(current_workspace_id())
        ]
        + poisoned(now)
    )


def poisoned(now: datetime) -> list[Banner]:
    """Where people were given up lately because their step stopped its worker again and again, or raised an
    error each time; a link to them for each campaign. One query."""
    rows = WorkflowExecution.objects.filter(
        workspace_id=current_workspace_id(),
        status=ExecutionStatus.FAILED,
        end_reason=EndReason.POISON,
        completed_at__gte=now - POISONED_SHOWN_FOR,
        campaign__deleted_at__isnull=True,
    )
    found = rows.values_list("campaign_id", "campaign__name").annotate(count=Count("pk"))
    return [
        Banner(
            POISONED_TITLE,
            _poisoned_text(name, count),
            url=f"{reverse('campaigns:people', args=[pk])}?status={ExecutionStatus.FAILED}",
            action=_("Show them"),
        )
        for pk, name, count in found.order_by("-count", "campaign_id")[:POISONED_CAMPAIGNS]
    ]


def _poisoned_text(campaign: str, count: int) -> str:
    return ngettext(
        "The step of %(n)s person in “%(campaign)s” could not be run three times in a row. The others "
        "went on; this one can be started again when the cause is mended.",
        "The steps of %(n)s people in “%(campaign)s” could not be run three times in a row. The others "
        "went on; these can be started again when the cause is mended.",
        count,
    ) % {"n": number(count), "campaign": campaign}


def trouble(now: datetime) -> Banner | None:
    """The first reason why nothing moves, whatever the campaign; None when all is well."""
    return next((Banner(TITLES[word], TEXTS[word]) for word in warnings(now)), None)


def warnings(now: datetime) -> list[str]:
    """`scheduler`: no tick came although a campaign runs. `queue`: claimed people are not worked on."""
    refused = installation.refusal()
    found = [HOST if refused is installation.Refusal.SECOND_HOST else COPY] if refused else []
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

"""Is everything well? One finding for each part that messages depend on, with what to do about it.

The page of members and the JSON for monitoring show the same findings. They are of the active workspace,
but for the parts that all workspaces share: the scheduler, the workers, this host's disk.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.db.models import Count, Min
from django.urls import reverse
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from automation import spool_state
from automation.models import WorkflowExecution
from automation.states import CLAIMED, EndReason, ExecutionStatus
from campaigns.health import POISONED_SHOWN_FOR, TOO_OLD
from core import health, installation
from core.dates import format_number
from core.heartbeat import last_beat
from core.tenancy import current_workspace_id
from core.version import version
from sms.credit import low_accounts
from sms.models import SmsLog, SmsStatus
from sms.queries import usable_accounts
from sms.reasons import explain

LITTLE_ROOM: Final = 2 * 1024**3
NO_ROOM: Final = 256 * 1024**2


class Level(StrEnum):
    """`warn` wants attention today, `bad` now."""

    OK = "ok"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The state of one part. `since` is when it began, `todo` one sentence for whoever mends it."""

    key: str
    title: str
    level: Level
    text: str
    since: datetime | None = None
    todo: str = ""
    url: str = ""


def look(now: datetime) -> list[Finding]:
    """Every finding, in the order of how messages travel. A constant number of queries."""
    return [finding for check in CHECKS for finding in check(now)]


def as_json(found: list[Finding], now: datetime) -> dict[str, Any]:
    """The findings for a monitoring system; `status` is the worst level of all."""
    order = list(Level)
    worst = max((finding.level for finding in found), key=order.index, default=Level.OK)
    return {
        "status": str(worst),
        "version": version(),
        "at": now.isoformat(),
        "findings": [
            {
                "key": finding.key,
                "level": str(finding.level),
                "text": finding.text,
                "since": finding.since.isoformat() if finding.since else None,
                "todo": finding.todo,
            }
            for finding in found
        ],
    }


def _scheduler(now: datetime) -> Iterator[Finding]:
    at = last_beat("tick")
    late = at is None or now - at > TOO_OLD
    yield Finding(
        key="scheduler", title=_("Scheduler"), level=_bad_if(late), since=at if late else None,
        text=_("No sign of life.") if late else _("Gives signs of life."),
        todo=_("Start “manage.py automation_tick --loop” as a service, or run it from cron each minute.")
        if late else "",
    )  # fmt: skip


def _workers(now: datetime) -> Iterator[Finding]:
    at = last_beat("queue")
    late = at is None or (now - at).total_seconds() > health.LATE_AFTER_S["queue"]
    yield Finding(
        key="workers", title=_("Workers"), level=_bad_if(late), since=at if late else None,
        text=_("Nobody answers from the queue.") if late else _("The queue is worked."),
        todo=_("Restart them and read their log. Without workers, run the scheduler with --drain.")
        if late else "",
    )  # fmt: skip


def _queue(now: datetime) -> Iterator[Finding]:
    rows = WorkflowExecution.objects.filter(locked_at__isnull=False, status__in=sorted(CLAIMED))
    found = rows.aggregate(number=Count("pk"), oldest=Min("locked_at"))
    number, oldest = found["number"], found["oldest"]
    late = oldest is not None and now - oldest > TOO_OLD
    yield Finding(
        key="queue", title=_("People in the hands of workers"), level=_bad_if(late),
        text=_people(number), since=oldest if late else None,
        todo=_("They stand still: look at the workers. After the lease they are taken back by themselves.")
        if late else "",
        url=reverse("campaigns:support") if late else "",
    )  # fmt: skip
    lease = timedelta(seconds=settings.LEASE_SECONDS)
    forgotten = oldest is not None and now - oldest > 2 * lease
    yield Finding(
        key="reaper", title=_("Taking back from workers that died"),
        level=_bad_if(forgotten), since=oldest if forgotten else None,
        text=_("Somebody should have been taken back long ago.") if forgotten else _("Nobody is forgotten."),
        todo=_("The scheduler does it at each tick; or run “manage.py automation_reap”.")
        if forgotten else "",
    )  # fmt: skip


def _channel(now: datetime) -> Iterator[Finding]:
    accounts = usable_accounts(current_workspace_id())
    if not accounts:
        yield Finding(
            key="channel", title=_("SMS accounts"), level=Level.WARN, text=_("No account is switched on."),
            todo=_("Add one in the SMS settings."), url=reverse("sms:settings"),
        )  # fmt: skip
    for account in accounts:
        closed = account.paused_until is not None
        why = explain(account.kind, account.paused_reason) if closed else ""
        waits = account.paused_until is not None and account.paused_until > now
        rest = _("Nothing is tried before the pause is over.") if waits else _("One message is trying it.")
        yield Finding(
            key=f"account:{account.pk}", title=_("Account “%(name)s”") % {"name": account.title},
            level=_bad_if(closed), since=account.paused_since,
            text=f"{why} {rest}".strip() if closed else _("Takes messages."),
            todo=_("Mend the cause at the provider, then press “continue” in the SMS settings.")
            if closed else "",
            url=reverse("sms:settings") if closed else "",
        )  # fmt: skip


def _credit(_now: datetime) -> Iterator[Finding]:
    low = low_accounts(current_workspace_id())
    names = ", ".join(one.account.title for one in low)
    yield Finding(
        key="credit", title=_("Credit"), level=Level.WARN if low else Level.OK,
        text=_("Low: %(names)s") % {"names": names} if low else _("No account is low."),
        since=min((one.account.credit_at for one in low if one.account.credit_at), default=None),
        todo=_("Charge the account at the provider.") if low else "",
        url=reverse("sms:settings") if low else "",
    )  # fmt: skip


def _unknown(_now: datetime) -> Iterator[Finding]:
    rows = SmsLog.objects.filter(status=SmsStatus.UNKNOWN)
    number = rows.count()
    oldest = rows.order_by("pk").values_list("created_at", flat=True).first() if number else None
    yield Finding(
        key="unknown", title=_("Unknown outcomes"), level=Level.WARN if number else Level.OK, since=oldest,
        text=ngettext("%(n)s message", "%(n)s messages", number) % {"n": _number(number)},
        todo=_("They are looked up by themselves and never sent again without proof.") if number else "",
        url=reverse("sms:unknown") if number else "",
    )  # fmt: skip


def _poisoned(now: datetime) -> Iterator[Finding]:
    rows = WorkflowExecution.objects.filter(
        status=ExecutionStatus.FAILED, end_reason=EndReason.POISON, completed_at__gte=now - POISONED_SHOWN_FOR
    )
    found = rows.aggregate(number=Count("pk"), oldest=Min("completed_at"))
    yield Finding(
        key="poisoned", title=_("People set aside in the last week"),
        level=Level.WARN if found["number"] else Level.OK, since=found["oldest"],
        text=_people(found["number"]),
        todo=_("Their step failed three times in a row. Mend the cause, then try the step again.")
        if found["number"] else "",
        url=reverse("campaigns:support") if found["number"] else "",
    )  # fmt: skip


def _spool(_now: datetime) -> Iterator[Finding]:
    state = spool_state.look()
    level = Level.BAD if state.unreadable else Level.WARN if state.size else Level.OK
    text = _("Nothing waits on this host's disk.")
    if state.size:
        text = _("Answers of the provider wait on this host's disk (%(n)s bytes).") % {
            "n": _number(state.size)
        }
    todo = _("They are stored at the next tick on this host, as soon as the database takes them.")
    if state.unreadable:
        text = _("Some kept answers cannot be opened with the keys of this installation.")
        todo = _("Give the old key back (PEYK_DATA_KEYS); the lines lie in spool/unreadable.")
    yield Finding(
        key="spool", title=_("Kept answers"), level=level, since=state.since, text=text,
        todo=todo if level is not Level.OK else "",
    )  # fmt: skip


def _copy(_now: datetime) -> Iterator[Finding]:
    refused = installation.refusal()
    text, todo = _("It is this installation's own."), ""
    if refused is installation.Refusal.SECOND_HOST:
        text = _("Another host works on the same SQLite file: nothing is sent from this one.")
        todo = _("Stop the ticks and workers of one of the two, or use PostgreSQL.")
    elif refused:
        text = _("It is a copy, was moved or was restored: nothing is sent from it.")
        todo = _("Look at it, then run “manage.py adopt_database --yes”.")
    level = _bad_if(refused != installation.Refusal.NONE)
    yield Finding(key="database", title=_("Database"), level=level, text=text, todo=todo)


def _disk(_now: datetime) -> Iterator[Finding]:
    folder = Path(settings.VAR_DIR)
    writable = os.access(folder, os.W_OK)
    free = shutil.disk_usage(folder).free if folder.exists() else 0
    level = Level.BAD if not writable or free < NO_ROOM else Level.WARN if free < LITTLE_ROOM else Level.OK
    text = _("%(n)s MB are free.") % {"n": _number(free // 1024**2)}
    yield Finding(
        key="disk", title=_("Data folder"), level=level,
        text=text if writable else _("The folder cannot be written to."),
        todo="" if level is Level.OK else _("Give the server's user the folder, or make room on its disk."),
    )  # fmt: skip


def _release(_now: datetime) -> Iterator[Finding]:
    yield Finding(key="version", title=_("Version"), level=Level.OK, text=version() or "—")


def _bad_if(wrong: bool) -> Level:  # reads as a sentence
    return Level.BAD if wrong else Level.OK


def _people(value: int) -> str:
    return ngettext("%(n)s person", "%(n)s people", value) % {"n": _number(value)}


def _number(value: int) -> str:
    return format_number(value, get_language() or "fa")


CHECKS: Final[tuple[Callable[[datetime], Iterator[Finding]], ...]] = (
    _scheduler, _workers, _queue, _channel, _credit, _unknown, _poisoned, _spool, _copy, _disk, _release,
)  # fmt: skip

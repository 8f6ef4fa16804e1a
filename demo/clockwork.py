"""Time for the story: the shared clock is moved to the next minute at which something is due.

Between two moves everything is the product's own: the tick claims, the queue carries, the worker
process sends over HTTP, delivery reports are polled. Only the waiting in between is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from automation.models import WorkflowExecution
from automation.runtime.tick import TickReport, run_tick
from automation.states import CLAIMABLE, CLAIMED, LIVE
from campaigns.models import Campaign, CampaignStatus
from core import clock
from core.queue import queue
from demo.stage import StageError
from script import processes
from sms.models import SmsLog, SmsStatus
from sms.settlement import FOR_GOOD

MINUTE = timedelta(minutes=1)  # cron's step: a tick comes once a minute
WORKER_SECONDS = 120.0  # real time after which a worker that says nothing is given up


class Stuck(StageError):
    """The story does not move any more."""


@dataclass(frozen=True, slots=True)
class Round:
    """One minute in which something was due."""

    at: datetime
    tick: TickReport
    polled: int


class Clockwork:
    """Moves the file that all processes of the story read the time from."""

    def __init__(self, file: Path, zone: ZoneInfo, poll: Callable[[], int]) -> None:
        self._clock = clock.FileClock(file)
        self._zone = zone
        self._poll = poll
        self._claimed = 0

    def set(self, at: datetime) -> None:
        """Let it be `at` for every process."""
        self._clock.set(at)

    @property
    def now(self) -> datetime:
        """What the time is in the story."""
        return self._clock.now()

    def round(self) -> Round:
        """One tick, everything it handed out worked by the worker, delivery reports fetched."""
        at = self.now
        tick = run_tick()
        if tick.busy:
            raise Stuck("Another scheduler is running on the demo's database.")
        self._claimed = tick.claimed
        if tick.dispatched:
            self._wait_for_the_worker()
        return Round(at, tick, self._poll())

    def advance(self) -> bool:
        """Go to the next minute at which something is due; False when nothing ever will be."""
        due = self._next_due()
        if due is None:
            return False
        self.set(_whole_minute(due))
        return True

    def _next_due(self) -> datetime | None:
        now = self.now
        found = (_next_step(now), _next_poll(), _next_lookup(now), _next_start(now))
        moments = [moment for moment in found if moment]
        if _still_due(now):
            # A limit that is used up is renewed at midnight; until then a refused message may give its
            # unit back, so whoever was claimed this minute may leave room for others in the next.
            moments.append(now + MINUTE if self._claimed else self._midnight_after(now))
        return max(min(moments), now + MINUTE) if moments else None

    def _midnight_after(self, now: datetime) -> datetime:
        day = now.astimezone(self._zone).date() + timedelta(days=1)
        return datetime(day.year, day.month, day.day, tzinfo=self._zone)

    def _wait_for_the_worker(self) -> None:
        if not processes.wait_until(_nothing_in_work, seconds=WORKER_SECONDS):
            raise Stuck("The worker did not finish its messages in time; see its log.")


def _whole_minute(at: datetime) -> datetime:
    whole = at.replace(second=0, microsecond=0)
    return whole if whole == at else whole + MINUTE


def _nothing_in_work() -> bool:
    claimed = WorkflowExecution.unscoped.filter(locked_at__isnull=False, status__in=sorted(CLAIMED))
    return not claimed.exists() and queue().depth() == 0


def _next_lookup(now: datetime) -> datetime | None:
    """When a message whose outcome is unknown is looked up at the provider."""
    unknown = SmsLog.unscoped.filter(status=SmsStatus.UNKNOWN, lookup_at__lt=FOR_GOOD)
    soon = SmsLog.unscoped.filter(status=SmsStatus.UNKNOWN, lookup_at__isnull=True).exists()
    planned = unknown.order_by("lookup_at").values_list("lookup_at", flat=True).first()
    return now + MINUTE if soon else planned


def _next_step(now: datetime) -> datetime | None:
    rows = WorkflowExecution.unscoped.filter(status__in=sorted(CLAIMABLE), next_run_at__gt=now)
    return rows.order_by("next_run_at").values_list("next_run_at", flat=True).first()


def _next_poll() -> datetime | None:
    # One that is due and was not asked about yet counts too: a poll takes only so many at a time.
    rows = SmsLog.unscoped.filter(poll_at__isnull=False)
    return rows.order_by("poll_at").values_list("poll_at", flat=True).first()


def _next_start(now: datetime) -> datetime | None:
    rows = Campaign.unscoped.filter(status=CampaignStatus.SCHEDULED, starts_at__gt=now)
    return rows.order_by("starts_at").values_list("starts_at", flat=True).first()


def _still_due(now: datetime) -> bool:
    return WorkflowExecution.unscoped.filter(status__in=sorted(CLAIMABLE), next_run_at__lte=now).exists()


def live_people(campaign_id: int) -> int:
    """How many walks of the campaign are not over."""
    return WorkflowExecution.unscoped.filter(campaign_id=campaign_id, status__in=sorted(LIVE)).count()

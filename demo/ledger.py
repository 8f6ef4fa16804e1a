"""What happened on each day of the story, counted from the product's own rows and the ticks' reports."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Q

from automation.models import WorkflowExecution, WorkflowExecutionEvent
from automation.states import ENDED, HALTED, ExecutionEventType
from demo.clockwork import Round
from demo.show import Day
from sms.models import SmsLog, SmsStatus
from sms.usage.ledger import ACCEPTED

NOT_BROUGHT = (SmsStatus.UNDELIVERED, SmsStatus.FAILED, SmsStatus.REJECTED)


class Ledger:
    """Collects the rounds of a day and closes the day when the calendar moves on."""

    def __init__(self, campaign_id: int, zone: ZoneInfo) -> None:
        self.days: list[Day] = []
        self._campaign_id = campaign_id
        self._zone = zone
        self._rounds: list[Round] = []

    def add(self, done: Round) -> Day | None:
        """Note a round; the day before, once the first round of a later day comes and it was not quiet."""
        closed = None
        if self._rounds and self._day_of(self._rounds[-1].at) != self._day_of(done.at):
            closed = self.close()
        self._rounds.append(done)
        return closed

    def close(self) -> Day | None:
        """Close the day at hand; None when nothing happened on it."""
        if not self._rounds:
            return None
        rounds, self._rounds = self._rounds, []
        day = self._count(self._day_of(rounds[0].at), rounds)
        if day.quiet:
            return None
        self.days.append(day)
        return day

    def _day_of(self, at: datetime) -> date:
        return at.astimezone(self._zone).date()

    def _count(self, day: date, rounds: Iterable[Round]) -> Day:
        start = datetime(day.year, day.month, day.day, tzinfo=self._zone)
        until = start + timedelta(days=1)
        ticks = [one.tick for one in rounds]
        events = WorkflowExecutionEvent.objects.filter(
            campaign_id=self._campaign_id, occurred_at__gte=start, occurred_at__lt=until
        )
        taken = SmsLog.objects.filter(ACCEPTED, campaign_id=self._campaign_id)
        settled = taken.filter(updated_at__gte=start, updated_at__lt=until)
        over = WorkflowExecution.objects.filter(
            campaign_id=self._campaign_id, last_run_at__gte=start, last_run_at__lt=until
        )
        return Day(
            day=day,
            claimed=sum(tick.claimed + tick.claimed_light for tick in ticks),
            sent=taken.filter(response_at__gte=start, response_at__lt=until).count(),
            retried=events.filter(type=ExecutionEventType.RETRY_SCHEDULED).count(),
            # The scheduler puts off those it does not even claim, workers those it claimed.
            deferred_window=sum(tick.deferred_window for tick in ticks)
            + events.filter(type=ExecutionEventType.DEFERRED_WINDOW).count(),
            deferred_cap=max((tick.deferred_limit for tick in ticks), default=0)
            + events.filter(type=ExecutionEventType.DEFERRED_LIMIT).count(),
            delivered=settled.filter(status=SmsStatus.DELIVERED).count(),
            undelivered=settled.filter(status__in=NOT_BROUGHT).count(),
            ended=over.filter(Q(status__in=sorted(ENDED | HALTED))).count(),
        )

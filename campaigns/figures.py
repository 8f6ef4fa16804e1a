"""What takes long to count of a campaign: its sends by hour, its steps' arrivals, its failures, its arms.

`count` reads every message and much of the history. A large campaign is counted in the background
(`campaigns.kept_figures`); the numbers that the cards show are always counted at the moment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.db.models import Count, QuerySet
from django.db.models.functions import Left, TruncHour

from automation.conversions import conversions_by_arm
from automation.models import WorkflowExecution, WorkflowExecutionEvent
from automation.states import ExecutionEventType, ExecutionStatus
from campaigns.models import Campaign
from sms.models import ACCEPTED_STATUSES, SmsLog, SmsStatus
from sms.operators import operator_of
from targets.queries import Visibility

DAYS: Final = 14  # how far back the chart of days reaches, today included
FAILED_MESSAGES: Final = frozenset({SmsStatus.FAILED, SmsStatus.REJECTED})
TRIED: Final = frozenset({*ACCEPTED_STATUSES, *FAILED_MESSAGES, SmsStatus.UNKNOWN})
MOST_REASONS: Final = 20
PREFIX: Final = 4
HELD: Final = frozenset({ExecutionStatus.PAUSED, ExecutionStatus.BLACKLISTED})


@dataclass(frozen=True, slots=True)
class Arm:
    """The people of one branch of a split, or of the group that is held out. `name` is a port's."""

    name: str
    holdout: bool
    people: int
    inside: int
    held: int
    failed: int
    finished: int
    reached: int  # the goal, also by those who had passed it or left (`automation.conversions`)


@dataclass(slots=True, kw_only=True)
class Figures:
    """Plain values, as JSON keeps them.

    hours: hour of the workspace's clock -> (taken by the provider, not taken). operators: operator ->
    status -> messages. entered, suppressed: node -> arrivals, passed by without effect. ends: (status,
    reason, people). codes: (provider, error code, messages).
    """

    hours: dict[str, list[int]] = field(default_factory=dict)
    operators: dict[str, dict[str, int]] = field(default_factory=dict)
    entered: dict[int, int] = field(default_factory=dict)
    suppressed: dict[int, int] = field(default_factory=dict)
    ends: list[tuple[str, str, int]] = field(default_factory=list)
    codes: list[tuple[str, str, int]] = field(default_factory=list)
    arms: list[Arm] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {
            "hours": self.hours,
            "operators": self.operators,
            "entered": list(self.entered.items()),
            "suppressed": list(self.suppressed.items()),
            "ends": self.ends,
            "codes": self.codes,
            "arms": [[getattr(arm, name) for name in Arm.__slots__] for arm in self.arms],
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Figures:
        """Raises KeyError or TypeError for what another release wrote."""
        return cls(
            hours=dict(raw["hours"]),
            operators=dict(raw["operators"]),
            entered=dict(raw["entered"]),
            suppressed=dict(raw["suppressed"]),
            ends=[(status, reason, count) for status, reason, count in raw["ends"]],
            codes=[(provider, code, count) for provider, code, count in raw["codes"]],
            arms=[Arm(*values) for values in raw["arms"]],
        )


def count(campaign: Campaign, visibility: Visibility, zone: str, now: datetime) -> Figures:
    """Everything at one go, for the people that `visibility` shows. Six queries; two more
    where a split shared them out."""
    messages = seen_messages(campaign, visibility)
    events = WorkflowExecutionEvent.objects.filter(campaign_id=campaign.pk)
    walks = WorkflowExecution.objects.filter(campaign_id=campaign.pk)
    if visibility.limited:
        people = visibility.people().values("pk")
        events, walks = events.filter(subject_id__in=people), walks.filter(subject_id__in=people)
    arrivals = _arrivals(events)
    return Figures(
        hours=_hours(messages, zone, now),
        operators=_operators(messages),
        entered=arrivals[ExecutionEventType.NODE_ENTERED],
        suppressed=arrivals[ExecutionEventType.SUPPRESSED],
        ends=_ends(walks),
        codes=_codes(messages),
        arms=_arms(walks),
    )


def seen_messages(campaign: Campaign, visibility: Visibility) -> QuerySet[SmsLog]:
    """The campaign's messages to the people this member may see."""
    rows = SmsLog.objects.filter(campaign_id=campaign.pk)
    return rows if not visibility.limited else rows.filter(subject_id__in=visibility.people().values("pk"))


def first_day(zone: str, now: datetime) -> date:
    """The first day of the chart of days."""
    return now.astimezone(ZoneInfo(zone)).date() - timedelta(days=DAYS - 1)


def _hours(messages: QuerySet[SmsLog], zone: str, now: datetime) -> dict[str, list[int]]:
    day = first_day(zone, now)
    begin = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone))
    rows = messages.filter(request_at__gte=begin, status__in=sorted(TRIED))
    hour = TruncHour("request_at", tzinfo=ZoneInfo(zone))
    found: dict[str, list[int]] = {}
    for at, status, number in (
        rows.annotate(hour=hour).values_list("hour", "status").annotate(number=Count("*")).order_by()
    ):
        sums = found.setdefault(f"{at:%Y-%m-%dT%H}", [0, 0])
        sums[0 if status in ACCEPTED_STATUSES else 1] += number
    return found


def _operators(messages: QuerySet[SmsLog]) -> dict[str, dict[str, int]]:
    rows = messages.filter(status__in=sorted(TRIED)).annotate(prefix=Left("phone_number", PREFIX))
    found: dict[str, dict[str, int]] = {}
    for prefix, status, number in rows.values_list("prefix", "status").annotate(number=Count("*")).order_by():
        sums = found.setdefault(str(operator_of(prefix)), {})
        sums[status] = sums.get(status, 0) + number
    return found


def _arrivals(events: QuerySet[WorkflowExecutionEvent]) -> dict[str, dict[int, int]]:
    kinds = (ExecutionEventType.NODE_ENTERED, ExecutionEventType.SUPPRESSED)
    found: dict[str, dict[int, int]] = {kind: {} for kind in kinds}
    rows = events.filter(type__in=kinds, node_id__isnull=False)
    for kind, node_id, number in rows.values_list("type", "node_id").annotate(number=Count("*")).order_by():
        found[kind][node_id or 0] = number
    return found


def _ends(walks: QuerySet[WorkflowExecution]) -> list[tuple[str, str, int]]:
    """Why people stopped before the end, the most frequent first."""
    stopped = (ExecutionStatus.FAILED, ExecutionStatus.CANCELLED, ExecutionStatus.EXITED)
    rows = walks.filter(status__in=stopped).values_list("status", "end_reason").annotate(number=Count("*"))
    return list(rows.order_by("-number", "status", "end_reason")[:MOST_REASONS])


def _codes(messages: QuerySet[SmsLog]) -> list[tuple[str, str, int]]:
    """Why messages did not arrive, the most frequent first."""
    lost = sorted({*FAILED_MESSAGES, SmsStatus.UNDELIVERED})
    rows = messages.filter(status__in=lost).values_list("provider", "error_code").annotate(number=Count("*"))
    return list(rows.order_by("-number", "provider", "error_code")[:MOST_REASONS])


def _arms(walks: QuerySet[WorkflowExecution]) -> list[Arm]:
    """The branches people were sent down, in the order of their names; none without a split."""
    groups = walks.values_list("variant", "is_holdout", "status").annotate(number=Count("*"))
    found: dict[tuple[bool, str], Counter[str]] = {}
    for variant, holdout, status, number in groups.order_by():
        if variant or holdout:
            found.setdefault((holdout, variant), Counter())[status] += number
    reached = conversions_by_arm(walks) if found else {}
    return [_arm(*key, statuses, reached.get(key, 0)) for key, statuses in sorted(found.items())]


def _arm(holdout: bool, name: str, statuses: Counter[str], reached: int) -> Arm:
    held = sum(statuses[status] for status in HELD)
    ended = sum(
        statuses[s] for s in (ExecutionStatus.COMPLETED, ExecutionStatus.EXITED, ExecutionStatus.CANCELLED)
    )
    failed = statuses[ExecutionStatus.FAILED]
    people = statuses.total()
    return Arm(
        name=name, holdout=holdout, people=people, inside=people - held - ended - failed, held=held,
        failed=failed, finished=ended, reached=reached,
    )  # fmt: skip

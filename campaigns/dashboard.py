"""The numbers of one campaign: a constant number of queries, whatever its size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Count, Q, QuerySet

from automation.models import WorkflowExecution
from automation.panels import step_name
from automation.runtime.policy import RunPolicy
from automation.states import CLAIMABLE, CLAIMED, LIVE, ExecutionStatus
from campaigns import health
from campaigns.figures import FAILED_MESSAGES, seen_messages
from campaigns.funnel import ArmRow, StepRow, arms_of, steps_of
from campaigns.kept_figures import figures_for
from campaigns.models import Campaign, CampaignStatus
from campaigns.outcomes import Loss, OperatorRow, messages_lost, operators, people_lost
from campaigns.send_charts import Charts, charts_of
from campaigns.today import Crowd, State, Today, hours_of, state_of, today_of
from engine.types import NO_TIMEOUT
from sms.models import ACCEPTED_STATUSES, SmsStatus
from sms.queries import closed_until
from targets.models import Target
from targets.queries import Visibility, subjects_for
from workspaces.models import Membership

S = ExecutionStatus
NEXT_SENDS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """How many stand where. `total` is the sum of all the others."""

    by_status: Counter[str]

    @classmethod
    def nobody(cls) -> People:
        return cls(by_status=Counter())

    @property
    def total(self) -> int:
        return sum(self.by_status.values())

    @property
    def active(self) -> int:
        """Ready, in line or in work at this moment."""
        return self.by_status[S.ACTIVE] + sum(self.by_status[status] for status in CLAIMED)

    @property
    def live(self) -> int:
        return sum(self.by_status[status] for status in LIVE)

    @property
    def ended(self) -> int:
        """Everybody who needs nothing more of this campaign."""
        return self.total - self.live


@dataclass(frozen=True, slots=True, kw_only=True)
class Messages:
    """Attempts to send. `retried` are those that were not the first of their step."""

    by_status: Counter[str]
    retried: int

    @property
    def sent(self) -> int:
        return sum(self.by_status[status] for status in ACCEPTED_STATUSES)

    @property
    def failed(self) -> int:
        return sum(self.by_status[status] for status in FAILED_MESSAGES)

    @property
    def unknown(self) -> int:
        return self.by_status[SmsStatus.UNKNOWN]

    def rows(self) -> list[tuple[str, str, int]]:
        """Status, its label and the count, in the order of a message's life; empty ones are left out."""
        return [
            (value, str(label), self.by_status[value])
            for value, label in SmsStatus.choices
            if self.by_status[value]
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class NextSend:
    """Somebody whose turn comes. `at` is None for who is in line now: a past time tells nothing."""

    execution_id: int
    subject_id: int
    target: Target | None
    step: str
    at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """What the page shows. The charts and all that comes from the history was counted at `counted_at` (None:
    at this moment); while `counting`, it was never counted and is empty."""

    people: People
    messages: Messages
    today: Today
    hours: str
    state: State
    next_sends: list[NextSend]
    steps: list[StepRow]
    arms: list[ArmRow]
    charts: Charts | None
    people_lost: list[Loss]
    messages_lost: list[Loss]
    operators: list[OperatorRow]
    counting: bool
    counted_at: datetime | None


def dashboard(campaign: Campaign, policy: RunPolicy, membership: Membership, now: datetime) -> Dashboard:
    """What the campaign's page shows, for the people this member may see. A constant number of queries."""
    visibility = Visibility(membership)
    executions = seen_executions(campaign, visibility)
    grouped = list(executions.values_list("current_node_id", "status").annotate(number=Count("*")).order_by())
    people, next_sends = _people(grouped), _next_sends(campaign, executions, now)
    kept = figures_for(campaign, membership, people=people.total, zone=policy.timezone, now=now)
    figures, today, hours = kept.figures, today_of(policy, now), hours_of(policy, now)
    crowd = Crowd(
        total=people.total, live=people.live, due=_due(people, next_sends), next_at=_next(next_sends)
    )
    closed = closed_until(campaign.workspace_id, now) if campaign.status == CampaignStatus.ACTIVE else None
    return Dashboard(
        people=people,
        messages=_messages(campaign, visibility),
        today=today,
        hours=hours.sentence(now),
        state=state_of(
            campaign, policy, crowd=crowd, today=today, hours=hours, closed=closed,
            trouble=health.trouble(now), now=now
        ),
        next_sends=next_sends,
        steps=steps_of(campaign, grouped, figures, people.total),
        arms=arms_of(figures.arms) if figures else [],
        charts=charts_of(figures.hours, policy.timezone, now) if figures else None,
        people_lost=people_lost(campaign, figures) if figures else [],
        messages_lost=messages_lost(campaign, figures) if figures else [],
        operators=operators(figures) if figures else [],
        counting=figures is None,
        counted_at=kept.counted_at,
    )  # fmt: skip


def seen_executions(campaign: Campaign, visibility: Visibility) -> QuerySet[WorkflowExecution]:
    """The campaign's walks of the people this member may see."""
    rows = WorkflowExecution.objects.filter(campaign_id=campaign.pk)
    return rows if not visibility.limited else rows.filter(subject_id__in=visibility.people().values("pk"))


def people_counts(campaign: Campaign, visibility: Visibility) -> People:
    """How many stand where. One query over the index of statuses."""
    rows = seen_executions(campaign, visibility).values_list("status").annotate(number=Count("*")).order_by()
    return People(by_status=Counter(dict(rows)))


def progress_of(campaign_ids: Iterable[int], visibility: Visibility) -> dict[int, People]:
    """The people of several campaigns by campaign. One query."""
    rows = WorkflowExecution.objects.filter(campaign_id__in=list(campaign_ids))
    if visibility.limited:
        rows = rows.filter(subject_id__in=visibility.people().values("pk"))
    found: dict[int, Counter[str]] = {}
    for campaign_id, status, count in (
        rows.values_list("campaign_id", "status").annotate(number=Count("*")).order_by()
    ):
        found.setdefault(campaign_id, Counter())[status] = count
    return {pk: People(by_status=counts) for pk, counts in found.items()}


def _people(grouped: list[tuple[int, str, int]]) -> People:
    counts: Counter[str] = Counter()
    for _node_id, status, count in grouped:
        counts[status] += count
    return People(by_status=counts)


def _messages(campaign: Campaign, visibility: Visibility) -> Messages:
    rows = seen_messages(campaign, visibility)
    again = Count("status", filter=Q(attempt_number__gt=1))
    found = list(rows.values_list("status").annotate(number=Count("*"), again=again).order_by())
    return Messages(
        by_status=Counter({status: count for status, count, _retried in found}),
        retried=sum(retried for _status, _count, retried in found),
    )


def _due(people: People, next_sends: list[NextSend]) -> int:
    """People whose turn it is: those at work, and the ready ones as soon as one of them is due."""
    claimed = sum(people.by_status[status] for status in CLAIMED)
    return people.active or claimed + 1 if any(one.at is None for one in next_sends) else claimed


def _next(next_sends: list[NextSend]) -> datetime | None:
    return next((one.at for one in next_sends if one.at is not None), None)


def _next_sends(campaign: Campaign, executions: QuerySet[WorkflowExecution], now: datetime) -> list[NextSend]:
    """The next to be claimed, in that order. Two index walks, since the index begins with the budget."""
    due = executions.filter(status__in=sorted(CLAIMABLE), next_run_at__lt=NO_TIMEOUT)
    due = due.select_related("current_node")
    due = due.order_by("next_run_at", "eligible_at", "pk")
    halves = [list(due.filter(consumes_budget=flag)[:NEXT_SENDS]) for flag in (True, False)]
    rows = sorted([*halves[0], *halves[1]], key=_claim_order)[:NEXT_SENDS]
    people = subjects_for(campaign.workspace_id, [row.subject_id for row in rows])
    return [_next_send(row, people.get(row.subject_id), now) for row in rows]


def _claim_order(row: WorkflowExecution) -> tuple[Any, Any, int]:
    return row.next_run_at, row.eligible_at, row.pk


def _next_send(row: WorkflowExecution, target: Target | None, now: datetime) -> NextSend:
    ahead = row.next_run_at is not None and row.next_run_at > now
    return NextSend(
        execution_id=row.pk,
        subject_id=row.subject_id,
        target=target,
        step=step_name(row.current_node),
        at=row.next_run_at if ahead else None,
    )

"""The numbers of one campaign: a constant number of queries, whatever its size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Count, Q, QuerySet

from automation.counters import scopes_of, used_today
from automation.models import CounterScope, NodeKind, WorkflowExecution, WorkflowNode
from automation.panels import step_name
from automation.runtime.policy import RunPolicy
from automation.states import CLAIMABLE, CLAIMED, LIVE, ExecutionStatus
from campaigns.models import Campaign
from engine.types import NO_TIMEOUT
from sms.models import ACCEPTED_STATUSES, SmsLog, SmsStatus
from targets.models import Target
from targets.queries import Visibility, subjects_for

S = ExecutionStatus
NEXT_SENDS: Final = 10
FAILED_MESSAGES = frozenset({SmsStatus.FAILED, SmsStatus.REJECTED})


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
class Today:
    """What may still be sent on the workspace's calendar day. None is no limit.

    The same counters that the send path reserves from, so the page and what happens never differ.
    """

    used: int
    limit: int | None
    workspace_limit: int | None
    workspace_used: int
    remaining: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NextSend:
    """Somebody whose turn comes. `at` is None for who is in line now: a past time tells nothing."""

    execution_id: int
    subject_id: int
    target: Target | None
    step: str
    at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """How many people stand at one step, by what they do there."""

    node_id: int
    name: str
    kind: str
    waiting: int
    active: int
    held: int
    ended: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    people: People
    messages: Messages
    today: Today
    next_sends: list[NextSend]
    steps: list[StepRow]


def dashboard(campaign: Campaign, policy: RunPolicy, visibility: Visibility, now: datetime) -> Dashboard:
    """Everything the campaign's page shows, for the people this member may see. Seven queries."""
    executions = seen_executions(campaign, visibility)
    grouped = list(executions.values_list("current_node_id", "status").annotate(Count("pk")).order_by())
    return Dashboard(
        people=_people(grouped),
        messages=_messages(campaign, visibility),
        today=_today(policy, now),
        next_sends=_next_sends(campaign, executions, now),
        steps=_steps(campaign, grouped),
    )


def seen_executions(campaign: Campaign, visibility: Visibility) -> QuerySet[WorkflowExecution]:
    """The campaign's walks of the people this member may see."""
    rows = WorkflowExecution.objects.filter(campaign_id=campaign.pk)
    return rows if not visibility.limited else rows.filter(subject_id__in=visibility.people().values("pk"))


def people_counts(campaign: Campaign, visibility: Visibility) -> People:
    """How many stand where. One query over the index of statuses."""
    rows = seen_executions(campaign, visibility).values_list("status").annotate(Count("pk")).order_by()
    return People(by_status=Counter(dict(rows)))


def progress_of(campaign_ids: Iterable[int], visibility: Visibility) -> dict[int, People]:
    """The people of several campaigns by campaign. One query."""
    rows = WorkflowExecution.objects.filter(campaign_id__in=list(campaign_ids))
    if visibility.limited:
        rows = rows.filter(subject_id__in=visibility.people().values("pk"))
    found: dict[int, Counter[str]] = {}
    for campaign_id, status, count in (
        rows.values_list("campaign_id", "status").annotate(Count("pk")).order_by()
    ):
        found.setdefault(campaign_id, Counter())[status] = count
    return {pk: People(by_status=counts) for pk, counts in found.items()}


def _people(grouped: list[tuple[int, str, int]]) -> People:
    counts: Counter[str] = Counter()
    for _node_id, status, count in grouped:
        counts[status] += count
    return People(by_status=counts)


def _messages(campaign: Campaign, visibility: Visibility) -> Messages:
    rows = SmsLog.objects.filter(campaign_id=campaign.pk)
    if visibility.limited:
        rows = rows.filter(subject_id__in=visibility.people().values("pk"))
    again = Count("pk", filter=Q(attempt_number__gt=1))
    found = list(rows.values_list("status").annotate(all=Count("pk"), again=again).order_by())
    return Messages(
        by_status=Counter({status: count for status, count, _retried in found}),
        retried=sum(retried for _status, _count, retried in found),
    )


def _today(policy: RunPolicy, now: datetime) -> Today:
    used = used_today([policy], policy.day(now))
    rooms = [max(0, limit - used[scope]) for scope, limit in scopes_of(policy) if limit is not None]
    return Today(
        used=used[(CounterScope.CAMPAIGN, policy.campaign_id)],
        limit=policy.campaign_limit,
        workspace_limit=policy.workspace_limit,
        workspace_used=used[(CounterScope.WORKSPACE, policy.workspace_id)],
        remaining=min(rooms, default=None),
    )


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


def _steps(campaign: Campaign, grouped: list[tuple[int, str, int]]) -> list[StepRow]:
    """Every step of the version in stored order, the start left out."""
    nodes = WorkflowNode.objects.filter(version_id=campaign.workflow_version_id).exclude(type=NodeKind.START)
    counts: dict[int, Counter[str]] = {}
    for node_id, status, count in grouped:
        counts.setdefault(node_id, Counter())[status] += count
    return [_step(node, People(by_status=counts.get(node.pk, Counter()))) for node in nodes.order_by("pk")]


def _step(node: WorkflowNode, people: People) -> StepRow:
    held = people.by_status[S.PAUSED] + people.by_status[S.BLACKLISTED]
    waiting = people.by_status[S.WAITING] + people.by_status[S.PENDING]
    return StepRow(
        node_id=node.pk,
        name=step_name(node),
        kind=node.type,
        waiting=waiting,
        active=people.active,
        held=held,
        ended=people.total - waiting - people.active - held,
    )

"""Daily limits: reserve k of n before sending, give back what the provider did not take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import F, Q

from automation.models import CounterScope, DailyCounter, WorkflowExecution
from automation.runtime.policy import RunPolicy
from automation.states import CLAIMED

Scope = tuple[str, int]


@dataclass(frozen=True, slots=True)
class RunPolicyKey:
    """The three counters a unit was taken from."""

    campaign_id: int
    workflow_id: int
    workspace_id: int

    @classmethod
    def of(cls, policy: RunPolicy) -> RunPolicyKey:
        return cls(policy.campaign_id, policy.workflow_id, policy.workspace_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What is left of today's limits for one campaign; None is no limit."""

    limit: int | None
    used: int
    in_flight: int
    left: int | None


def scopes_of(policy: RunPolicy) -> list[tuple[Scope, int | None]]:
    """The counters one accepted message of this campaign uses, narrowest first, with their limits."""
    return [
        ((CounterScope.CAMPAIGN, policy.campaign_id), policy.campaign_limit),
        ((CounterScope.WORKFLOW, policy.workflow_id), policy.workflow_limit),
        ((CounterScope.WORKSPACE, policy.workspace_id), policy.workspace_limit),
    ]


def used_today(policies: Iterable[RunPolicy], day: date) -> dict[Scope, int]:
    """The day's counters of these campaigns; absent scopes are 0. One query."""
    wanted = {scope for policy in policies for scope, _ in scopes_of(policy)}
    rows = DailyCounter.objects.filter(day=day, channel="sms", scope_id__in={pk for _, pk in wanted})
    found = {(kind, pk): used for kind, pk, used in rows.values_list("scope_type", "scope_id", "used")}
    return {scope: found.get(scope, 0) for scope in wanted}


def budget_of(policy: RunPolicy, now: datetime) -> Budget:
    """What the scheduler may still claim for this campaign: every limit less used, less on its way."""
    used = used_today([policy], policy.day(now))
    limits = scopes_of(policy)
    if all(limit is None for _, limit in limits):
        return Budget(limit=None, used=used[limits[0][0]], in_flight=0, left=None)
    on_way = WorkflowExecution.objects.filter(status__in=CLAIMED, consumes_budget=True)
    flights = {
        CounterScope.CAMPAIGN: on_way.filter(campaign_id=policy.campaign_id).count(),
        CounterScope.WORKFLOW: on_way.filter(workflow_id=policy.workflow_id).count()
        if policy.workflow_limit is not None
        else 0,
        CounterScope.WORKSPACE: on_way.count() if policy.workspace_limit is not None else 0,
    }
    lefts = [
        limit - used[scope] - flights[CounterScope(scope[0])] for scope, limit in limits if limit is not None
    ]
    return Budget(
        limit=policy.campaign_limit,
        used=used[limits[0][0]],
        in_flight=flights[CounterScope.CAMPAIGN],
        left=max(0, min(lefts)),
    )


def reserve(policy: RunPolicy, now: datetime, wanted: int) -> int:
    """Take up to `wanted` units of every limit of the campaign; returns how many were granted.

    Runs inside the caller's transaction: the counter rows are locked in one order (campaign, workflow,
    workspace; by id within), the smallest room decides, and one conditional UPDATE takes it from all of
    them, so no limit is passed by any number of workers.
    """
    if wanted <= 0:
        return 0
    rows = _locked(policy, policy.day(now))
    limits = dict(scopes_of(policy))
    rooms = [limits[key] - row.used for key, row in rows.items() if limits[key] is not None]  # type: ignore[operator]
    granted = max(0, min([wanted, *rooms]))
    if granted:
        roomy = Q(pk__in=[])
        for key, row in rows.items():
            limit = limits[key]
            roomy |= Q(pk=row.pk) if limit is None else Q(pk=row.pk, used__lte=limit - granted)
        if DailyCounter.objects.filter(roomy).update(used=F("used") + granted) != len(rows):
            raise RuntimeError("a daily counter changed under its lock")
    return granted


def _locked(policy: RunPolicy, day: date) -> dict[Scope, DailyCounter]:
    keys = [scope for scope, _ in scopes_of(policy)]
    DailyCounter.objects.bulk_create(
        [
            DailyCounter(
                workspace_id=policy.workspace_id, scope_type=kind, scope_id=pk, channel="sms", day=day
            )
            for kind, pk in keys
        ],
        ignore_conflicts=True,
    )
    rows = DailyCounter.objects.filter(_any_of(keys), day=day, channel="sms")
    found = {
        (row.scope_type, row.scope_id): row for row in rows.select_for_update(no_key=True).order_by("pk")
    }
    return {key: found[key] for key in keys}


def _any_of(scopes: Iterable[Scope]) -> Q:
    condition = Q(pk__in=[])
    for kind, pk in scopes:
        condition |= Q(scope_type=kind, scope_id=pk)
    return condition


def give_back(units: Mapping[tuple[RunPolicyKey, date], int]) -> None:
    """Return units that no accepted or unknown message used, on the day they were taken."""
    totals: Counter[tuple[str, int, date]] = Counter()
    for (key, day), count in units.items():
        totals[(CounterScope.CAMPAIGN, key.campaign_id, day)] += count
        totals[(CounterScope.WORKFLOW, key.workflow_id, day)] += count
        totals[(CounterScope.WORKSPACE, key.workspace_id, day)] += count
    for (kind, pk, day), count in sorted(totals.items()):
        DailyCounter.objects.filter(
            scope_type=kind, scope_id=pk, channel="sms", day=day, used__gte=count
        ).update(used=F("used") - count)

"""Daily limits: reserve k of n before sending, give back what the provider did not take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from django.db import connection
from django.db.models import Count, F, Q

from automation.models import CounterScope, DailyCounter, WorkflowExecution
from automation.runtime.policy import RunPolicy
from automation.states import CLAIMED
from core.statements import run

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


class Budgets:
    """What may still be claimed for the campaigns of one workspace: limits less used, less on its way.

    Two queries for all of them, and none for campaigns without limits; `take` keeps it right while claims
    are made. It saves useless work only: the truth is `reserve`.
    """

    def __init__(self, policies: Sequence[RunPolicy], now: datetime) -> None:
        limited = [policy for policy in policies if any(limit is not None for _, limit in scopes_of(policy))]
        self._gone: Counter[Scope] = Counter()
        if limited:
            self._gone.update(used_today(limited, limited[0].day(now)))
            self._gone.update(_on_way(limited[0].workspace_id))

    def left(self, policy: RunPolicy) -> int | None:
        """Units that may be claimed for this campaign now; None is no limit."""
        rooms = [limit - self._gone[scope] for scope, limit in scopes_of(policy) if limit is not None]
        return max(0, min(rooms)) if rooms else None

    def take(self, policy: RunPolicy, units: int) -> None:
        """So many more are on their way."""
        for scope, _ in scopes_of(policy):
            self._gone[scope] += units


def _on_way(workspace_id: int) -> dict[Scope, int]:
    """Budgeted steps in the hands of workers. One query, as large as what is in flight."""
    rows = WorkflowExecution.objects.filter(
        workspace_id=workspace_id, locked_at__isnull=False, status__in=sorted(CLAIMED), consumes_budget=True
    )
    found: Counter[Scope] = Counter()
    for campaign_id, workflow_id, count in rows.values_list("campaign_id", "workflow_id").annotate(
        rows=Count("pk")
    ):
        found[(CounterScope.CAMPAIGN, campaign_id)] += count
        found[(CounterScope.WORKFLOW, workflow_id)] += count
        found[(CounterScope.WORKSPACE, workspace_id)] += count
    return found


def reserve(policy: RunPolicy, now: datetime, wanted: int) -> int:
    """Take up to `wanted` units of every limit of the campaign; returns how many were granted.

    Runs inside the caller's transaction: the counter rows are locked by id, the smallest room decides, and
    it is taken from all of them while they are held, so no limit is passed by any number of workers.
    """
    if wanted <= 0:
        return 0
    day = policy.day(now)
    if connection.vendor == "postgresql":
        granted = _take_at_once(policy, day, wanted)
        if granted is None:  # the first message of the day
            _make_counters(policy, day)
            granted = _take_at_once(policy, day, wanted)
        if granted is None:
            raise RuntimeError("a daily counter is missing")
        return granted
    _make_counters(policy, day)
    return _take_locked(policy, day, wanted)


_TAKE = """
WITH caps AS (
  SELECT * FROM unnest(%s::varchar[], %s::bigint[], %s::bigint[]) AS c(scope_type, scope_id, cap)
), held AS MATERIALIZED (
  SELECT d.id, d.used, caps.cap FROM automation_dailycounter d JOIN caps USING (scope_type, scope_id)
  WHERE d.workspace_id = %s::bigint AND d.channel = 'sms' AND d.day = %s::date
  ORDER BY d.id FOR NO KEY UPDATE OF d
), room AS (
  SELECT greatest(0, least(%s::bigint, min(cap - used))) AS granted, count(*) AS found FROM held
), taken AS (
  UPDATE automation_dailycounter d SET used = d.used + room.granted FROM held, room
  WHERE d.id = held.id AND room.found = %s::bigint AND room.granted > 0
)
SELECT granted, found FROM room"""


def _take_at_once(policy: RunPolicy, day: date, wanted: int) -> int | None:
    """Lock, decide and take in one statement; None when a counter does not exist yet."""
    limits = scopes_of(policy)
    kinds = "{" + ",".join(kind for (kind, _), _ in limits) + "}"
    ids = "{" + ",".join(str(pk) for (_, pk), _ in limits) + "}"
    caps = "{" + ",".join("NULL" if limit is None else str(limit) for _, limit in limits) + "}"
    numbers = [str(policy.workspace_id), day.isoformat(), str(wanted), str(len(limits))]
    [(granted, found)] = run(_TAKE, [kinds, ids, caps, *numbers])
    return int(granted) if found == len(limits) else None


def _take_locked(policy: RunPolicy, day: date, wanted: int) -> int:
    rows = _locked(policy, day)
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


def _make_counters(policy: RunPolicy, day: date) -> None:
    DailyCounter.objects.bulk_create(
        [
            DailyCounter(
                workspace_id=policy.workspace_id, scope_type=kind, scope_id=pk, channel="sms", day=day
            )
            for (kind, pk), _ in scopes_of(policy)
        ],
        ignore_conflicts=True,
    )


def _locked(policy: RunPolicy, day: date) -> dict[Scope, DailyCounter]:
    keys = [scope for scope, _ in scopes_of(policy)]
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
    """Return units that no accepted or unknown message used, on the day they were taken.

    The counters are locked by id first, as `reserve` does it: their kinds would be another order.
    """
    totals: Counter[tuple[str, int, date]] = Counter()
    for (key, day), count in units.items():
        totals[(CounterScope.CAMPAIGN, key.campaign_id, day)] += count
        totals[(CounterScope.WORKFLOW, key.workflow_id, day)] += count
        totals[(CounterScope.WORKSPACE, key.workspace_id, day)] += count
    if totals:
        days = {day for _kind, _pk, day in totals}
        scopes = _any_of((kind, pk) for kind, pk, _day in totals)
        rows = DailyCounter.objects.filter(scopes, day__in=days, channel="sms")
        list(rows.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
    for (kind, pk, day), count in sorted(totals.items()):
        DailyCounter.objects.filter(
            scope_type=kind, scope_id=pk, channel="sms", day=day, used__gte=count
        ).update(used=F("used") - count)

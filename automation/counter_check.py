"""Are the daily counters what the messages say? Compared on request, repaired only when asked.

A unit is used by a message that the provider took (whatever a report said of it later), by one whose
outcome is unknown, and by one that is on its way. System code: it reads all workspaces, each in its own
scope.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import Count, Q, QuerySet

from automation import audit_events
from automation.models import AutomationSettings, CounterScope, DailyCounter
from core import clock
from core.tenancy import workspace_scope
from sms.models import ACCEPTED_STATUSES, SmsLog, SmsStatus
from workspaces import audit
from workspaces.models import Workspace

Scope = tuple[str, int]
USES_A_UNIT = Q(status__in=[*ACCEPTED_STATUSES, SmsStatus.UNKNOWN, SmsStatus.SENDING]) | ~Q(
    provider_message_id=""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A counter that says `used` where the messages of its day and scope say `messages`."""

    workspace: int
    scope_type: str
    scope_id: int
    day: date
    used: int
    messages: int


def check(*, days: int, repair: bool = False) -> list[Difference]:
    """The counters of today and the `days - 1` days before it that differ, in the workspaces' own zones.

    Safe while workers run: what differs is counted once more with the counters locked. With `repair` the
    counters are set to what the messages say, with one audit row each.
    """
    found: list[Difference] = []
    for workspace in Workspace.objects.order_by("pk"):
        found += check_workspace(workspace, days=days, repair=repair)
    return found


def check_workspace(workspace: Workspace, *, days: int, repair: bool = False) -> list[Difference]:
    """`check` for one workspace."""
    found: list[Difference] = []
    with workspace_scope(workspace.pk):
        zone = _zone(workspace)
        today = clock.now().astimezone(zone).date()
        for back in range(days):
            found += _check_day(workspace.pk, today - timedelta(days=back), zone, repair=repair)
    return found


def _zone(workspace: Workspace) -> ZoneInfo:
    own = AutomationSettings.objects.values_list("timezone", flat=True).first()
    return ZoneInfo(own or workspace.timezone)


def _check_day(workspace_id: int, day: date, zone: ZoneInfo, *, repair: bool) -> list[Difference]:
    if not list(_differences(workspace_id, day, zone, _counters(day))):
        return []
    with transaction.atomic():
        held = _counters(day).select_for_update(no_key=True).order_by("pk")
        differences = list(_differences(workspace_id, day, zone, held))
        if repair:
            for difference in differences:
                _repair(difference)
    return differences


def _counters(day: date) -> QuerySet[DailyCounter]:
    return DailyCounter.objects.filter(day=day, channel="sms")


def _differences(
    workspace_id: int, day: date, zone: ZoneInfo, counters: QuerySet[DailyCounter]
) -> Iterator[Difference]:
    used: dict[Scope, int] = {(row.scope_type, row.scope_id): row.used for row in counters}
    messages = _messages(workspace_id, day, zone)
    for kind, pk in sorted(used.keys() | messages.keys()):
        said, counted = used.get((kind, pk), 0), messages[(kind, pk)]
        if said != counted:
            yield Difference(
                workspace=workspace_id, scope_type=kind, scope_id=pk, day=day, used=said, messages=counted
            )


def _messages(workspace_id: int, day: date, zone: ZoneInfo) -> Counter[Scope]:
    """Units that the messages reserved on that calendar day use, by scope. One query."""
    begin, end = (_midnight(moment, zone) for moment in (day, day + timedelta(days=1)))
    rows = SmsLog.objects.filter(
        USES_A_UNIT, producer="automation", request_at__gte=begin, request_at__lt=end
    )
    totals: Counter[Scope] = Counter()
    for campaign_id, workflow_id, count in (
        rows.values_list("campaign_id", "workflow_id").annotate(Count("pk")).order_by()
    ):
        totals[(CounterScope.CAMPAIGN, campaign_id)] += count
        totals[(CounterScope.WORKFLOW, workflow_id)] += count
        totals[(CounterScope.WORKSPACE, workspace_id)] += count
    return totals


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), tzinfo=zone)


def _repair(difference: Difference) -> None:
    key: dict[str, Any] = {
        "workspace_id": difference.workspace,
        "scope_type": difference.scope_type,
        "scope_id": difference.scope_id,
        "channel": "sms",
        "day": difference.day,
    }
    counter, _made = DailyCounter.objects.update_or_create(**key, defaults={"used": difference.messages})
    audit.record(
        audit_events.COUNTERS_REPAIRED,
        entity=counter,
        old={"used": difference.used, "day": difference.day},
        new={"used": difference.messages, "day": difference.day},
        user=None,
    )

"""Every five minutes each running campaign with a rule looks for new people; one task a campaign.

A check is a row of short transactions that hold the campaign. Each stores how far it came, so a check that
dies has lost nothing, and of two checks of one campaign the second finds the lock taken and ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

import structlog
from django.db import transaction
from django.db.models import QuerySet

from automation.models import WorkflowExecution
from automation.workspace_settings import is_enabled
from campaigns import newcomers
from campaigns.enrollment import planner
from campaigns.enrollment.entering import enter
from campaigns.enrollment.planner import Group
from campaigns.enrollment.selection import CHUNK
from campaigns.models import Campaign, CampaignStatus
from campaigns.newcomers import Look, Rule
from campaigns.policy import policy_of
from core import clock
from core.errors import Invalid
from core.failpoints import failpoint
from core.locks import named_lock
from core.queue import enqueue
from core.tenancy import current_workspace_id, workspace_scope
from targets.filters import TargetFilter
from targets.models import Target

log = structlog.get_logger(__name__)

TASK: Final = "campaigns.look_for_newcomers"
EVERY: Final = timedelta(minutes=5)
ADDED_AT_MOST: Final = 200  # by one check
LOOKED_AT_MOST: Final = 5_000
KEPT_LOOKS: Final = 20
# Ids are given in order, but stored when their transaction ends: a place is passed only when nobody can
# come before it any more.
SETTLED: Final = timedelta(minutes=1)
SAME_TIME, HERE_BEFORE = "same_time", "here_before"


def due(now: datetime) -> QuerySet[Campaign]:
    """The campaigns that look for new people now. Found by a partial index."""
    return Campaign.unscoped.filter(
        auto_enrol_at__lte=now, status=CampaignStatus.ACTIVE, intake_open=True, deleted_at__isnull=True,
        workspace__is_active=True, workspace__sending_stopped_at__isnull=True,
    )  # fmt: skip


def ask(now: datetime) -> Mapping[str, int]:
    """A step of each tick: one message a campaign whose time has come. Never fails the tick."""
    asked = 0
    for pk, workspace_id, at in due(now).order_by("pk").values_list("pk", "workspace_id", "auto_enrol_at"):
        then = at + EVERY if at is not None and at + EVERY > now else now + EVERY
        if not Campaign.unscoped.filter(pk=pk, auto_enrol_at=at).update(auto_enrol_at=then):
            continue
        try:
            enqueue(TASK, {"workspace_id": workspace_id, "campaign_id": pk})
        except Exception:
            log.exception("newcomers_not_queued", campaign_id=pk)
        else:
            asked += 1
    return {"newcomer_checks": asked}


def run_task(payload: Mapping[str, Any]) -> None:
    """The queue's side. A second message for the campaign ends at once while the first is at it."""
    workspace_id, campaign_id = int(payload["workspace_id"]), int(payload["campaign_id"])
    with workspace_scope(workspace_id), named_lock(f"newcomers-{campaign_id}") as held:
        if held and is_enabled(workspace_id):
            check(campaign_id, clock.now())


@dataclass(slots=True)
class _Tally:
    examined: int = 0
    added: int = 0
    skipped: Counter[str] = field(default_factory=Counter)


def check(campaign_id: int, now: datetime) -> Look | None:
    """Look for new people once; None when nobody was there to look at. What it found stands in the rule."""
    tally, first = _Tally(), True
    while tally.examined < LOOKED_AT_MOST:
        with transaction.atomic():
            goes_on = _part(campaign_id, tally, now, is_first=first)
            failpoint("newcomers_tx")
        first = False
        if not goes_on:
            break
    if not tally.examined:
        return None
    return Look(at=now, examined=tally.examined, added=tally.added, skipped=dict(tally.skipped))


def _part(campaign_id: int, tally: _Tally, now: datetime, *, is_first: bool) -> bool:
    """At most five hundred people. False when there is nobody left, or no room."""
    campaign = Campaign.objects.select_for_update(no_key=True).filter(pk=campaign_id).first()
    if campaign is None:
        return False
    rule = newcomers.rule_of(campaign)
    if rule is None or not rule.enabled or not campaign.intake_open:
        return False
    if campaign.status != CampaignStatus.ACTIVE:
        return False
    day = policy_of(campaign).day(now)
    room = min(ADDED_AT_MOST - tally.added, rule.left_today(day))
    if room <= 0:
        return False
    filters = TargetFilter(rule.filters)
    try:
        filters.stored()
    except Invalid as exc:
        newcomers.store(campaign, replace(rule, problem=exc.code))
        return False
    horizon = _horizon(now)
    meant = newcomers.people_meant(rule, filters).filter(pk__gt=rule.cursor, pk__lte=horizon)
    ids = list(meant.order_by("pk").values_list("pk", flat=True)[:CHUNK])
    added, cursor = _let_in(campaign, ids, room, tally, now)
    if len(ids) < CHUNK and (not ids or cursor == ids[-1]):
        cursor = max(horizon, rule.cursor)
    before = rule.added_today if rule.day == day else 0
    rule = replace(rule, cursor=cursor, day=day, added_today=before + added, problem="")
    newcomers.store(campaign, _with_look(rule, tally, now, is_first=is_first))
    return len(ids) == CHUNK


def _let_in(
    campaign: Campaign, ids: Sequence[int], room: int, tally: _Tally, now: datetime
) -> tuple[int, int]:
    """Let in as many as there is room for, in order; how many, and the last one that is done with."""
    groups = planner.sort(campaign, ids) if ids else {}
    been_here = _been_here(campaign, ids)
    answer = campaign.settings.get(newcomers.ON_CONFLICT, "skip")
    wanted: list[int] = []
    last = 0
    for pk, group in groups.items():
        if len(wanted) == room:
            break
        last = pk
        tally.examined += 1
        if pk in been_here:
            tally.skipped[HERE_BEFORE] += 1
        elif group is Group.READY or (group is Group.CONFLICT and answer == "add"):
            wanted.append(pk)
        else:
            tally.skipped[str(group)] += 1
    missed = enter(campaign, wanted, now, data={"auto": True}) if wanted else []
    tally.skipped[SAME_TIME] += len(missed)
    tally.skipped += Counter()  # without the zeros
    tally.added += len(wanted) - len(missed)
    return len(wanted) - len(missed), last


def _been_here(campaign: Campaign, ids: Sequence[int]) -> set[int]:
    """Those who were in the campaign at some time: whoever was taken out does not come back by itself."""
    rows = WorkflowExecution.objects.filter(
        workspace_id=current_workspace_id(),
        campaign_id=campaign.pk,
        subject_type="target",
        subject_id__in=ids,
    )
    return set(rows.values_list("subject_id", flat=True))


def _horizon(now: datetime) -> int:
    """The last person of whom it is sure that nobody with a smaller id is still being stored."""
    rows = Target.objects.filter(created_at__lte=now - SETTLED).order_by("-pk")
    return rows.values_list("pk", flat=True).first() or 0


def _with_look(rule: Rule, tally: _Tally, now: datetime, *, is_first: bool) -> Rule:
    """The rule with this check among its looks; one that looked at nobody leaves the earlier ones alone."""
    if not tally.examined:
        return rule
    look = Look(at=now, examined=tally.examined, added=tally.added, skipped=dict(tally.skipped))
    earlier = rule.looks if is_first or not rule.looks or rule.looks[0].at != now else rule.looks[1:]
    return replace(rule, looks=(look, *earlier)[:KEPT_LOOKS])

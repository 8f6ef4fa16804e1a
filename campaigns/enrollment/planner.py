"""Sorts a selection into groups before anybody is added. Writes nothing.

The groups are asked in this order, and everybody is in exactly one: invalid (gone, or without a mobile
number), blacklisted, already in this campaign, conflict (in another list campaign), ready.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from django.db.models import QuerySet

from automation.models import WorkflowExecution
from blacklist.models import Channel
from blacklist.queries import blocked_values
from campaigns.enrollment.selection import chunks
from campaigns.models import Campaign, CampaignKind
from core.phones import mobile_or_none
from targets.models import Target


class Group(StrEnum):
    INVALID = "invalid"
    BLACKLISTED = "blacklisted"
    ALREADY = "already"
    CONFLICT = "conflict"
    READY = "ready"


@dataclass(frozen=True, slots=True)
class Plan:
    """Group -> ids in the order of the selection."""

    groups: Mapping[Group, list[int]] = field(default_factory=dict)

    def ids(self, group: Group) -> list[int]:
        return self.groups.get(group, [])

    def counts(self) -> dict[str, int]:
        """Every group with its size, the empty ones too."""
        return {str(group): len(self.ids(group)) for group in Group}

    def stored(self) -> dict[str, list[int]]:
        """What the batch keeps: all groups but the ready ones, who are the rest."""
        return {str(group): list(self.ids(group)) for group in Group if group is not Group.READY}


def plan(campaign: Campaign, ids: Sequence[int]) -> Plan:
    """Sort a whole selection: three queries for every five hundred people."""
    groups: dict[Group, list[int]] = {group: [] for group in Group}
    for part in chunks(ids):
        for subject_id, group in sort(campaign, part).items():
            groups[group].append(subject_id)
    return Plan(groups)


def sort(campaign: Campaign, ids: Sequence[int]) -> dict[int, Group]:
    """The group of each of at most five hundred people, in their order. Three queries."""
    mobiles = dict(Target.objects.filter(pk__in=ids, deleted_at__isnull=True).values_list("pk", "mobile"))
    blocked = blocked_values(campaign.workspace_id, Channel.SMS, mobiles.values())
    here, elsewhere = _live(campaign, ids)
    sorted_ids: dict[int, Group] = {}
    for subject_id in ids:
        mobile = mobiles.get(subject_id, "")
        if mobile_or_none(mobile) != mobile:
            sorted_ids[subject_id] = Group.INVALID
        elif mobile in blocked:
            sorted_ids[subject_id] = Group.BLACKLISTED
        elif subject_id in here:
            sorted_ids[subject_id] = Group.ALREADY
        else:
            sorted_ids[subject_id] = Group.CONFLICT if subject_id in elsewhere else Group.READY
    return sorted_ids


def live_executions(ids: Sequence[int]) -> QuerySet[WorkflowExecution]:
    """The walks these people are on now, in whatever campaign."""
    return WorkflowExecution.objects.filter(subject_type="target", subject_id__in=ids, active_key=1)


def _live(campaign: Campaign, ids: Sequence[int]) -> tuple[set[int], set[int]]:
    """Who is live in this campaign, and who in another list campaign. A journey does not stand in the way."""
    here, elsewhere = set(), set()
    rows = live_executions(ids).values_list("subject_id", "campaign_id", "campaign__kind")
    for subject_id, campaign_id, kind in rows:
        if campaign_id == campaign.pk:
            here.add(subject_id)
        elif kind == CampaignKind.LIST:
            elsewhere.add(subject_id)
    return here, elsewhere

"""The rule by which new people enter a campaign by themselves: what it says, who changes it, whom it means.

It stands in `Campaign.settings` under "auto_enroll". Whoever changes it holds the campaign's row, for the
checks write their progress there too. `cursor` is the last person looked at: each is looked at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from automation.models import WorkflowExecution
from campaigns import audit_events, queries
from campaigns.models import Campaign
from core import clock
from core.errors import Invalid, Refused
from targets.filters import TargetFilter
from targets.models import Target
from targets.queries import Visibility
from workspaces import audit
from workspaces.models import User

KEY: Final = "auto_enroll"
ON_CONFLICT: Final = "on_conflict"
DEFAULT_CAP: Final = 200
MOST_A_DAY: Final = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One check: of whom it looked at, how many entered, and why the others did not."""

    at: datetime
    examined: int
    added: int
    skipped: Mapping[str, int] = field(default_factory=dict)

    def stored(self) -> dict[str, Any]:
        return {**asdict(self), "at": self.at.isoformat()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`since`: only people created from then on are meant, unless `include_existing`. `added_today` belongs
    to the workspace's calendar day `day`. `looks` are the last checks that looked at somebody, newest first.
    `problem` says why the last check could not be made."""

    filters: Mapping[str, Any]
    daily_cap: int
    since: datetime
    enabled: bool = True
    include_existing: bool = False
    cursor: int = 0
    day: date | None = None
    added_today: int = 0
    looks: tuple[Look, ...] = ()
    problem: str = ""

    def stored(self) -> dict[str, Any]:
        return {
            "filters": dict(self.filters),
            "daily_cap": self.daily_cap,
            "since": self.since.isoformat(),
            "enabled": self.enabled,
            "include_existing": self.include_existing,
            "cursor": self.cursor,
            "day": self.day.isoformat() if self.day else None,
            "added_today": self.added_today,
            "looks": [look.stored() for look in self.looks],
            "problem": self.problem,
        }

    def left_today(self, day: date) -> int:
        """How many may still enter on this calendar day."""
        return max(0, self.daily_cap - (self.added_today if self.day == day else 0))


def rule_of(campaign: Campaign) -> Rule | None:
    """The campaign's rule, switched on or off; None when it never had one."""
    raw = campaign.settings.get(KEY)
    if not raw:
        return None
    looks = tuple(Look(**{**look, "at": datetime.fromisoformat(look["at"])}) for look in raw["looks"])
    moments = {
        "since": datetime.fromisoformat(raw["since"]),
        "day": date.fromisoformat(raw["day"]) if raw["day"] else None,
    }
    return Rule(**{**raw, **moments, "looks": looks})


def store(campaign: Campaign, rule: Rule, **columns: Any) -> None:
    """Write the rule of a campaign whose row the caller holds."""
    campaign.settings = {**campaign.settings, KEY: rule.stored()}
    Campaign.objects.filter(pk=campaign.pk).update(
        settings=campaign.settings, updated_at=clock.now(), **columns
    )


def save_rule(
    campaign_id: int, *, filters: TargetFilter, daily_cap: int, include_existing: bool, user: User | None
) -> Rule:
    """Switch the rule on, or change it. Other conditions start over; other numbers keep the progress.

    Raises Invalid without a condition (that would be everybody) or for a number out of range, Refused
    `campaign_over`.
    """
    conditions = filters.stored()
    if not conditions:
        raise Invalid(
            _("Set at least one condition; an empty one would mean everybody."), code="filter_empty"
        )
    if not 1 <= daily_cap <= MOST_A_DAY:
        raise Invalid(_("The number of new people a day is out of range."), code="daily_cap_invalid")
    queries.campaign_for(campaign_id)
    with transaction.atomic():
        campaign = _held(campaign_id)
        old, now = rule_of(campaign), clock.now()
        rule = Rule(filters=conditions, daily_cap=daily_cap, include_existing=include_existing, since=now)
        if old is not None:
            rule = _continued(old, rule)
        campaign.settings = {ON_CONFLICT: "skip", **campaign.settings}
        store(campaign, rule, auto_enrol_at=now)
        new = {"conditions": conditions, "daily_cap": daily_cap, "include_existing": include_existing}
        audit.record(audit_events.RULE_SAVED, entity=campaign, old=_shown(old), new=new, user=user)
    return rule


def switch_off(campaign_id: int, *, user: User | None) -> None:
    """Let nobody enter by themselves any more. Raises Refused `rule_is_off`."""
    queries.campaign_for(campaign_id)
    with transaction.atomic():
        campaign = _held(campaign_id)
        rule = rule_of(campaign)
        if rule is None or not rule.enabled:
            raise Refused(_("The rule is switched off already."), code="rule_is_off")
        store(campaign, replace(rule, enabled=False), auto_enrol_at=None)
        audit.record(audit_events.RULE_OFF, entity=campaign, old=_shown(rule), user=user)


def people_meant(rule: Rule, filters: TargetFilter) -> QuerySet[Target]:
    """Whom the rule means, of all people of the workspace: it works in nobody's name."""
    people = filters.apply(Visibility.everyone().people())
    return people if rule.include_existing else people.filter(created_at__gte=rule.since)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """How many people meet the conditions now, and how many of them the first checks would look at."""

    matching: int
    meant: int


def preview(campaign: Campaign, filters: TargetFilter, *, include_existing: bool) -> Preview:
    """What saving the rule like this would mean now. Raises Invalid for conditions that cannot be read."""
    rule = Rule(filters=filters.stored(), daily_cap=1, since=clock.now(), include_existing=include_existing)
    old = rule_of(campaign)
    if old is not None:
        rule = _continued(old, rule)
    here = WorkflowExecution.objects.filter(campaign_id=campaign.pk, subject_type="target")
    meant = people_meant(rule, filters).filter(pk__gt=rule.cursor).exclude(pk__in=here.values("subject_id"))
    return Preview(matching=filters.apply(Visibility.everyone().people()).count(), meant=meant.count())


def _continued(old: Rule, new: Rule) -> Rule:
    """The new rule with what the old one has come to: its place only if it means the same people."""
    same = (dict(old.filters), old.include_existing) == (dict(new.filters), new.include_existing)
    return replace(
        new,
        since=old.since if old.enabled else new.since,
        cursor=old.cursor if same and old.enabled else 0,
        day=old.day,
        added_today=old.added_today,
        looks=old.looks,
    )


def _held(campaign_id: int) -> Campaign:
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=campaign_id)
    if campaign.is_over:
        raise Refused(_("This campaign is over."), code="campaign_over", status_now=campaign.status)
    return campaign


def _shown(rule: Rule | None) -> dict[str, Any] | None:
    if rule is None:
        return None
    return {
        "conditions": dict(rule.filters),
        "daily_cap": rule.daily_cap,
        "include_existing": rule.include_existing,
    }

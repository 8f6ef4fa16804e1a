"""Why somebody did or did not get what a campaign sends: one sentence, and what stands behind it.

Every rule is asked where it lives: who may enter of the enrolment planner, what comes next and what would
keep a message back of the runtime's own guards (`whereabouts`, `automation.runtime.foresight`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from automation.models import WorkflowExecution
from automation.runtime import foresight
from automation.states import LIVE, EndReason, ExecutionStatus
from campaigns import newcomers
from campaigns.enrollment import batches, planner
from campaigns.enrollment.planner import Group
from campaigns.models import Campaign, EnrollmentBatch
from campaigns.policy import policy_of
from campaigns.queries import names_for
from campaigns.whereabouts import Lookout, Next
from core.errors import Refused
from sms import reasons
from sms.models import ACCEPTED_STATUSES, SmsLog
from targets.filters import TargetFilter
from targets.models import Target, TargetListMember

ROUNDS: Final = 20  # walks of one person through one campaign that are looked at
MESSAGES: Final = 10
BATCHES: Final = 10

GROUPS: Final[Mapping[Group, str | Promise]] = {
    Group.INVALID: gettext_lazy("The person has no valid mobile number."),
    Group.BLACKLISTED: gettext_lazy("The number is on the blacklist."),
    Group.CONFLICT: gettext_lazy("The person is in another campaign now, so a colleague has to decide."),
    Group.ALREADY: gettext_lazy("The person is in this campaign already."),
    Group.READY: gettext_lazy("Nothing stands in the way: the person can be added."),
}
LEFT_OUT: Final[Mapping[str, str | Promise]] = {
    Group.INVALID: gettext_lazy("there was no valid mobile number"),
    Group.BLACKLISTED: gettext_lazy("the number was on the blacklist"),
    Group.ALREADY: gettext_lazy("the person was in the campaign already"),
    Group.CONFLICT: gettext_lazy("the person was in another campaign"),
    "skipped": gettext_lazy("a colleague decided against it"),
    "undecided": gettext_lazy("nobody had decided about the other campaign"),
    "same_time": gettext_lazy("somebody else was adding the person at the same time"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One message of the walk: its status in words, and why it is not simply sent."""

    at: datetime
    status: str
    label: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`sentence` says it all; `at` is the moment it speaks of. `reasons` stand behind it, `text` is the
    message that comes next."""

    tone: str
    sentence: str
    at: datetime | None = None
    reasons: tuple[str, ...] = ()
    messages: tuple[Sent, ...] = ()
    text: str = ""


def answer(campaign: Campaign, target: Target, now: datetime) -> Answer:
    """What can be said today. A constant number of queries."""
    rows = WorkflowExecution.objects.filter(
        campaign_id=campaign.pk, subject_type="target", subject_id=target.pk
    )
    walks = list(rows.select_related("campaign", "current_node").order_by("-pk")[:ROUNDS])
    live = next((row for row in walks if row.status in LIVE), None)
    if live is not None:
        return _live(live, target, now)
    return _past(campaign, walks[0], target) if walks else _outside(campaign, target, now)


# In the campaign now


def _live(row: WorkflowExecution, target: Target, now: datetime) -> Answer:
    lookout = Lookout(target, [row], now)
    coming: Next = lookout.next(row)
    ahead = foresight.message_ahead(row, now)
    seen = lookout.foresee({row.pk: ahead}, max(now, ahead.at)).get(row.pk) if ahead else None
    against = reasons.explain("", seen.reason) if seen and seen.reason in reasons.OURS else ""
    sentence = _("In the campaign. %(next)s") % {"next": coming.text}
    if against:
        sentence = _("In the campaign, and the next message will not leave: %(why)s") % {"why": against}
    return Answer(
        tone="warn" if against else "info",
        sentence=sentence,
        at=coming.at,
        reasons=(str(coming.text),) if against else (),
        messages=_messages(row),
        text=seen.text if seen and not against else "",
    )


# Was in it


def _past(campaign: Campaign, row: WorkflowExecution, target: Target) -> Answer:
    messages = _messages(row)
    ended = dict(EndReason.choices).get(EndReason(row.end_reason)) if row.end_reason else ""
    values = {"why": str(ended or row.get_status_display())}
    if row.status == ExecutionStatus.BLACKLISTED:
        return Answer(
            tone="danger",
            sentence=_("Stopped before a message, since the number was on the blacklist."),
            reasons=_blocked_still(campaign, target),
            messages=messages,
        )
    if any(one.status in ACCEPTED_STATUSES for one in messages):
        sentence, tone = _("Went through the campaign and was written to. How it ended: %(why)s."), "success"
    elif row.status == ExecutionStatus.COMPLETED:
        sentence, tone = _("Went through the campaign without a message. How it ended: %(why)s."), "warn"
    else:
        sentence, tone = _("Left the campaign without a message: %(why)s."), "danger"
    return Answer(tone=tone, sentence=sentence % values, at=row.completed_at, messages=messages)


def _blocked_still(campaign: Campaign, target: Target) -> tuple[str, ...]:
    group = planner.sort(campaign, [target.pk])[target.pk]
    if group is Group.BLACKLISTED:
        return (_("The number is still blocked."),)
    return (_("The number is not blocked any more; a colleague can resume the person."),)


def _messages(row: WorkflowExecution) -> tuple[Sent, ...]:
    found = SmsLog.objects.filter(execution_id=row.pk).order_by("-pk")[:MESSAGES]
    return tuple(
        Sent(
            at=one.created_at,
            status=one.status,
            label=reasons.status_label(one),
            reason=reasons.explain(one.provider, one.error_code),
        )
        for one in found
    )


# Never in it


def _outside(campaign: Campaign, target: Target, now: datetime) -> Answer:
    group = planner.sort(campaign, [target.pk])[target.pk]
    rule = _rule(campaign, target, now)
    facts = [*rule, *_source(campaign, target), *_choices(campaign, target), *_door(campaign)]
    if group is not Group.READY:
        words = str(GROUPS[group])
        facts += _others(target) if group is Group.CONFLICT else []
        tone = "danger" if group is not Group.CONFLICT else "warn"
        sentence = _("Was never added to this campaign. %(why)s") % {"why": words}
        return Answer(tone=tone, sentence=sentence, reasons=tuple(facts))
    why = facts.pop(0) if facts else str(GROUPS[group])
    sentence = _("Was never added to this campaign. %(why)s") % {"why": why}
    return Answer(tone="warn", sentence=sentence, reasons=tuple(facts))


def _rule(campaign: Campaign, target: Target, now: datetime) -> list[str]:
    """What the rule that lets people in by itself says of this person; nothing while there is none."""
    rule = newcomers.rule_of(campaign)
    if rule is None or not rule.enabled:
        return []
    filters = TargetFilter(rule.filters)
    if not filters.apply(Target.objects.filter(pk=target.pk)).exists():
        return [_("The conditions of this campaign's rule do not fit the person.")]
    if not newcomers.people_meant(rule, filters).filter(pk=target.pk).exists():
        return [_("The campaign's rule means only people who came after it was switched on.")]
    if target.pk <= rule.cursor:
        return [_("The campaign's rule has looked at this person already and did not add them.")]
    if not rule.left_today(policy_of(campaign).day(now)):
        return [_("The campaign's rule has added as many people as it may today; it goes on tomorrow.")]
    return [_("The campaign's rule will look at this person with its next check.")]


def _source(campaign: Campaign, target: Target) -> list[str]:
    """The list that the campaign was made for."""
    source = campaign.source_target_list
    if source is None or TargetListMember.objects.filter(list=source, target=target).exists():
        return []
    return [_("The person is not on the list “%(list)s” of this campaign.") % {"list": source.name}]


def _choices(campaign: Campaign, target: Target) -> list[str]:
    """Selections that the person was in, and what became of them there."""
    plans = EnrollmentBatch.objects.filter(campaign=campaign).order_by("-pk").values_list("plan", flat=True)
    for plan in plans[:BATCHES]:
        why = next((LEFT_OUT[key] for key, ids in plan.items() if key in LEFT_OUT and target.pk in ids), "")
        if why:
            return [_("When people were chosen, this person was left out: %(why)s.") % {"why": why}]
    return []


def _door(campaign: Campaign) -> list[str]:
    try:
        batches.require_open(campaign)
    except Refused as refusal:
        return [str(refusal)]
    return []


def _others(target: Target) -> list[str]:
    ids = planner.live_executions([target.pk]).values_list("campaign_id", flat=True)
    return [_("Now in: %(campaigns)s.") % {"campaigns": _(", ").join(names_for(ids).values())}]

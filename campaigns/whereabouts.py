"""Where a person is now: each campaign they are live in, what comes next there, and when.

Moments are never past: somebody whose turn has come and who must wait is "in line".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from django.utils.functional import Promise, cached_property
from django.utils.translation import gettext_lazy as _

from automation.counters import Budgets
from automation.known_events import label_of
from automation.models import WorkflowExecution
from automation.panels import step_name
from automation.runtime import foresight
from automation.runtime.foresight import Ahead, Foreseen
from automation.runtime.policy import RunPolicy, readiness_problem
from automation.runtime.target_subject import load_targets
from automation.states import CLAIMED, LIVE, ExecutionStatus
from campaigns.models import CampaignStatus
from campaigns.policy import CampaignPolicies
from engine.types import NO_TIMEOUT
from engine.windows import WindowError
from sms import reasons
from targets.models import Target
from workspaces.models import Workspace

MOST: Final = 50  # live walks of one person that are shown
PASSING: Final = frozenset({"provider", "window", "line_window", "limit"})  # what only puts a message off


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """What comes next in words; `at` when it comes, never past, None when no moment is known."""

    code: str
    text: str | Promise
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """`kept_back`: why the next message will not leave, as things stand; "" when nothing is known."""

    execution: WorkflowExecution
    step: str
    next: Next
    kept_back: str = ""


WORDS: Final[Mapping[str, str | Promise]] = {
    "paused": _("Paused; goes on when a colleague resumes it"),
    "automation_disabled": _("Automation is switched off for this workspace"),
    "starts": _("Starts with the campaign"),
    "campaign_over": _("The campaign is over; this ends with the next look"),
    "everything_stopped": _("Everything is stopped; goes on when somebody resumes it"),
    "campaign_paused": _("The campaign is not running; goes on when it does"),
    "status_stop": _("Leaves the campaign at the next step, because of the person's status"),
    "in_work": _("In work at this moment"),
    "event": _("Waits for “%(event)s”, at the latest"),
    "event_only": _("Waits for “%(event)s”"),
    "message": _("The next message comes"),
    "step": _("The next step comes"),
    "in_line_channel": _("In line to send; waits for the SMS channel"),
    "in_line_window": _("In line to send; the sending hours begin"),
    "in_line_limit": _("In line to send; today's limit is used up, it goes on"),
    "in_line_send": _("In line to send"),
    "in_line_step": _("In line for the next step"),
}


class Lookout:
    """Everything that "what comes next" is read from, for the live walks of one person. Constant queries."""

    def __init__(self, target: Target, rows: Sequence[WorkflowExecution], now: datetime) -> None:
        self.rows, self.now = rows, now
        self.workspace_id = target.workspace_id
        self.subjects = load_targets(target.workspace_id, [target.pk]) if rows else {}
        campaign_ids = {row.campaign_id for row in rows}
        self.policies = CampaignPolicies().for_campaigns(target.workspace_id, campaign_ids) if rows else {}
        self.problem = readiness_problem(target.workspace_id, now) if rows else ""
        self.budgets = Budgets(list(self.policies.values()), now)

    def all(self) -> list[Whereabouts]:
        ahead = {row.pk: found for row in self.rows if (found := foresight.message_ahead(row, self.now))}
        seen = self.foresee(ahead, self.now)
        return [
            Whereabouts(
                execution=row,
                step=step_name(row.current_node),
                next=self.next(row),
                kept_back=_kept_back(seen.get(row.pk)),
            )
            for row in self.rows
        ]

    def foresee(self, ahead: Mapping[int, Ahead], at: datetime) -> dict[int, Foreseen]:
        pairs = [(row, ahead[row.pk]) for row in self.rows if row.pk in ahead]
        return foresight.foresee(pairs, self.subjects, self.policies, at)

    def next(self, row: WorkflowExecution) -> Next:
        policy = self.policies[row.campaign_id]
        if held := self._held(row, policy):
            return _next(held, row.campaign.starts_at if held == "starts" else None, self.now)
        due = row.next_run_at
        if row.waiting_event and row.status == ExecutionStatus.WAITING:
            is_open = due is None or due >= NO_TIMEOUT
            found = _next("event_only" if is_open else "event", None if is_open else due, self.now)
            return replace(found, text=str(found.text) % {"event": label_of(row.waiting_event)})
        if due is not None and due > self.now:
            at = _opening(policy, due) if row.consumes_budget else due
            return _next("message" if row.consumes_budget else "step", at, self.now)
        return self._in_line(policy) if row.consumes_budget else _next("in_line_step", None, self.now)

    def _held(self, row: WorkflowExecution, policy: RunPolicy) -> str:
        """Why nothing happens to this walk by itself; "" when something will."""
        subject = self.subjects.get(row.subject_id)
        if row.status == ExecutionStatus.PAUSED:
            return "paused"
        if not policy.automation_enabled:
            return "automation_disabled"
        if row.status == ExecutionStatus.PENDING:
            return "starts"
        if policy.ended_reason:
            return "campaign_over"
        if not policy.running:
            stopped = row.campaign.status == CampaignStatus.ACTIVE and self._everything_stopped
            return "everything_stopped" if stopped else "campaign_paused"
        if subject is not None and policy.stops(subject.status):
            return "status_stop"
        return "in_work" if row.status in CLAIMED else ""

    @cached_property
    def _everything_stopped(self) -> bool:
        """Asked only when a running campaign does not run: one question at most."""
        return Workspace.objects.filter(pk=self.workspace_id, sending_stopped_at__isnull=False).exists()

    def _in_line(self, policy: RunPolicy) -> Next:
        """The scheduler's questions, in its order: channel, hours, budget."""
        if self.problem:
            return _next("in_line_channel", None, self.now)
        opens = _opening(policy, self.now)
        if opens > self.now:
            return _next("in_line_window", opens, self.now)
        if self.budgets.left(policy) == 0:
            return _next("in_line_limit", _opening(policy, policy.next_day(self.now)), self.now)
        return _next("in_line_send", None, self.now)


def live_rows(target: Target) -> list[WorkflowExecution]:
    """The walks this person is on now, the latest first. One query."""
    rows = WorkflowExecution.objects.filter(
        subject_type="target", subject_id=target.pk, status__in=sorted(LIVE)
    )
    return list(rows.select_related("campaign", "current_node").order_by("-pk")[:MOST])


def whereabouts(target: Target, now: datetime) -> list[Whereabouts]:
    """Each campaign the person is in now. A constant number of queries."""
    return Lookout(target, live_rows(target), now).all()


def _next(code: str, at: datetime | None, now: datetime) -> Next:
    return Next(code=code, text=WORDS[code], at=at if at is not None and at > now else None)


def _opening(policy: RunPolicy, moment: datetime) -> datetime:
    try:
        return policy.next_open(moment)
    except WindowError:  # hours that were never valid: the scheduler says so on the health page
        return moment


def _kept_back(seen: Foreseen | None) -> str:
    if seen is None or not seen.reason or seen.reason in PASSING:
        return ""
    return reasons.explain("", seen.reason)

"""Messages of steps that support has tried again: what the campaign allows, and the line on the timeline.

The walk is not touched: it went on when the message failed. What comes of the new attempt is the message's.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

from automation import counters
from automation.counters import RunPolicyKey
from automation.models import WorkflowExecution, WorkflowNode
from automation.runtime import guards, message_history
from automation.runtime.events import event_row, store
from automation.runtime.policy import RunPolicy, policy_source
from automation.runtime.subjects import load_subjects
from automation.states import LIVE, EndReason, ExecutionEventType, ExecutionStatus
from core.tenancy import current_workspace_id
from sms import queries
from sms.channel import FrequencyCap
from sms.lines import MessageKind
from sms.models import SmsLog
from sms.retry_hooks import Turn

FROZEN_PAUSE = timedelta(minutes=5)
STILL_THERE = LIVE - {ExecutionStatus.PAUSED}


class StepMessages:
    """`sms.retry_hooks.Owner`."""

    def hold(self, row: SmsLog) -> None:
        rows = WorkflowExecution.objects.filter(pk=row.execution_id or 0)
        list(rows.select_for_update(of=("self",), no_key=True).values_list("pk", flat=True))

    def refusal(self, row: SmsLog) -> str:
        here = WorkflowExecution.objects.filter(
            pk=row.execution_id or 0,
            current_node_id=row.node_id,
            cycle=row.cycle,
            status__in=sorted(STILL_THERE),
        )
        if here.exists():
            return "walk_tries_again"
        policy = _policy(row)
        if policy is None:
            return "campaign_gone"
        if policy.ended_reason == EndReason.CAMPAIGN_CANCELLED:
            return "campaign_over"
        return _against_person(row, policy)

    def is_promotional(self, row: SmsLog) -> bool:
        service = WorkflowNode.objects.filter(
            pk=row.node_id or 0, config__message_kind=str(MessageKind.SERVICE)
        )
        return not service.exists()

    def take(self, row: SmsLog, now: datetime) -> Turn:
        policy = _policy(row)
        if refused := self.refusal(row):
            return Turn(refused=refused)
        if policy is None or not policy.automation_enabled or not (policy.running or policy.ended_reason):
            return Turn(until=now + FROZEN_PAUSE)
        opens_at = policy.next_open(now)
        if opens_at > now and row.node_id not in guards.any_hour_steps(policy.workflow_id):
            return Turn(until=opens_at)
        if self.is_promotional(row) and _had_enough(row, policy, now):
            return Turn(refused="frequency_cap")
        if not counters.reserve(policy, now, 1):
            return Turn(until=policy.next_open(policy.next_day(now)))
        return Turn()

    def give_back(self, row: SmsLog) -> None:
        policy = _policy(row)
        if policy is not None and row.request_at is not None:
            counters.give_back(Counter({(RunPolicyKey.of(policy), policy.day(row.request_at)): 1}))

    def tell(self, row: SmsLog, status: str, code: str, now: datetime) -> None:
        execution = WorkflowExecution.objects.filter(pk=row.execution_id or 0).first()
        if execution is not None:
            data = {"status": status, "sms_log_id": row.pk, "attempt": row.attempt_number, "code": code}
            kind = ExecutionEventType.SMS_ATTEMPT
            store([event_row(execution, kind, now, node_id=row.node_id, data=data)])


def _policy(row: SmsLog) -> RunPolicy | None:
    if row.campaign_id is None:
        return None
    return policy_source().for_campaigns(current_workspace_id(), [row.campaign_id]).get(row.campaign_id)


def _against_person(row: SmsLog, policy: RunPolicy) -> str:
    """Why the person gets no message of the campaign now, as at a step: gone, stopped, or served already."""
    whose = (row.subject_type, row.subject_id or 0)
    person = load_subjects(row.workspace_id, [whose]).get(whose)
    if person is None:
        return "person_gone"
    if person.contacts.get("sms") != row.phone_number:
        return "number_changed"
    if policy.stops(person.status):
        return "person_stopped"
    text = (row.campaign_id or 0, row.node_id or 0, row.phone_number, row.subject_id or 0)
    return "phone_served" if policy.one_per_phone and message_history.served_by_others([text]) else ""


def _had_enough(row: SmsLog, policy: RunPolicy, now: datetime) -> bool:
    """The message itself is on its way already and counts as one."""
    cap = FrequencyCap.of(queries.settings_of(row.workspace_id))
    if cap is None:
        return False
    since = policy.day_start(now, days_before=cap.days - 1)
    had = message_history.promotional_since({row.phone_number}, since)
    return had.get(row.phone_number, 0) > cap.messages

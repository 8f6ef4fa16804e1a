"""A send step whose message may have gone out: it waits while the provider is asked, then goes on.

    results / a left-over attempt   unknown  -> the walk waits, up to a set time (reason `reconcile`)
    sms.settlement                  accepted -> the walk is due and goes on as submitted
                                    absent   -> the unit goes back, the walk is due and fails for now: its own
                                                retry rule decides about a new attempt
    the set time is over            undecided -> the walk goes on as `continue` does, never resending

A walk that waits here is due through the light claim (`consumes_budget` is off): neither hours nor limits
matter to somebody whose message may be out already. Nothing is sent on that visit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import F, Q

from automation import counters
from automation.counters import RunPolicyKey
from automation.models import WorkflowExecution
from automation.runtime.actions.base import RECONCILE, Reserved, Step
from automation.runtime.events import event_row, store
from automation.runtime.policy import RunPolicy, policy_source
from automation.states import ExecutionEventType, ExecutionStatus
from core.tenancy import current_workspace_id
from engine.types import ActionResult, ActionStatus
from sms import settlement
from sms.channel import gateway_of
from sms.models import ProviderAccount, SmsStatus
from sms.reconcile import can_be_asked
from sms.sending import Answer, Fate, History, Past, StepKey
from sms.settlement import PROVEN_ABSENT, Settled

UNKNOWN_OUTCOME: Final = "unknown_outcome"


class Askable:
    """Which accounts can be asked about a message. One query, and only when it is needed."""

    def __init__(self, account_ids: Iterable[UUID | None]) -> None:
        self._wanted = {pk for pk in account_ids if pk is not None}
        self._found: set[UUID] | None = None

    def __contains__(self, account_id: UUID | None) -> bool:
        if self._found is None:
            rows = ProviderAccount.objects.filter(pk__in=self._wanted, is_active=True)
            self._found = {row.pk for row in rows if can_be_asked(gateway_of(row))}
        return account_id in self._found


def in_doubt(answer: Answer, now: datetime) -> ActionResult:
    """The result of a call whose answer does not say whether the message was taken."""
    account = answer.attempt.draft.account
    if answer.attempt.on_unknown == RECONCILE and account is not None and can_be_asked(account.gateway):
        return _wait(now)
    return _without_asking(answer.attempt.on_unknown)


def left_behind(policy: RunPolicy, past: Past, askable: Askable, now: datetime) -> ActionResult:
    """The result of a step that finds an attempt of its own whose outcome is still unknown."""
    if policy.on_unknown != RECONCILE:
        return _without_asking(policy.on_unknown)
    asked_at = past.asked_at or now
    if asked_at + _patience() <= now or past.account_id not in askable:
        return _without_asking(policy.on_unknown)
    return _wait(asked_at)


def try_again(
    steps: Sequence[Step], history: History, key: Callable[[Step], StepKey], done: Reserved, now: datetime
) -> list[Step]:
    """Steps whose last attempt was proven absent fail for now, once; the others are returned."""
    absent = {
        step.id: past.absent_id for step in steps if (past := history.get(key(step))) and past.absent_id
    }
    for execution_id in absent:
        done.results[execution_id] = ActionResult(status=ActionStatus.FAILED, reason=PROVEN_ABSENT)
    settlement.note_taken(absent.values(), now)
    return [step for step in steps if step.id not in absent]


def _wait(asked_at: datetime) -> ActionResult:
    return ActionResult(status=ActionStatus.DEFERRED, reason=RECONCILE, until=asked_at + _patience())


def _without_asking(on_unknown: str) -> ActionResult:
    status = ActionStatus.HELD if on_unknown == "hold" else ActionStatus.UNKNOWN
    return ActionResult(status=status, reason=UNKNOWN_OUTCOME)


def _patience() -> timedelta:
    return timedelta(minutes=settings.RECONCILE_WAIT_MINUTES)


class WaitingWalks:
    """`sms.settlement.Listener`: what a settled message means for budgets and for the walk that waits."""

    def hold(self, execution_ids: Sequence[int]) -> None:
        rows = WorkflowExecution.objects.filter(pk__in=execution_ids).order_by("pk")
        list(rows.select_for_update(of=("self",), no_key=True).values_list("pk", flat=True))

    def settled(self, messages: Sequence[Settled], now: datetime) -> None:
        ours = [one for one in messages if one.execution_id is not None and one.campaign_id is not None]
        if not ours:
            return
        _tell(ours, now)
        _bring_forward([(one.execution_id, one.node_id, one.cycle) for one in ours], now)
        _give_back([one for one in ours if not one.accepted])


def _tell(messages: Sequence[Settled], now: datetime) -> None:
    rows = WorkflowExecution.objects.in_bulk([one.execution_id for one in messages])
    store(
        [
            event_row(
                rows[one.execution_id], ExecutionEventType.SMS_ATTEMPT, now, node_id=one.node_id,
                data={
                    "status": SmsStatus.SUBMITTED if one.accepted else SmsStatus.FAILED,
                    "sms_log_id": one.log_id, "reason": "proven_sent" if one.accepted else PROVEN_ABSENT,
                },
            )
            for one in messages
            if one.execution_id in rows
        ]
    )  # fmt: skip


def _bring_forward(steps: Iterable[tuple[int | None, int | None, int]], now: datetime) -> None:
    """Those that wait for this answer are due. A walk that went on meanwhile stands elsewhere or waits for
    something else: at a send step only this wait is a light one."""
    wanted = Q(pk__in=[])
    for execution_id, node_id, cycle in steps:
        wanted |= Q(pk=execution_id, current_node_id=node_id, cycle=cycle)
    waiting = WorkflowExecution.objects.filter(wanted, status=ExecutionStatus.WAITING, consumes_budget=False)
    waiting.update(next_run_at=now, wake_at=now, revision=F("revision") + 1)


def told_late(answers: Sequence[Answer], now: datetime) -> None:
    """Answers that the database could not take in time are stored now: walks that wait for them are due.

    A message that surely was not sent fails its step for now, once, as after a look at the provider: the
    step's retry rule decides about a new attempt.
    """
    absent = [
        answer.attempt.log_id for answer in answers if answer.fate not in (Fate.ACCEPTED, Fate.IN_DOUBT)
    ]
    settlement.note_absent(absent, now)
    _bring_forward([(step.execution_id, step.node_id, step.cycle)
                    for step in (answer.attempt.step for answer in answers)], now)  # fmt: skip


def _give_back(absent: Sequence[Settled]) -> None:
    """The unit of the day the message was asked for, of every counter it was taken from."""
    campaigns = {one.campaign_id for one in absent if one.campaign_id is not None}
    if not campaigns:
        return
    policies = policy_source().for_campaigns(current_workspace_id(), campaigns)
    units: Counter[tuple[RunPolicyKey, date]] = Counter()
    for one in absent:
        policy = policies.get(one.campaign_id or 0)
        if policy is not None:
            units[(RunPolicyKey.of(policy), policy.day(one.requested_at))] += 1
    counters.give_back(units)

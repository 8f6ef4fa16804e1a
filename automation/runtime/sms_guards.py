"""The guards of an SMS step, in the order they are asked: provider circuit, blacklist, expiry, window."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from automation.action_specs.send_sms import SUBTYPE
from automation.models import WorkflowNode
from automation.runtime import message_checks
from automation.runtime.actions.base import Step
from automation.runtime.guards import register_any_hour, register_guard
from automation.runtime.sms_config import config_of
from automation.states import ExecutionStatus
from blacklist.queries import blocked_values
from engine.types import ActionResult, ActionStatus
from sms import queries as sms_queries

SMS_GUARDS = ("sms_circuit", "sms_blacklist", "sms_expired", "sms_window")


def circuit(steps: Sequence[Step], now: datetime) -> Mapping[int, ActionResult]:
    """While a step's account is closed, or none is ready, nothing is tried and nothing used up."""
    gate = sms_queries.gate(steps[0].policy.workspace_id, now)
    closed = {step.id: gate.closed_until(config_of(step).provider) for step in steps}
    return {
        pk: ActionResult(status=ActionStatus.DEFERRED, reason="provider", until=until)
        for pk, until in closed.items()
        if until is not None
    }


def blacklist(steps: Sequence[Step], now: datetime) -> Mapping[int, ActionResult]:  # noqa: ARG001
    """The live number is asked for, at the moment of sending, under the contact lock."""
    numbers = {step.id: step.subject.contacts.get("sms", "") for step in steps}
    blocked = blocked_values(steps[0].policy.workspace_id, "sms", {n for n in numbers.values() if n})
    result = ActionResult(
        status=ActionStatus.BLOCKED, reason="blacklisted", halt_status=ExecutionStatus.BLACKLISTED
    )
    return {pk: result for pk, number in numbers.items() if number in blocked}


def window(steps: Sequence[Step], now: datetime) -> Mapping[int, ActionResult]:
    """The window may have closed between the claim and now."""
    stopped: dict[int, ActionResult] = {}
    for step in steps:
        opens_at = step.policy.next_open(now)
        if opens_at > now and config_of(step).send_only_in_window:
            stopped[step.id] = ActionResult(status=ActionStatus.DEFERRED, reason="window", until=opens_at)
    return stopped


def any_hour(workflow_id: int) -> Collection[int]:
    """Messages that leave at night too (`send_only_in_window` is off)."""
    nodes = WorkflowNode.objects.filter(
        version__workflow_id=workflow_id, subtype=SUBTYPE, config__send_only_in_window=False
    )
    return list(nodes.values_list("pk", flat=True))


def register() -> None:
    register_any_hour(any_hour)
    register_guard("sms_circuit", circuit)
    register_guard("sms_blacklist", blacklist)
    register_guard("sms_expired", message_checks.expired)
    register_guard("sms_window", window)

"""What would become of somebody's next step if it were worked at its moment: the worker's own questions,
asked without doing anything. Pages that explain why somebody waits stand on this and on nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from automation.action_specs.send_sms import SUBTYPE
from automation.definition_cache import VersionEntry, compiled
from automation.models import WorkflowExecution
from automation.runtime import facts, guards, message_checks
from automation.runtime.actions.base import Reserved, Step
from automation.runtime.actions.send_sms import draft_of
from automation.runtime.policy import RunPolicy
from automation.runtime.rows import Row
from automation.runtime.sms_guards import SMS_GUARDS
from automation.runtime.subjects import Subject
from engine.graph import ActionNode, ClockWaitNode, EventWaitNode, Node, WaitNode
from engine.types import Perform, Port, Position
from sms import queries as sms_queries
from sms import sending
from sms.channel import Channel
from sms.models import SmsStatus
from sms.sending import StepKey


class Ahead(NamedTuple):
    """The message somebody comes to next without any branch in between, and when at the earliest."""

    node_id: int
    node: ActionNode
    at: datetime


class Foreseen(NamedTuple):
    """`reason` is "" for a message that would leave; `until` is set where it would wait."""

    reason: str
    until: datetime | None = None
    text: str = ""


def message_ahead(row: WorkflowExecution, now: datetime) -> Ahead | None:
    """The message at or right behind the execution's step; None when a branch, another step or an unknown
    event lies before it."""
    entry = compiled(row.workflow_version_id)
    key = entry.node_keys[row.current_node_id]
    node = entry.graph.nodes.get(key)
    if isinstance(node, (WaitNode, ClockWaitNode)):
        key, node = _behind(entry, key)
    if not isinstance(node, ActionNode) or node.action != SUBTYPE or not node.is_enabled:
        return None
    if row.is_holdout and node.reaches_out:
        return None
    due = row.next_run_at or now
    return Ahead(entry.node_ids[key], node, max(due, now))


def _behind(entry: VersionEntry, key: str) -> tuple[str, Node | EventWaitNode | None]:
    behind = entry.graph.successor(key, Port.DEFAULT) or ""
    return behind, entry.graph.nodes.get(behind)


def foresee(
    ahead: Sequence[tuple[WorkflowExecution, Ahead]],
    subjects: Mapping[int, Subject],
    policies: Mapping[int, RunPolicy],
    at: datetime,
) -> dict[int, Foreseen]:
    """What the guards and checks of a message would say at `at`, by execution id.

    One workspace. Subjects by subject id, policies by campaign id; whose subject is gone is left out. A
    constant number of queries; reads only.
    """
    steps = [
        _step(row, one, subjects[row.subject_id], policies[row.campaign_id])
        for row, one in ahead
        if row.subject_id in subjects
    ]
    return _ask(steps, at) if steps else {}


def _step(row: WorkflowExecution, ahead: Ahead, subject: Subject, policy: RunPolicy) -> Step:
    position = Position(node=ahead.node.key, cycle=row.cycle, eligible_at=ahead.at)
    if row.current_node_id == ahead.node_id:
        position = position._replace(eligible_at=row.eligible_at)
    columns = Row._make(getattr(row, name) for name in Row._fields)
    return Step(
        id=row.pk, execution=columns, perform=Perform(position, ahead.node.action, ahead.node.config),
        node_id=ahead.node_id, subject=subject,
        facts=facts.FactSheet.of([policy]).facts(columns, subject, policy), policy=policy,
    )  # fmt: skip


def _ask(steps: Sequence[Step], at: datetime) -> dict[int, Foreseen]:
    with sms_queries.one_moment():
        stopped = guards.ask(SMS_GUARDS, steps, at)
        found = {pk: Foreseen(result.reason, result.until) for pk, result in stopped.items()}
        passing = [step for step in steps if step.id not in stopped]
        if not passing:
            return found
        channel = Channel.load(passing[0].policy.workspace_id)
    keys = {step.id: StepKey(step.id, step.perform.position.cycle, step.node_id) for step in passing}
    history = sending.attempts_of(keys.values())
    later = Reserved()
    drafts = [draft_of(step, history, channel, at) for step in passing]
    for draft in message_checks.ask(drafts, passing, channel, later, at):
        leaves = draft.status == SmsStatus.SENDING
        found[draft.step.execution_id] = Foreseen("" if leaves else draft.error_code, None, draft.text)
    found |= {pk: Foreseen(result.reason, result.until) for pk, result in later.results.items()}
    return found

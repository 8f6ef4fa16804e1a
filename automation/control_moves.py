"""What a person may do with one execution: from its row to a move, or to why not. Writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from automation.definition_cache import compiled
from automation.models import WorkflowExecution
from automation.runtime.chunk import position_of
from automation.states import CLAIMABLE, CLAIMED, EDGES, EndReason, ExecutionEventType, ExecutionStatus
from engine.types import Position
from engine.walk import retry_position, start_position

S = ExecutionStatus


class Operation(StrEnum):
    PAUSE = "pause"
    RESUME = "resume"
    REMOVE = "remove"
    RESTART = "restart"  # a new cycle from the first step
    RETRY_STEP = "retry_step"  # the step that failed, once more


class Reason(StrEnum):
    """Why an execution was left as it is."""

    IN_WORK = "in_work"
    ILLEGAL = "illegal_change"
    CHANGED = "changed_meanwhile"
    BLOCKED = "number_blocked"
    ALREADY_LIVE = "already_live"
    CAMPAIGN_OVER = "campaign_over"
    NOT_FOUND = "not_found"


TEXTS: Final = {
    Reason.IN_WORK: _("This person's step is being worked on right now; try again in a moment."),
    Reason.ILLEGAL: _("This cannot be done in the state the person is in now."),
    Reason.CHANGED: _("The person moved on meanwhile; look again before you decide."),
    Reason.BLOCKED: _("The number is still on the blacklist; take it off the list first."),
    Reason.ALREADY_LIVE: _("The person is on their way in this campaign already."),
    Reason.CAMPAIGN_OVER: _("The campaign is over; nobody can go on in it."),
    Reason.NOT_FOUND: _("There is no such person in this campaign."),
}

# From where each operation starts. What a worker holds is the worker's until it lets go: a message may be
# on its way. Someone only waiting in line can still be removed; the worker then finds nothing to do.
SOURCES: Final[Mapping[Operation, frozenset[str]]] = {
    Operation.PAUSE: CLAIMABLE,
    Operation.RESUME: frozenset({S.PAUSED, S.BLACKLISTED}),
    Operation.REMOVE: frozenset({S.PENDING, S.ACTIVE, S.WAITING, S.QUEUED, S.PAUSED, S.BLACKLISTED}),
    Operation.RESTART: frozenset({S.COMPLETED, S.FAILED}),
    Operation.RETRY_STEP: frozenset({S.FAILED}),
}
EVENTS: Final[Mapping[Operation, str]] = {
    Operation.PAUSE: ExecutionEventType.PAUSED,
    Operation.RESUME: ExecutionEventType.RESUMED,
    Operation.REMOVE: ExecutionEventType.REMOVED,
    Operation.RESTART: ExecutionEventType.RESTARTED,
    Operation.RETRY_STEP: ExecutionEventType.RESTARTED,
}
GOING_ON: Final = frozenset({Operation.RESUME, Operation.RESTART, Operation.RETRY_STEP})


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What a decision depends on besides the row: who is blocked, who is live, which campaign is over."""

    now: datetime
    blocked: frozenset[int] = frozenset()
    live_subjects: set[tuple[int, str, int]] = field(default_factory=set)
    over: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class HandMove:
    """One legal move: `columns` are the values that change with the status."""

    row: WorkflowExecution
    to: str
    columns: Mapping[str, Any]
    data: Mapping[str, Any] = field(default_factory=dict)


def subject_key(row: WorkflowExecution) -> tuple[int, str, int]:
    """Of these at most one is live."""
    return row.campaign_id, row.subject_type, row.subject_id


def allowed(row: WorkflowExecution) -> list[Operation]:
    """What the row's state alone permits, in the order the buttons stand."""
    return [operation for operation in Operation if row.status in SOURCES[operation]]


def decide(row: WorkflowExecution, operation: Operation, given: Circumstances) -> HandMove | Reason:
    """The move of `row`, or why there is none. A move that brings somebody back counts them as live."""
    if row.status not in SOURCES[operation]:
        return Reason.IN_WORK if row.status in CLAIMED else Reason.ILLEGAL
    if operation in GOING_ON and row.campaign_id in given.over:
        return Reason.CAMPAIGN_OVER
    if operation is Operation.RESUME and row.pk in given.blocked:
        return Reason.BLOCKED
    returns = operation in GOING_ON and row.active_key is None
    if returns and subject_key(row) in given.live_subjects:
        return Reason.ALREADY_LIVE
    move = _MAKERS[operation](row, given.now)
    assert move.to in EDGES[row.status], f"{row.status} may not become {move.to}"
    if returns:
        given.live_subjects.add(subject_key(row))
    return move


def _pause(row: WorkflowExecution, now: datetime) -> HandMove:
    return HandMove(row=row, to=S.PAUSED, columns={"paused_at": now, "paused_from_status": row.status})


def _resume(row: WorkflowExecution, now: datetime) -> HandMove:
    """Back to where they stood; whoever became due meanwhile is due now."""
    columns: dict[str, Any] = {"paused_at": None, "paused_from_status": "", "last_error": "", "active_key": 1}
    to = S.WAITING if row.paused_from_status == S.WAITING else S.ACTIVE
    again = now if row.waiting_event else row.next_run_at  # what they wait for may have come meanwhile
    due = {"next_run_at": again or now, "eligible_at": row.eligible_at or now}
    return HandMove(row=row, to=to, columns={**columns, **due})


def _remove(row: WorkflowExecution, now: datetime) -> HandMove:
    columns = {
        "active_key": None, "completed_at": now, "end_reason": EndReason.REMOVED_BY_USER, "paused_at": None,
        "paused_from_status": "", "lock_token": None, "locked_at": None,
    }  # fmt: skip
    return HandMove(row=row, to=S.CANCELLED, columns=columns, data={"reason": EndReason.REMOVED_BY_USER})


def _restart(row: WorkflowExecution, now: datetime) -> HandMove:
    """The next cycle, with nothing remembered of the one before; the version stays the same.

    Where a goal or the longest stay counts from the entry, this is one: else they would end it at once.
    """
    graph = compiled(row.workflow_version_id).graph
    position, due = start_position(graph, now, cycle=row.cycle + 1)
    counts_from_entry = bool(graph.events) or graph.leaving is not None
    entered = now if counts_from_entry else row.started_at
    columns = {**_again(row, position, due), "metadata": {}, "started_at": entered}
    return HandMove(
        row=row, to=S.ACTIVE, columns=columns, data={"reason": "first_step", "cycle": position.cycle}
    )


def _retry_step(row: WorkflowExecution, now: datetime) -> HandMove:
    """The same step of the same cycle, its retries counted from zero."""
    entry = compiled(row.workflow_version_id)
    position = retry_position(position_of(row, entry.node_keys[row.current_node_id]), now)
    columns = {**_again(row, position, now), "metadata": row.metadata}
    return HandMove(row=row, to=S.ACTIVE, columns=columns, data={"reason": "same_step"})


def _again(row: WorkflowExecution, position: Position, due: datetime) -> dict[str, Any]:
    entry = compiled(row.workflow_version_id)
    return {
        "active_key": 1, "current_node_id": entry.node_ids[position.node], "cycle": position.cycle,
        "consumes_budget": entry.graph.consumes_budget(position.node), "entered": position.entered,
        "eligible_at": position.eligible_at, "next_run_at": due, "wake_at": position.wake_at,
        "retry_count": position.retries, "steps_since_wait": position.steps_since_wait,
        "last_action": position.last_action, "variant": position.variant,
        "is_holdout": position.is_holdout, "waiting_event": "", "failures": 0, "suspected_at": None,
        "completed_at": None, "end_reason": "", "last_error": "",
    }  # fmt: skip


_MAKERS: Final[Mapping[Operation, Callable[[WorkflowExecution, datetime], HandMove]]] = {
    Operation.PAUSE: _pause,
    Operation.RESUME: _resume,
    Operation.REMOVE: _remove,
    Operation.RESTART: _restart,
    Operation.RETRY_STEP: _retry_step,
}

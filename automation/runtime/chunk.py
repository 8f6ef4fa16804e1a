"""A chunk's two transactions: what is decided and written before the outside is called, and after.

    begin    take the chunk by its token, walk every execution in memory, ask the guards, reserve budget and
             write the message rows of those that act, move the others on
    finish   record each result once, walk on with it, move the executions on by the token

A constant number of statements each. Callers own the transactions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog

from automation import transitions
from automation.definition_cache import VersionEntry, compiled
from automation.runtime import event_waits, suspects
from automation.runtime import facts as fact_sheet
from automation.runtime.actions.base import RECONCILE, Reserved, Step, runtime_action
from automation.runtime.events import EventLine, event_row, store, trace_rows
from automation.runtime.policy import RunPolicy, policy_source
from automation.runtime.rows import Row, Walking, claimed
from automation.runtime.subjects import Subject, load_subjects
from automation.states import EndReason, ExecutionEventType, ExecutionStatus
from automation.subject_events import Known
from automation.transitions import Move
from core import clock
from core.failpoints import failpoint
from engine.types import ActionResult, Facts, Finish, Park, Perform, Position, Walk, Yield
from engine.walk import walk

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Chunk:
    """What is known of the executions taken, between the two transactions."""

    workspace_id: int
    now: datetime
    executions: dict[int, Row]
    entries: dict[int, VersionEntry]
    policies: Mapping[int, RunPolicy]
    subjects: Mapping[tuple[str, int], Subject]
    known: Known = field(default_factory=dict)
    steps: dict[int, Step] = field(default_factory=dict)
    reserved: dict[str, Reserved] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    events: list[EventLine] = field(default_factory=list)

    def entry(self, row: Walking) -> VersionEntry:
        return self.entries[row.workflow_version_id]

    def subject(self, row: Walking) -> Subject | None:
        return self.subjects.get((row.subject_type, row.subject_id))


def position_of(row: Walking, node_key: str) -> Position:
    """The stored position of an execution."""
    return Position(
        node=node_key,
        cycle=row.cycle,
        entered=row.entered,
        eligible_at=row.eligible_at,
        retries=row.retry_count,
        steps_since_wait=row.steps_since_wait,
        last_action=row.last_action,
        wake_at=row.wake_at,
        variant=row.variant,
        is_holdout=row.is_holdout,
    )


def begin(workspace_id: int, ids: list[int], token: UUID, *, taken: bool = False) -> Chunk | None:
    """Transaction 1. Contacts are locked before executions: the one lock order of the product."""
    now = clock.now()
    rows = {row.id: row for row in claimed(workspace_id, ids, token, taken=taken)}
    if not rows:
        return None
    if not taken:
        suspects.part(rows.values())
    subjects = load_subjects(workspace_id, [(row.subject_type, row.subject_id) for row in rows.values()])
    fact_sheet.lock_subject_contacts(workspace_id, subjects.values(), exclusive=True)
    mine = suspects.hold(list(rows), token) if taken else transitions.take(list(rows), token, now)
    rows = {pk: row for pk, row in rows.items() if pk in mine}
    policies = policy_source().for_campaigns(workspace_id, {row.campaign_id for row in rows.values()})
    entries = {pk: compiled(pk) for pk in {row.workflow_version_id for row in rows.values()}}
    chunk = Chunk(
        workspace_id=workspace_id, now=now, executions=rows, entries=entries, policies=policies,
        subjects=subjects,
    )  # fmt: skip
    _leave_frozen(chunk, token)
    chunk.known = event_waits.known_events(workspace_id, chunk.executions.values(), chunk.entry, now)
    sheet = fact_sheet.FactSheet.of(policies.values())
    for row in chunk.executions.values():
        _first_walk(chunk, row, sheet)
    _reserve(chunk, token)
    transitions.apply_moves(chunk.moves, token)
    store(chunk.events)
    chunk.moves, chunk.events = [], []
    return chunk


def _leave_frozen(chunk: Chunk, token: UUID) -> None:
    """Executions whose campaign is frozen go back unsent; those of an ended one are cancelled."""
    frozen: list[int] = []
    for pk, row in list(chunk.executions.items()):
        policy = chunk.policies.get(row.campaign_id)
        if policy is not None and policy.running and policy.automation_enabled:
            continue
        del chunk.executions[pk]
        if policy is not None and policy.ended_reason:
            _end(chunk, row, ExecutionStatus.CANCELLED, policy.ended_reason)
        else:
            frozen.append(pk)
    if frozen:
        transitions.put_back(frozen, token)


def _end(chunk: Chunk, row: Row, status: str, reason: str, event: str = "") -> None:
    entry = chunk.entry(row)
    chunk.moves.append(
        Move(
            execution_id=row.pk, to=status, position=position_of(row, entry.node_keys[row.current_node_id]),
            node_id=row.current_node_id, consumes_budget=row.consumes_budget, at=chunk.now, end_reason=reason,
        )
    )  # fmt: skip
    chunk.events.append(
        event_row(row, event or status, chunk.now, node_id=row.current_node_id, data={"reason": reason})
    )


def _first_walk(chunk: Chunk, row: Row, sheet: fact_sheet.FactSheet) -> None:
    failpoint("in_walk", row.pk)
    subject, policy, entry = chunk.subject(row), chunk.policies[row.campaign_id], chunk.entry(row)
    if subject is None:
        _end(chunk, row, ExecutionStatus.CANCELLED, EndReason.TARGET_REMOVED)
        return
    if policy.stops(subject.status):
        _end(
            chunk,
            row,
            ExecutionStatus.CANCELLED,
            EndReason.TARGET_STATUS_CHANGED,
            ExecutionEventType.STATUS_STOP,
        )
        return
    facts = sheet.facts(row, subject, policy)
    position = position_of(row, entry.node_keys[row.current_node_id])
    if entry.graph.events:
        arrivals = event_waits.arrivals_of(chunk.known, row)
        facts = event_waits.with_events(facts, arrivals, entry.graph, position, chunk.now)
    outcome = _walk_on(chunk, row, position, facts, None)
    if isinstance(outcome, Perform):
        chunk.steps[row.id] = Step(
            id=row.id, execution=row, perform=outcome, node_id=entry.node_ids[outcome.position.node],
            subject=subject, facts=facts, policy=policy,
        )  # fmt: skip


def _walk_on(
    chunk: Chunk, row: Row, position: Position, facts: Facts, result: ActionResult | None
) -> Perform | None:
    """Walk and turn the outcome into a move and its lines; a `Perform` is handed back to the caller."""
    entry = chunk.entry(row)
    done: Walk = walk(entry.graph, position, facts, chunk.now, result)
    chunk.events += trace_rows(row, done.trace, entry.node_ids)
    if isinstance(done.outcome, Perform) and result is None:
        return done.outcome
    chunk.moves.append(_move(chunk, row, done, facts))
    return None


def _move(chunk: Chunk, row: Row, done: Walk, facts: Facts) -> Move:
    entry, outcome = chunk.entry(row), done.outcome
    common: dict[str, Any] = {
        "execution_id": row.pk,
        "position": outcome.position,
        "node_id": entry.node_ids[outcome.position.node],
        "consumes_budget": entry.graph.consumes_budget(
            outcome.position.node, is_holdout=outcome.position.is_holdout
        ),
        "at": chunk.now,
    }
    match outcome:
        case Park(until=until, reason=reason, clears_metadata=clears, event=event):
            common |= {"clears_metadata": clears, "is_retry": reason == "retry", "event": event}
            if reason == RECONCILE:  # it waits for an answer, not for budget or hours
                common["consumes_budget"] = False
            if event:
                arrivals = event_waits.arrivals_of(chunk.known, row)
                until = event_waits.due_at(outcome, arrivals, entry.graph, facts, chunk.now)
            return Move(to=ExecutionStatus.WAITING, next_run_at=until, **common)
        case Yield(due=due):
            return Move(to=ExecutionStatus.ACTIVE, next_run_at=due, **common)
        case Finish(status=status, reason=reason):
            return Move(
                to=status, next_run_at=_after_finish(status, chunk.now), **_ending(status, reason), **common
            )
        case Perform(position=position):
            # A second action in one task goes back to the scheduler: guards and order have one place.
            due = position.eligible_at or chunk.now
            return Move(to=ExecutionStatus.ACTIVE, next_run_at=due, **common)


def _after_finish(status: str, now: datetime) -> datetime | None:
    """A halted or held execution keeps a due moment, so that a resume makes it claimable at once."""
    return now if status in (ExecutionStatus.PAUSED, ExecutionStatus.BLACKLISTED) else None


def _ending(status: str, reason: str) -> dict[str, Any]:
    if status in (ExecutionStatus.PAUSED, ExecutionStatus.BLACKLISTED):
        return {"last_error": reason}
    if reason in EndReason.values:
        return {"end_reason": reason, "last_error": reason if status == ExecutionStatus.FAILED else ""}
    return {"end_reason": EndReason.FAILED if status == ExecutionStatus.FAILED else EndReason.FINISHED,
            "last_error": reason}  # fmt: skip


def _reserve(chunk: Chunk, token: UUID) -> None:
    by_action: dict[str, list[Step]] = {}
    for step in chunk.steps.values():
        by_action.setdefault(step.perform.action, []).append(step)
    for subtype, steps in by_action.items():
        reserved = runtime_action(subtype).reserve(steps, token, chunk.now)
        chunk.reserved[subtype] = reserved
        _note(chunk, reserved.events)
        for pk, result in reserved.results.items():
            step = chunk.steps.pop(pk)
            _walk_on(chunk, step.execution, step.perform.position, step.facts, result)


def _note(chunk: Chunk, notes: Mapping[int, Sequence[tuple[str, Mapping[str, Any]]]]) -> None:
    for pk, lines in notes.items():
        row = chunk.executions[pk]
        node_id = chunk.steps[pk].node_id
        chunk.events += [event_row(row, kind, chunk.now, node_id=node_id, data=data) for kind, data in lines]


def finish(chunk: Chunk, answers: Mapping[str, Sequence[Any]], token: UUID) -> None:
    """Transaction 2."""
    chunk.now, chunk.moves, chunk.events = clock.now(), [], []
    for subtype, given in answers.items():
        for pk, result in runtime_action(subtype).results(given, chunk.now).items():
            step = chunk.steps[pk]
            _walk_on(chunk, step.execution, step.perform.position, step.facts, result)
    walked, chunk.events = chunk.events, []
    # Executions before messages, as everywhere: a worker that took them over meanwhile waits, or we do.
    moved = transitions.apply_moves(chunk.moves, token)
    failpoint("mid_record_tx")
    retries = _retries(chunk.moves)
    for subtype, given in answers.items():
        _note(chunk, runtime_action(subtype).record(given, retries, chunk.now))
    # What became of a message is told even when its execution has gone on without this worker.
    store([*chunk.events, *(event for event in walked if event.execution_id in moved)])
    if len(moved) < len(chunk.moves):
        log.warning("lease_lost", count=len(chunk.moves) - len(moved))


def _retries(moves: Sequence[Move]) -> dict[int, datetime]:
    """When each step that failed for now is tried again."""
    return {
        move.execution_id: move.next_run_at
        for move in moves
        if move.is_retry and move.next_run_at is not None
    }

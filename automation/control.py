"""What people do with single executions and selections of them, through the one state machine.

Each call is one transaction. It takes its locks in the product's order (contacts, campaigns, executions),
reads the rows as they stand then and moves exactly those that may be moved; a worker that holds one keeps
it, a worker that comes later finds its token gone. Rights and visibility are the view's business;
everything runs inside `workspace_scope`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from automation import audit_events, transitions
from automation.control_moves import (
    EVENTS,
    GOING_ON,
    TEXTS,
    Circumstances,
    HandMove,
    Operation,
    Reason,
    decide,
)
from automation.models import WorkflowExecution
from automation.runtime.events import event_row, store
from automation.runtime.facts import lock_subject_contacts
from automation.runtime.policy import policy_source
from automation.runtime.subjects import Subject, load_subjects
from automation.states import ExecutionStatus
from blacklist.queries import blocked_values
from core import clock
from core.errors import NotFound, Refused
from core.tenancy import current_workspace_id
from workspaces import audit
from workspaces.models import User

CAMPAIGN: Final = "campaigns.campaign"
MAX_SELECTION: Final = 5000
TRIES: Final = 5

AUDITED: Final[Mapping[Operation, str]] = {
    Operation.PAUSE: audit_events.PERSON_PAUSED,
    Operation.RESUME: audit_events.PERSON_RESUMED,
    Operation.REMOVE: audit_events.PERSON_REMOVED,
    Operation.RESTART: audit_events.PERSON_RESTARTED,
    Operation.RETRY_STEP: audit_events.STEP_RETRIED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a selection: execution id -> new status, and execution id -> why it stayed."""

    done: Mapping[int, str]
    refused: Mapping[int, Reason]

    def reasons(self) -> Counter[Reason]:
        """How many stayed for which reason."""
        return Counter(self.refused.values())


def change(
    execution_id: int, operation: Operation, *, user: User | None, revision: int | None = None
) -> WorkflowExecution:
    """Do `operation` with one execution; returns it as it is afterwards.

    `revision` is the one the caller saw: when the row moved on since, nothing happens. Raises NotFound,
    or Refused with a `Reason` as its code and `status_now`.
    """
    for _try in range(TRIES):
        try:
            with transaction.atomic():
                outcome = _apply([execution_id], operation, user, seen={execution_id: revision})
                if outcome.done:
                    _audit_one(execution_id, operation, outcome, user)
        except IntegrityError:  # somebody let the same person in at this very moment: look again
            continue
        break
    else:
        outcome = Outcome(done={}, refused={execution_id: Reason.ALREADY_LIVE})
    row = WorkflowExecution.objects.filter(pk=execution_id).first()
    if row is None:
        raise NotFound(_("There is no such person in this campaign."))
    if reason := outcome.refused.get(execution_id):
        raise Refused(TEXTS[reason], code=str(reason), status_now=row.status)
    return row


def change_many(campaign_id: int, ids: Sequence[int], operation: Operation, *, user: User | None) -> Outcome:
    """Do `operation` with those of `ids` that belong to the campaign and may be moved; skip the others.

    All in one transaction with one row in the audit log; without ids there is nothing to log.
    Raises Refused (`too_many`) above MAX_SELECTION.
    """
    wanted = list(dict.fromkeys(ids))
    if len(wanted) > MAX_SELECTION:
        raise Refused(_("Choose fewer people at once."), code="too_many", limit=MAX_SELECTION)
    if not wanted:
        return Outcome(done={}, refused={})
    for _try in range(TRIES):
        try:
            with transaction.atomic():
                outcome = _apply(wanted, operation, user, campaign_id=campaign_id)
                _audit_many(campaign_id, operation, outcome, user)
        except IntegrityError:
            continue
        return outcome
    raise Refused(TEXTS[Reason.CHANGED], code=str(Reason.CHANGED))


def change_part(campaign_id: int, ids: Sequence[int], operation: Operation, *, user: User | None) -> Outcome:
    """`change_many` for one part of a larger selection, in the caller's transaction and without its line in
    the audit log. Raises IntegrityError when somebody lets one of them in at this very moment."""
    return _apply(ids, operation, user, campaign_id=campaign_id)


def _apply(
    ids: Sequence[int],
    operation: Operation,
    user: User | None,
    *,
    campaign_id: int | None = None,
    seen: Mapping[int, int | None] | None = None,
) -> Outcome:
    rows, given = _locked(ids, operation, campaign_id)
    refused = dict.fromkeys((pk for pk in ids if pk not in rows), Reason.NOT_FOUND)
    moves: list[HandMove] = []
    for pk, row in rows.items():
        stale = seen is not None and seen[pk] not in (None, row.revision)
        decision = Reason.CHANGED if stale else decide(row, operation, given)
        if isinstance(decision, HandMove):
            moves.append(decision)
        else:
            refused[pk] = decision
    _carry_out(moves, operation, user, given.now)
    return Outcome(done={move.row.pk: move.to for move in moves}, refused=refused)


def _locked(
    ids: Collection[int], operation: Operation, campaign_id: int | None
) -> tuple[dict[int, WorkflowExecution], Circumstances]:
    """The rows, held until the transaction ends, and what the decisions depend on. Constant queries."""
    mine = WorkflowExecution.objects.filter(pk__in=ids)
    if campaign_id is not None:
        mine = mine.filter(campaign_id=campaign_id)
    subjects: Mapping[tuple[str, int], Subject] = {}
    if operation is Operation.RESUME:
        halted = mine.filter(status=ExecutionStatus.BLACKLISTED).values_list("subject_type", "subject_id")
        subjects = load_subjects(current_workspace_id(), list(halted))
        lock_subject_contacts(current_workspace_id(), subjects.values())
    campaigns = _lock_campaigns(mine) if operation in GOING_ON else set()
    held = mine.select_for_update(of=("self",), no_key=True).order_by("pk")
    rows = {row.pk: row for row in held}
    now = clock.now()
    if operation not in GOING_ON:
        return rows, Circumstances(now=now)
    return rows, Circumstances(
        now=now,
        blocked=_blocked(rows.values(), subjects),
        live_subjects=_live(rows.values()),
        over=_over(campaigns),
    )


def _lock_campaigns(rows: Any) -> set[int]:
    """Hold the campaigns, so that an ending or an enrolment is either seen or waits."""
    held = rows.select_related("campaign").select_for_update(of=("campaign",), no_key=True)
    return {row.campaign_id for row in held.order_by("campaign_id")}


def _over(campaigns: set[int]) -> frozenset[int]:
    policies = policy_source().for_campaigns(current_workspace_id(), campaigns)
    return frozenset(pk for pk in campaigns if pk not in policies or policies[pk].ended_reason)


def _blocked(
    rows: Collection[WorkflowExecution], subjects: Mapping[tuple[str, int], Subject]
) -> frozenset[int]:
    """Executions stopped by the blacklist whose live number is on it still."""
    numbers = {
        row.pk: subject.contacts.get("sms", "")
        for row in rows
        if row.status == ExecutionStatus.BLACKLISTED
        and (subject := subjects.get((row.subject_type, row.subject_id)))
    }
    values = {number for number in numbers.values() if number}
    blocked = blocked_values(current_workspace_id(), "sms", values) if values else set()
    return frozenset(pk for pk, number in numbers.items() if number in blocked)


def _live(rows: Collection[WorkflowExecution]) -> set[tuple[int, str, int]]:
    """Who of these people is on a live walk of these campaigns."""
    found = WorkflowExecution.objects.filter(
        campaign_id__in={row.campaign_id for row in rows},
        subject_id__in={row.subject_id for row in rows},
        active_key=1,
    )
    return set(found.values_list("campaign_id", "subject_type", "subject_id"))


def _carry_out(moves: Sequence[HandMove], operation: Operation, user: User | None, now: datetime) -> None:
    by_shape: dict[tuple[str, str], list[HandMove]] = {}
    for move in moves:
        by_shape.setdefault((move.row.status, move.to), []).append(move)
    for (source, to), alike in by_shape.items():
        columns = {move.row.pk: move.columns for move in alike}
        moved = transitions.move_held(columns, source=source, to=to, now=now)
        if len(moved) != len(alike):
            raise RuntimeError("a locked execution changed under its lock")
    actor_id = user.pk if user else None
    store(
        [
            event_row(
                move.row, EVENTS[operation], now, node_id=move.row.current_node_id, data=move.data,
                actor_id=actor_id,
            )
            for move in moves
        ]
    )  # fmt: skip


def _audit_one(execution_id: int, operation: Operation, outcome: Outcome, user: User | None) -> None:
    status = outcome.done[execution_id]
    entity = (WorkflowExecution, execution_id)
    audit.record(AUDITED[operation], entity=entity, new={"status": str(status)}, user=user)


def _audit_many(campaign_id: int, operation: Operation, outcome: Outcome, user: User | None) -> None:
    counts = {"changed_people": len(outcome.done), "unchanged_people": len(outcome.refused)}
    audit.record(AUDITED[operation], entity=(CAMPAIGN, campaign_id), new=counts, user=user)

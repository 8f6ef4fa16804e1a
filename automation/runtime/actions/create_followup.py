"""The follow-up step: activities for the whole chunk, in the transaction that moves its executions on.

Nothing outside is touched, so recording and moving on are one commit: a worker that dies in between has
recorded nothing. The stamp (execution, node, cycle) refuses a second activity of the same visit whoever
asks. No guard, no budget and no hours apply, and the person is not changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from automation.action_specs.create_followup import SUBTYPE, FollowupConfig, read
from automation.runtime.actions.base import Reserved, Step
from automation.states import ExecutionEventType
from core.failpoints import failpoint
from core.statements import read as read_columns
from engine.types import ActionResult, ActionStatus
from engine.zones import zone
from targets import activities
from targets.activities import Recorded
from targets.models import Target

Notes = dict[int, list[tuple[str, Mapping[str, Any]]]]
PERSON = "target"


class CreateFollowup:
    """`automation.runtime.actions.base.RuntimeAction` for `create_followup`. Two statements a chunk."""

    subtype = SUBTYPE

    def reserve(self, steps: Sequence[Step], token: UUID, now: datetime) -> Reserved:  # noqa: ARG002
        done = Reserved()
        people = [step for step in steps if step.execution.subject_type == PERSON]
        wanted = _wanted(people, now)
        if wanted:
            made = activities.record(people[0].policy.workspace_id, list(wanted.values()))
            failpoint("followup_tx")
            for pk, one in wanted.items():
                if one.source in made:
                    done.note(pk, ExecutionEventType.FOLLOWUP, _line(one, made[one.source]))
        for step in steps:
            done.results[step.id] = ActionResult(status=ActionStatus.SUCCESS)
        for pk in {step.id for step in steps} - set(wanted):
            done.results[pk] = ActionResult(status=ActionStatus.SKIPPED, reason="no_person")
        return done

    def call(self, calls: Sequence[Any], deadline: float) -> Sequence[Any]:  # noqa: ARG002
        return []

    def results(self, answers: Sequence[Any], now: datetime) -> dict[int, ActionResult]:  # noqa: ARG002
        return {}

    def abandon(self, execution_ids: Sequence[int], now: datetime) -> Notes:  # noqa: ARG002
        return {}

    def record(
        self, answers: Sequence[Any], retry_at: Mapping[int, datetime], now: datetime  # noqa: ARG002
    ) -> Notes:  # fmt: skip
        return {}


def _wanted(steps: Sequence[Step], now: datetime) -> dict[int, Recorded]:
    """The activity of each execution, for the owners as they are now. One query."""
    if not steps:
        return {}
    ids = [step.subject.id for step in steps]
    owners = dict(
        read_columns(Target, ("id", "owner_id"), {"id": ids}, workspace_id=steps[0].policy.workspace_id)
    )
    configs: dict[int, FollowupConfig] = {}
    for step in steps:
        if step.node_id not in configs:
            configs[step.node_id] = read(step.perform.config)
    return {step.id: _one(step, configs[step.node_id], owners.get(step.subject.id), now) for step in steps}


def _one(step: Step, config: FollowupConfig, owner_id: int | None, now: datetime) -> Recorded:
    title, description = config.texts(step.facts)
    return Recorded(
        source=stamp(step.id, step.node_id, step.perform.position.cycle),
        target_id=step.subject.id,
        kind=config.kind,
        title=title,
        description=description,
        due_at=config.due_at(now, zone(step.policy.timezone)),
        owner_id=owner_id,
    )


def stamp(execution_id: int, node_id: int, cycle: int) -> str:
    """What names one visit of one execution to one step, for ever."""
    return f"step:{execution_id}/{node_id}/{cycle}"


def _line(one: Recorded, activity_id: int) -> Mapping[str, Any]:
    return {"activity_id": activity_id, "kind": one.kind, "due": one.due_at.isoformat()}

"""One page of a review: the people of a group, and for conflicts where they are now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from automation.models import WorkflowExecution
from automation.panels import step_name
from campaigns.enrollment import planner
from campaigns.enrollment.decisions import Answer, Decisions
from campaigns.enrollment.planner import Group
from campaigns.models import CampaignKind, EnrollmentBatch
from core import clock
from targets.models import Target
from targets.queries import subjects_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """Another walk of the same person."""

    campaign_id: int
    campaign: str
    workflow: str
    step: str
    status: str
    status_label: str
    next_at: datetime | None
    in_line: bool  # due already; a past time tells nothing
    blocks: bool  # only list campaigns need a decision
    execution_id: int = 0
    revision: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.execution_id,
            "revision": self.revision,
            "campaign": {"id": self.campaign_id, "name": self.campaign},
            "workflow": self.workflow,
            "step": self.step,
            "status": self.status,
            "next_at": self.next_at.isoformat() if self.next_at else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One person of a group. `target` is None for somebody who no longer exists."""

    id: int
    target: Target | None
    others: tuple[Elsewhere, ...] = ()
    answer: Answer | None = None  # their own decision
    effective: Answer | None = None  # with the default


def ids_of(batch: EnrollmentBatch, group: str) -> list[int]:
    """The ids of one group as of the review, in the order of the selection."""
    if group != Group.READY:
        return list(batch.plan.get(group, []))
    elsewhere = {pk for ids in batch.plan.values() for pk in ids}
    return [pk for pk in batch.subject_ids if pk not in elsewhere]


def rows(batch: EnrollmentBatch, group: str, ids: Sequence[int], decisions: Decisions) -> list[Row]:
    """The given people of a group. One query, two for conflicts."""
    people = subjects_for(batch.workspace_id, ids)
    others = elsewhere_of(ids, batch.campaign_id) if group == Group.CONFLICT else {}
    return [
        Row(
            id=pk,
            target=people.get(pk),
            others=tuple(others.get(pk, ())),
            answer=decisions.overrides.get(pk),
            effective=decisions.answer(pk),
        )
        for pk in ids
    ]


def elsewhere_of(ids: Sequence[int], campaign_id: int | None = None) -> dict[int, list[Elsewhere]]:
    """The live walks of these people, outside the given campaign; the one that moves next comes first."""
    live = (
        planner.live_executions(ids).exclude(campaign_id=campaign_id)
        if campaign_id
        else planner.live_executions(ids)
    )
    now = clock.now()
    found: dict[int, list[Elsewhere]] = {}
    for execution in live.select_related("campaign", "workflow", "current_node").order_by(
        "next_run_at", "pk"
    ):
        found.setdefault(execution.subject_id, []).append(_elsewhere(execution, now))
    return found


def _elsewhere(execution: WorkflowExecution, now: datetime) -> Elsewhere:
    node, due = execution.current_node, execution.next_run_at
    return Elsewhere(
        execution_id=execution.pk,
        revision=execution.revision,
        campaign_id=execution.campaign_id,
        campaign=execution.campaign.name,
        workflow=execution.workflow.name,
        step=step_name(node),
        status=execution.status,
        status_label=execution.get_status_display(),
        next_at=due if due is not None and due > now else None,
        in_line=due is not None and due <= now,
        blocks=execution.campaign.kind == CampaignKind.LIST,
    )

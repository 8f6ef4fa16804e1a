"""What a person's removal means for their walks."""

from __future__ import annotations

from collections.abc import Sequence

from automation.models import WorkflowExecution
from automation.states import LIVE, EndReason
from automation.transitions import cancel_for_subjects
from core import clock
from workspaces.models import User


def count_live(workspace_id: int, target_ids: Sequence[int]) -> int:
    """Live walks of these people."""
    rows = WorkflowExecution.objects.filter(workspace_id=workspace_id, subject_type="target")
    return rows.filter(subject_id__in=target_ids, status__in=sorted(LIVE)).count()


def cancel_live(workspace_id: int, target_ids: Sequence[int], user: User | None) -> int:  # noqa: ARG001
    """End them inside the caller's transaction. What a worker holds right now it ends itself."""
    actor_id = user.pk if user else None
    return cancel_for_subjects("target", target_ids, EndReason.TARGET_REMOVED, clock.now(), actor_id=actor_id)

"""Who did what a journey aims at: the goal's event, after the entry and within the goal's days.

It counts also when somebody had passed the goal by then, or left altogether; so it is asked when it is shown,
and nothing has to be kept up to date.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Count, Exists, ExpressionWrapper, OuterRef, Q, QuerySet

from automation.models import NodeKind, WorkflowExecution, WorkflowNode
from automation.states import EndReason
from core.tenancy import UTCDateTimeField, current_workspace_id
from targets.models import TargetEvent

TARGET = "target"


def conversions_by_arm(walks: QuerySet[WorkflowExecution]) -> dict[tuple[bool, str], int]:
    """How many of those whom a split shared out did it, by (held out, variant). Two queries."""
    shared_out = walks.filter(~Q(variant="") | Q(is_holdout=True))
    groups = shared_out.filter(_converted(walks)).values_list("is_holdout", "variant")
    counted = groups.annotate(number=Count("*")).order_by()
    return {(holdout, variant): number for holdout, variant, number in counted}


def _converted(walks: QuerySet[WorkflowExecution]) -> Q:
    """Ended by the goal, or did its event in time; each walk is held to the goals of its own version."""
    versions = walks.order_by().values("workflow_version_id").distinct()
    goals = WorkflowNode.objects.filter(version_id__in=versions, type=NodeKind.GOAL, is_enabled=True)
    done = Q(end_reason=EndReason.GOAL_REACHED)
    for version_id, config in goals.order_by("pk").values_list("version_id", "config"):
        done |= Q(workflow_version_id=version_id, subject_type=TARGET) & Q(_happened(config))
    return done


def _happened(config: dict[str, Any]) -> Exists:
    """The goal's event of the person of a walk; an open window has no end."""
    events = TargetEvent.objects.filter(
        workspace_id=current_workspace_id(), target_id=OuterRef("subject_id"), name=config.get("event"),
        occurred_at__gt=OuterRef("started_at"),
    )  # fmt: skip
    days = config.get("window_days")
    if isinstance(days, int):
        last = ExpressionWrapper(OuterRef("started_at") + timedelta(days=days), UTCDateTimeField())
        events = events.filter(occurred_at__lte=last)
    return Exists(events)

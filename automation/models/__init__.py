from automation.models.definition import (
    AutomationSettings,
    NodeKind,
    VersionStatus,
    Workflow,
    WorkflowEdge,
    WorkflowKind,
    WorkflowNode,
    WorkflowStatus,
    WorkflowTemplate,
    WorkflowVersion,
)
from automation.models.draft_state import DraftState, Stack
from automation.models.execution import (
    CounterScope,
    DailyCounter,
    WorkflowExecution,
    WorkflowExecutionEvent,
)

__all__ = [
    "AutomationSettings",
    "CounterScope",
    "DailyCounter",
    "DraftState",
    "NodeKind",
    "Stack",
    "VersionStatus",
    "Workflow",
    "WorkflowEdge",
    "WorkflowExecution",
    "WorkflowExecutionEvent",
    "WorkflowKind",
    "WorkflowNode",
    "WorkflowStatus",
    "WorkflowTemplate",
    "WorkflowVersion",
]

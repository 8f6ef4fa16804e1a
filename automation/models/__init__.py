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
    "NodeKind",
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

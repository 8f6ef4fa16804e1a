"""What a draft looked like before and after each change, for undo and redo."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from automation.models.definition import WorkflowVersion
from core.tenancy import WorkspaceModel


class Stack(models.TextChoices):
    UNDO = "undo"
    REDO = "redo"


class DraftState(WorkspaceModel):
    """A whole definition of one draft. The newest of a stack has the highest `position`."""

    version = models.ForeignKey(WorkflowVersion, on_delete=models.CASCADE, related_name="states")
    stack = models.CharField(max_length=4, choices=Stack)
    position = models.PositiveIntegerField()
    definition = models.JSONField()
    label = models.CharField(max_length=60)  # which change it undoes: a word, for a step with its key
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["version", "stack", "position"], name="draft_state_position_once"
            ),
            models.CheckConstraint(
                condition=models.Q(stack__in=Stack.values), name="draft_state_stack_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.version_id} {self.stack} {self.position}"

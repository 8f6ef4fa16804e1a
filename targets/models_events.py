"""What happened to people, as journeys may wait for it and ask about it. Imported by `targets.models`."""

from __future__ import annotations

from django.db import models

from core.tenancy import AppendOnlyModel, UTCDateTimeField, WorkspaceModel


class TargetEvent(AppendOnlyModel):
    """Something that happened to a person, once: whoever tells it again under the same key tells nothing.

    `name` and `properties` are written by `targets.events.record` alone, which keeps them within bounds.
    """

    # The index of `Meta` begins with the person; one for the key alone would only cost.
    target = models.ForeignKey("targets.Target", on_delete=models.PROTECT, related_name="+", db_index=False)
    name = models.CharField(max_length=100)
    occurred_at = UTCDateTimeField()
    received_at = UTCDateTimeField()
    properties = models.JSONField(default=dict)  # flat
    source = models.CharField(max_length=30)
    dedupe_key = models.CharField(max_length=100)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "dedupe_key"], name="target_event_once"),
            models.CheckConstraint(
                condition=~models.Q(name="") & ~models.Q(dedupe_key=""), name="target_event_is_named"
            ),
        ]
        indexes = [  # what happened to these people, by name, since: the one question of a walk
            models.Index(fields=["workspace", "target", "name", "occurred_at"], name="target_event_of_person")
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.pk}"


class TargetEventPending(WorkspaceModel):
    """An event that those who wait for it have not been told of. Goes when they were."""

    event = models.OneToOneField(TargetEvent, on_delete=models.PROTECT, related_name="pending")
    due_at = UTCDateTimeField()  # when the sweep may take it, if the queue did not

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="target_event_due")]

    def __str__(self) -> str:
        return f"waiting {self.event_id}"

"""Facts of one step: the subject, the walk, its campaign and workspace as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from automation.models import WorkflowExecution
from automation.runtime.policy import RunPolicy
from automation.runtime.subjects import Subject
from core.locks import lock_contacts
from engine.types import Facts
from workspaces.models import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSheet:
    """What is the same for every execution of a chunk."""

    workspace: Mapping[str, Any]

    @classmethod
    def load(cls, workspace_id: int) -> FactSheet:
        """One query."""
        name = Workspace.objects.filter(pk=workspace_id).values_list("name", flat=True).first()
        return cls(workspace={"name": name or ""})

    def facts(self, row: WorkflowExecution, subject: Subject, policy: RunPolicy) -> Facts:
        return Facts(
            target=subject.facts,
            execution={
                **row.metadata,
                "cycle": row.cycle,
                "started_at": row.started_at,
                "last_action_status": row.last_action,
            },
            campaign={"name": policy.campaign_name},
            workspace=self.workspace,
            workspace_timezone=policy.timezone,
        )


def lock_subject_contacts(workspace_id: int, subjects: Iterable[Subject]) -> None:
    """Share the contacts of these subjects until the transaction ends; a block of one of them waits."""
    values = {value for subject in subjects for value in subject.contacts.values() if value}
    lock_contacts(workspace_id, values, exclusive=False)

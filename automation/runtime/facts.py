"""Facts of one step: the subject, the walk, its campaign and workspace as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from automation.runtime.policy import RunPolicy
from automation.runtime.rows import Walking
from automation.runtime.subjects import Subject
from core.locks import lock_contacts
from engine.types import Facts
from workspaces.models import Workspace

ENTRY_EVENT: Final = "event"  # in `metadata`: the properties of the event that let the person in


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSheet:
    """What is the same for every execution of a chunk."""

    workspace: Mapping[str, Any]

    @classmethod
    def of(cls, policies: Iterable[RunPolicy]) -> FactSheet:
        """From policies of one workspace, which were asked for anyway."""
        return cls(workspace={"name": next((policy.workspace_name for policy in policies), "")})

    @classmethod
    def load(cls, workspace_id: int) -> FactSheet:
        """One query."""
        name = Workspace.objects.filter(pk=workspace_id).values_list("name", flat=True).first()
        return cls(workspace={"name": name or ""})

    def facts(self, row: Walking, subject: Subject, policy: RunPolicy) -> Facts:
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
            event=row.metadata.get(ENTRY_EVENT, {}),
            timezone=zone if isinstance(zone := subject.facts.get("timezone"), str) else "",
            workspace_timezone=policy.timezone,
            subject=split_key(row),
        )


def split_key(row: Walking) -> str:
    """What a split hashes of a subject: its type and id (`target:4711`), which never change."""
    return f"{row.subject_type}:{row.subject_id}"


def lock_subject_contacts(workspace_id: int, subjects: Iterable[Subject], *, exclusive: bool = False) -> None:
    """Hold the contacts of these subjects until the transaction ends; a block of one of them waits.

    `exclusive`: so does whoever else is about to write to one of them, and then sees this message. What
    counts messages of a number (`message_checks`) is true only so, and whoever stops everything in the
    workspace waits too: the policies read after this hold until the messages are written.
    """
    values = {value for subject in subjects for value in subject.contacts.values() if value}
    lock_contacts(workspace_id, values, exclusive=exclusive, sends=exclusive)

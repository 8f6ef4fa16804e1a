"""How long after sending something new may still be learnt of a message: by line, else the installation's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from sms.models import LineRule, SmsLog


@dataclass(frozen=True, slots=True)
class Finality:
    """The finality times of some workspaces' lines."""

    by_line: Mapping[tuple[int, str], timedelta]

    @classmethod
    def load(cls, workspace_ids: Iterable[int]) -> Finality:
        """System code. One query."""
        rules = LineRule.unscoped.filter(
            workspace_id__in=set(workspace_ids), operator="", finality_hours__isnull=False
        )
        rows = rules.values_list("workspace_id", "line", "finality_hours")
        return cls({(workspace, line): timedelta(hours=hours or 0) for workspace, line, hours in rows})

    def of(self, workspace_id: int, line: str) -> timedelta:
        return self.by_line.get((workspace_id, line), timedelta(hours=settings.SMS_FINALITY_HOURS))

    def ends_at(self, row: SmsLog) -> datetime:
        """When the last look at this message is due."""
        asked_at: datetime = row.request_at or row.created_at
        return asked_at + self.of(row.workspace_id, row.sender_number)

"""The background work of campaigns, by the names that stand in the queue."""

from __future__ import annotations

from typing import Any

from campaigns.enrollment import committer
from core.queue import task


@task(committer.TASK)
def commit_batch(payload: dict[str, Any]) -> None:
    """Add the people of one reviewed selection."""
    committer.run_task(payload)

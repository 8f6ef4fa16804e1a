"""The background work of campaigns, by the names that stand in the queue."""

from __future__ import annotations

from typing import Any

from campaigns import changing, jobs, kept_figures, newcomer_checks, settling
from campaigns.enrollment import committer, large
from campaigns.models import JobKind
from core.queue import task


@task(committer.TASK)
def commit_batch(payload: dict[str, Any]) -> None:
    """Add the people of one reviewed selection."""
    committer.run_task(payload)


@task(kept_figures.TASK)
def count_figures(payload: dict[str, Any]) -> None:
    """Count what the page of one large campaign shows."""
    kept_figures.run_task(payload)


@task(settling.TASK)
def settle(payload: dict[str, Any]) -> None:
    """Let the people of one campaign follow its start or its end."""
    settling.run_task(payload)


@task(newcomer_checks.TASK)
def look_for_newcomers(payload: dict[str, Any]) -> None:
    """Let new people into one campaign by its rule."""
    newcomer_checks.run_task(payload)


jobs.register(JobKind.ENROL, large.Adding())
jobs.register(JobKind.CHANGE, changing.Changing())


@task(jobs.TASK)
def work_on_job(payload: dict[str, Any]) -> None:
    """Go on with one large job of a campaign."""
    jobs.run_task(payload)

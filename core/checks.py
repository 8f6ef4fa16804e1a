"""Settings that contradict each other are named at start-up instead of losing messages at night."""

from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning

from core import failpoints

TAG = "peyk"


def check_times(**_kwargs: Any) -> list[CheckMessage]:
    """A call ends before its task, a task before its lease: else somebody else takes work that still runs."""
    problems: list[CheckMessage] = []
    if settings.TASK_TIME_LIMIT >= settings.LEASE_SECONDS:
        problems.append(
            Error(
                f"A task may run {settings.TASK_TIME_LIMIT} s, but its claim is taken back after "
                f"{settings.LEASE_SECONDS} s.",
                hint="Raise PEYK_LEASE_SECONDS.",
                id="peyk.E001",
            )
        )
    if settings.HTTP_BUDGET_SECONDS >= settings.TASK_TIME_LIMIT:
        problems.append(
            Error(
                f"One call to the SMS provider may take {settings.HTTP_BUDGET_SECONDS} s, but its whole task "
                f"only {settings.TASK_TIME_LIMIT} s.",
                hint="Lower PEYK_HTTP_BUDGET_SECONDS or raise PEYK_LEASE_SECONDS.",
                id="peyk.E002",
            )
        )
    return problems


def check_database(**_kwargs: Any) -> list[CheckMessage]:
    """SQLite is for one host; Celery is for several."""
    if settings.QUEUE == "celery" and settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        return [
            Warning(
                "Celery workers share one SQLite file: they wait for each other; no other host reaches it.",
                hint="Set DATABASE_URL to PostgreSQL, or PEYK_QUEUE to django_q.",
                id="peyk.W001",
            )
        ]
    return []


def check_failpoints(**_kwargs: Any) -> list[CheckMessage]:
    """Failpoints kill workers in the middle of a message: only test settings obey them."""
    if os.environ.get(failpoints.VARIABLE) and not getattr(settings, "TESTING", False):
        return [
            Error(
                f"{failpoints.VARIABLE} is set, but these are not the settings of the tests.",
                hint=f"Remove {failpoints.VARIABLE} from the environment.",
                id="peyk.E003",
            )
        ]
    return []

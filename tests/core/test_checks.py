"""Settings that contradict each other are named when the site starts."""

from __future__ import annotations

import pytest
from django.core.checks import run_checks
from pytest_django import Settings


def problems() -> list[str]:
    return [str(message.id) for message in run_checks(tags=["peyk"])]


def test_the_settings_as_they_come_are_in_order() -> None:
    assert problems() == []


@pytest.mark.parametrize(
    ("lease", "task", "call", "found"),
    [
        (300, 240, 10, []),
        (240, 240, 10, ["peyk.E001"]),
        (100, 240, 10, ["peyk.E001"]),
        (300, 10, 10, ["peyk.E002"]),
        (20, 20, 60, ["peyk.E001", "peyk.E002"]),
    ],
)
def test_a_call_ends_before_its_task_and_a_task_before_its_lease(
    settings: Settings, lease: int, task: int, call: int, found: list[str]
) -> None:
    settings.LEASE_SECONDS, settings.TASK_TIME_LIMIT, settings.HTTP_BUDGET_SECONDS = lease, task, call

    assert problems() == found


@pytest.mark.parametrize(
    ("queue", "engine", "found"),
    [("celery", "sqlite3", ["peyk.W001"]), ("celery", "postgresql", []), ("django_q", "sqlite3", [])],
)
def test_celery_on_sqlite_is_warned_of(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, queue: str, engine: str, found: list[str]
) -> None:
    settings.QUEUE = queue
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", f"django.db.backends.{engine}")

    assert problems() == found

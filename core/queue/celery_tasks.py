"""The one Celery task. Early acknowledgement and no retries: a redelivered send could be a second message."""

from __future__ import annotations

from typing import Any

from celery import shared_task

from core.queue.port import run


@shared_task(name="peyk.run_message", acks_late=False, max_retries=0, ignore_result=True)  # type: ignore[untyped-decorator]
def run_message(name: str, payload: dict[str, Any]) -> None:
    run(name, payload)

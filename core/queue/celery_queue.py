"""Celery with Redis: permanent workers on any number of hosts."""

from __future__ import annotations

from core.queue.celery_tasks import run_message
from core.queue.port import Payload


class CeleryQueue:
    def enqueue(self, name: str, payload: Payload, *, group: str) -> None:
        run_message.apply_async(args=[name, payload], queue=group)

    def depth(self) -> int:
        from celery import current_app

        with current_app.connection_for_read() as connection:
            return sum(
                int(connection.default_channel.client.llen(group)) for group in ("automation", "default")
            )

    def drain(self, *, seconds: float) -> int:  # noqa: ARG002  # Celery's own workers drain it
        return 0

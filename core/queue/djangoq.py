"""django-q2 with its database broker: one small host without Redis, with or without a permanent worker."""

from __future__ import annotations

import time
from typing import Any

import structlog
from django_q.brokers import get_broker
from django_q.models import OrmQ
from django_q.signing import BadSignature, SignedPackage
from django_q.tasks import async_task

from core.failpoints import failpoint
from core.queue.port import Payload, run

log = structlog.get_logger(__name__)
ENTRY = "core.queue.djangoq.run_message"


def run_message(name: str, payload: Payload) -> None:
    """The one function django-q2 workers call."""
    run(name, payload)


class DjangoQQueue:
    def enqueue(self, name: str, payload: Payload, *, group: str) -> None:
        async_task(ENTRY, name, payload, task_name=name, group=group, save=False)

    def depth(self) -> int:
        return int(OrmQ.objects.count())

    def drain(self, *, seconds: float) -> int:
        """Take messages one by one as a cluster's worker would; acknowledge before running (never twice)."""
        stop_at = time.monotonic() + seconds
        broker = get_broker()
        done = 0
        while time.monotonic() < stop_at:
            batch = self._take(broker)
            if not batch:
                return done
            for message in batch:
                self._work(message)
                done += 1
        return done

    def _take(self, broker: Any) -> list[Any]:
        if not OrmQ.objects.filter(key=broker.list_key).exists():
            return []
        taken = broker.dequeue() or []
        messages = []
        for ack_id, package in taken:
            failpoint("before_ack")
            broker.acknowledge(ack_id)
            failpoint("after_ack")
            messages.append(package)
        return messages

    def _work(self, package: Any) -> None:
        try:
            message = SignedPackage.loads(package)
        except (TypeError, BadSignature):
            log.error("queue_message_unreadable")
            return
        name = str(message.get("name", ""))
        try:
            run(*message["args"])
        except Exception:  # one bad message must not stop the others
            log.exception("task_failed", task=name)

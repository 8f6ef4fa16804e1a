"""One small queue port. A task is a name and a JSON payload; the database, not the queue, is the truth.

A message may be lost, late, doubled or out of order: every task decides by the rows it finds. Sending
tasks are never retried or redelivered by the queue.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

Payload = dict[str, Any]
Task = Callable[[Payload], None]
GROUPS = ("automation", "default")

_tasks: dict[str, Task] = {}
_queues: dict[str, Queue] = {}

BACKENDS = {
    "inline": "core.queue.inline.InlineQueue",
    "django_q": "core.queue.djangoq.DjangoQQueue",
    "celery": "core.queue.celery_queue.CeleryQueue",
}


class UnknownTask(LookupError):
    """No task of that name is registered (a newer sender, or a forged message)."""


class Queue(Protocol):
    """Where messages go. `enqueue` may raise when the broker is away; the caller then keeps its work."""

    def enqueue(self, name: str, payload: Payload, *, group: str) -> None: ...

    def depth(self) -> int:
        """Messages not yet taken, as far as the broker can tell."""
        ...

    def drain(self, *, seconds: float) -> int:
        """Work messages in this process until there are none or time is up; returns how many."""
        ...


def task(name: str) -> Callable[[Task], Task]:
    """Register the function that handles messages called `name` (stable: it is on the wire)."""

    def register(function: Task) -> Task:
        if name in _tasks and _tasks[name] is not function:
            raise RuntimeError(f"two tasks are called {name!r}")
        _tasks[name] = function
        return function

    return register


def task_names() -> list[str]:
    return sorted(_tasks)


def run(name: str, payload: Payload) -> None:
    """Called by every back end. Raises UnknownTask."""
    if name not in _tasks:
        raise UnknownTask(name)
    _tasks[name](payload)


def queue() -> Queue:
    """The configured back end."""
    kind: str = settings.QUEUE
    if kind not in _queues:
        _queues[kind] = import_string(BACKENDS[kind])()
    return _queues[kind]


def enqueue(name: str, payload: Payload, *, group: str = "automation") -> None:
    """Hand a message to the configured back end."""
    if group not in GROUPS:
        raise ValueError(f"unknown queue group {group!r}")
    queue().enqueue(name, payload, group=group)

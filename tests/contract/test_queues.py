"""One suite for every queue: whichever is configured, a task sees the same promises."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from celery.contrib.testing.worker import start_worker

from config.celery import app as celery_app
from core.queue import UnknownTask, enqueue, queue, run, task, task_names
from core.queue import port as queue_port

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True)]
seen: list[dict[str, Any]] = []
seen_by: list[str] = []


@task("tests.note")
def note(payload: dict[str, Any]) -> None:
    seen.append(payload)
    seen_by.append(threading.current_thread().name)
    if payload.get("fail"):
        raise RuntimeError("this task fails")


class Inline:
    """Nothing to start: the caller does the work."""

    kind = "inline"

    def work(self, done: Callable[[], bool]) -> None:
        pass


class DjangoQ:
    kind = "django_q"

    def work(self, done: Callable[[], bool]) -> None:
        queue().drain(seconds=10)


class Celery:
    kind = "celery"

    def work(self, done: Callable[[], bool]) -> None:
        with start_worker(
            celery_app,
            perform_ping_check=False,
            queues=["automation", "default"],
            pool="solo",
            shutdown_timeout=20,
        ):
            stop = time.monotonic() + 20
            while not done() and time.monotonic() < stop:
                time.sleep(0.05)


@pytest.fixture(params=[Inline, DjangoQ, Celery])
def backend(request: pytest.FixtureRequest, settings: Any) -> Iterator[Any]:
    seen.clear()
    seen_by.clear()
    chosen = request.param()
    settings.QUEUE = chosen.kind
    queue_port._queues.clear()
    old = celery_app.conf.broker_url
    if chosen.kind == "celery":
        celery_app.conf.broker_url = os.environ["TEST_REDIS_URL"].rsplit("/", 1)[0] + "/8"
        with celery_app.connection_for_write() as connection:
            connection.default_channel.client.flushdb()
    yield chosen
    celery_app.conf.broker_url = old
    queue_port._queues.clear()


def test_a_task_runs_once_with_its_payload(backend: Any):
    payload = {"v": 1, "ids": [1, 2, 5243690627088685351], "text": "سلام", "none": None}
    enqueue("tests.note", payload)
    backend.work(lambda: len(seen) >= 1)
    assert seen == [payload]


def test_a_task_that_fails_is_not_tried_again_and_stops_nobody(backend: Any):
    enqueue("tests.note", {"fail": True})
    enqueue("tests.note", {"n": 2})
    backend.work(lambda: len(seen) >= 2)
    assert seen == [{"fail": True}, {"n": 2}]


def test_a_message_nobody_knows_does_not_stop_the_next(backend: Any):
    enqueue("tests.unknown", {})
    enqueue("tests.note", {"n": 1})
    backend.work(lambda: len(seen) >= 1)
    assert seen == [{"n": 1}]


def test_both_groups_are_worked(backend: Any):
    enqueue("tests.note", {"n": 1}, group="automation")
    enqueue("tests.note", {"n": 2}, group="default")
    backend.work(lambda: len(seen) >= 2)
    assert sorted(p["n"] for p in seen) == [1, 2]


def test_the_depth_tells_what_waits(backend: Any):
    enqueue("tests.note", {"n": 1})
    enqueue("tests.note", {"n": 2})
    waiting = queue().depth()
    backend.work(lambda: len(seen) >= 2)
    assert waiting == (0 if backend.kind == "inline" else 2)


def test_a_group_that_does_not_exist_is_refused(backend: Any):
    with pytest.raises(ValueError, match="group"):
        enqueue("tests.note", {}, group="fast")


def test_an_unknown_task_is_an_error_of_its_own():
    with pytest.raises(UnknownTask):
        run("tests.unknown", {})


def test_the_tasks_have_stable_names():
    assert {"automation.process_executions", "campaigns.commit_batch", "targets.run_import"} <= set(
        task_names()
    )


def test_one_name_belongs_to_one_task():
    with pytest.raises(RuntimeError, match=r"tests\.note"):
        task("tests.note")(lambda _payload: None)


def test_sending_tasks_are_never_redelivered_by_a_queue(settings: Any):
    from core.queue.celery_tasks import run_message

    assert run_message.acks_late is False
    assert run_message.max_retries == 0
    assert settings.Q_CLUSTER["max_attempts"] == 1
    assert settings.Q_CLUSTER["ack_failures"] is True
    assert settings.TASK_TIME_LIMIT < settings.LEASE_SECONDS < settings.Q_CLUSTER["retry"]

"""The queues people really run: Celery's prefork workers with Redis, and the cluster of django-q2."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
import redis
from django.db import connection
from django_q.models import OrmQ

from automation.models import WorkflowExecution
from automation.states import CLAIMED
from script import processes
from sms.models import SmsLog
from tests.faults.house import ROOT, House, process_environment
from tests.faults.oracle import judge
from tests.faults.world import World, make_world

pytestmark = [pytest.mark.concurrency, pytest.mark.postgres]
REDIS_DATABASE = 7  # of the throwaway server; emptied by each test
CELERY = ("-m", "celery", "-A", "config.celery", "worker", "-Q", "automation,default", "-c", "2",
          "--without-gossip", "--without-mingle", "--loglevel", "WARNING")  # fmt: skip
SLOW = {"do": "slow", "ms": 600}


@dataclass(slots=True, kw_only=True)
class Installation:
    """Ticks and permanent workers of one kind of queue."""

    kind: str
    house: House
    world: World
    redis_url: str
    children: list[subprocess.Popen[str]] = field(default_factory=list)

    def tick(self) -> None:
        """One run of the scheduler, as cron starts it."""
        child = self._start("manage.py", "automation_tick")
        assert child.wait(timeout=60) == 0

    def worker(self, failpoints: str = "", **environment: str) -> subprocess.Popen[str]:
        """A permanent worker that is ready for messages."""
        command = CELERY if self.kind == "celery" else ("manage.py", "qcluster")
        return self._start(*command, failpoints=failpoints, environment=environment)

    def _start(
        self, *command: str, failpoints: str = "", environment: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        env = process_environment(self.house.folder, connection.settings_dict, self.house.clock)
        env |= {"PEYK_QUEUE": self.kind, "REDIS_URL": self.redis_url, "PEYK_FAILPOINTS": failpoints}
        env |= environment or {}
        log = self.house.folder / "real.log"
        child = processes.start([sys.executable, *command], log=log, env=env, cwd=ROOT)
        self.children.append(child)
        return child

    def kill(self, child: subprocess.Popen[str]) -> None:
        """SIGKILL for a worker with all its processes."""
        os.killpg(child.pid, signal.SIGKILL)
        child.wait(timeout=10)

    def waiting(self) -> list[tuple[str, Any]]:
        """The messages nobody has taken yet."""
        if self.kind == "django_q":
            return [("", payload) for payload in OrmQ.objects.values_list("payload", flat=True)]
        broker = redis.Redis.from_url(self.redis_url)
        found: Any = broker.lrange("automation", 0, -1)
        return [("automation", message) for message in found]

    def put(self, messages: list[tuple[str, Any]]) -> None:
        """Old messages once more."""
        for queue, message in messages:
            if self.kind == "django_q":
                OrmQ.objects.create(key="peyk", payload=message, lock=self.house.clock.now())
            else:
                redis.Redis.from_url(self.redis_url).lpush(queue, message)

    def lose(self) -> None:
        """The broker forgets everything."""
        OrmQ.objects.all().delete()
        redis.Redis.from_url(self.redis_url).flushdb()

    def finish(self) -> None:
        """Everything that is left, by fresh processes without faults."""
        for child in self.children:
            processes.stop(child)
        self.lose()
        self.house.provider()
        self.world.after_lease()
        self.world.drain()


@pytest.fixture(params=["celery", "django_q"])
def installation(house: House, request: pytest.FixtureRequest) -> Iterator[Installation]:
    url = os.environ["TEST_REDIS_URL"].rsplit("/", 1)[0] + f"/{REDIS_DATABASE}"
    provider = house.new_provider()
    world = make_world(house, f"q{abs(hash(request.node.name)) % 10**12}", people=8, cap=20, url=provider)
    made = Installation(kind=request.param, house=house, world=world, redis_url=url)
    made.lose()
    yield made
    for child in made.children:
        processes.stop(child)
    made.lose()
    world.leave()


def wait_for(condition: Callable[[], bool], *, seconds: float = 45.0, what: str) -> None:
    stop = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < stop, f"did not happen within {seconds} s: {what}"
        time.sleep(0.05)


def statuses(world: World) -> set[str]:
    rows = WorkflowExecution.unscoped.filter(workspace_id=world.workspace.pk)
    return set(rows.values_list("status", flat=True))


def test_a_worker_killed_in_the_middle_of_its_chunk_repeats_nobody(installation: Installation):
    world = installation.world
    installation.tick()
    worker = installation.worker("after_http=kill@2")
    wait_for(
        lambda: world.note_interrupted() > 0 and len(world.house.accepted()) > 1, what="a death on the wire"
    )
    installation.kill(worker)
    world.doubtful = 8  # both chunks may have been taken by processes that died
    installation.finish()
    assert judge(world) == []


def test_a_worker_asked_to_stop_finishes_its_chunk(installation: Installation):
    """A deployment: nothing is left in doubt, nobody is left behind."""
    world = installation.world
    world.house.provider(SLOW)
    installation.tick()
    worker = installation.worker()
    wait_for(
        lambda: SmsLog.unscoped.filter(workspace_id=world.workspace.pk, status="sending").exists(),
        what="messages on the wire",
    )
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=30) == 0
    installation.finish()
    assert judge(world) == []
    assert world.doubtful == 0


def test_messages_the_broker_lost_are_found_again(installation: Installation):
    installation.tick()
    assert installation.waiting()
    installation.lose()
    worker = installation.worker()
    installation.world.after_lease()
    installation.tick()
    wait_for(lambda: statuses(installation.world) == {"waiting"}, what="everybody got the first message")
    worker.send_signal(signal.SIGTERM)
    installation.finish()
    assert judge(installation.world) == []


def test_messages_the_broker_delivers_again_and_out_of_order_repeat_nobody(installation: Installation):
    world = installation.world
    installation.tick()
    messages = installation.waiting()
    assert len(messages) >= 2
    installation.put([*messages[::-1], *messages])
    worker = installation.worker()
    wait_for(lambda: statuses(world) == {"waiting"}, what="everybody got the first message")
    installation.put(messages)
    wait_for(lambda: not installation.waiting(), what="the old messages are taken")
    worker.send_signal(signal.SIGTERM)
    installation.finish()
    assert judge(world) == []


def test_an_execution_that_kills_its_workers_is_given_up_and_its_mates_finish(installation: Installation):
    """Prefork children and cluster workers die of it; whoever started them starts others."""
    world = installation.world
    culprit = WorkflowExecution.unscoped.filter(workspace_id=world.workspace.pk).earliest("pk").pk
    rows = WorkflowExecution.unscoped.filter(pk=culprit)
    worker = installation.worker(f"in_walk=kill#{culprit}")
    for _ in range(40):  # as often as it takes: a busy machine is slow to replace a dead worker
        installation.tick()
        settled = time.monotonic() + 3
        while rows.filter(status__in=CLAIMED).exists() and time.monotonic() < settled:
            time.sleep(0.05)
        if rows.filter(status="failed").exists():
            break
        world.after_lease()
    assert list(rows.values_list("status", "end_reason")) == [("failed", "poison")]
    installation.kill(worker)
    world.doubtful = 8
    installation.finish()
    assert judge(world) == [f"execution {culprit} was given up as poison"]


def test_a_queue_emptied_in_the_middle_of_a_run_loses_nobody(installation: Installation):
    """Redis is flushed while a worker is at a chunk and others wait."""
    world = installation.world
    world.house.provider(SLOW)
    installation.tick()
    worker = installation.worker()
    wait_for(
        lambda: SmsLog.unscoped.filter(workspace_id=world.workspace.pk, status="sending").exists(),
        what="messages on the wire",
    )
    installation.lose()
    wait_for(
        lambda: not SmsLog.unscoped.filter(workspace_id=world.workspace.pk, status="sending").exists(),
        what="the chunk at hand is done",
    )
    worker.send_signal(signal.SIGTERM)
    installation.finish()
    assert judge(world) == []
    assert world.doubtful == 0


def test_a_task_stopped_by_its_time_limit_with_answers_in_hand_is_in_doubt(installation: Installation):
    """The queue kills a worker that takes too long; nobody is written to twice for it."""
    world = installation.world
    on_the_wire = SmsLog.unscoped.filter(workspace_id=world.workspace.pk, status="sending")
    installation.tick()
    installation.worker("before_record=sleep:60", FAULTS_TASK_SECONDS="4")
    wait_for(on_the_wire.exists, what="messages on the wire")
    time.sleep(6)  # the limit strikes: without it the answers would be recorded after a minute
    assert on_the_wire.exists()
    world.doubtful = 8
    installation.finish()
    assert judge(world) == []

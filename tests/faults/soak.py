"""Random misfortune over real processes for as long as one likes, and a verdict at the end.

    script/soak --minutes 3 --seed 7 --queue celery

Two workspaces share one provider, one queue, two ticks and three workers. A seeded nemesis kills,
stops and cuts off processes, loses and repeats queue messages, turns the provider bad, moves the clock
and lets people opt out and campaigns pause. On servers of its own it kills and restarts those too:
PostgreSQL, Redis (which forgets everything) and the provider. The same seed makes the same choices; what
the machine makes of them differs from run to run. A run that sent nothing is a failure.
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

import redis
from django.db import OperationalError, connection

from automation.models import WorkflowExecution
from automation.states import CLAIMABLE, CLAIMED
from campaigns.models import Campaign
from sms.models import ProviderAccount
from tests.faults.brokers import Broker, broker_of
from tests.faults.house import House
from tests.faults.oracle import judge
from tests.faults.places import REAPER, TICK, WORKER
from tests.faults.servers import Plan, ProviderProcess, Servers, down_and_up
from tests.faults.world import World, make_world

CHUNK = 4  # the house's PEYK_CHUNK_SIZE: so many attempts one death can leave in doubt
TICKS, WORKERS = 2, 3
PEOPLE, CAP = 30, 14
ROUNDS, PATIENCE = 200, timedelta(hours=6)  # days of work under the cap may be left
# A permanent worker of Celery or django-q2 has two processes that work.
JOBS = {"drain": "work_for_ever", "django_q": "cluster_worker", "celery": "celery_worker"}
BAD_DAYS: tuple[dict[str, object], ...] = (
    {"do": "hang", "accept": True},
    {"do": "hang", "accept": False},
    {"do": "http", "status": 500, "accept": True},
    {"do": "reset", "accept": True},
    {"do": "close", "accept": False},
    {"do": "body", "accept": False},
    {"do": "code", "code": "6"},
    {"do": "code", "code": "18"},
    {"do": "code", "code": "2"},
)
DOUBTFUL = frozenset({"hang", "http", "reset", "close", "body"})


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What a soak found. `breaches` is empty when every promise held."""

    seed: int
    breaches: list[str]
    accepted: int
    actions: Counter[str]

    def __str__(self) -> str:
        done = ", ".join(f"{name} {count}" for name, count in sorted(self.actions.items()))
        verdict = "\n".join(f"  BROKEN: {breach}" for breach in self.breaches) or "  every promise held"
        return f"seed {self.seed}: {self.accepted} messages accepted; {done}\n{verdict}"


@dataclass(slots=True, kw_only=True)
class Nemesis:
    """One run. Everything random comes from `dice`."""

    house: House
    worlds: list[World]
    dice: random.Random
    queue: str
    broker: Broker
    servers: Servers | None
    ticks: set[int] = field(default_factory=set)
    workers: set[int] = field(default_factory=set)
    stopped: dict[int, float] = field(default_factory=dict)
    remembered: list[bytes] = field(default_factory=list)
    actions: Counter[str] = field(default_factory=Counter)

    def run(self, seconds: float) -> None:
        """Misfortune for `seconds`; the processes that end are replaced."""
        misfortunes: list[Callable[[], None]] = [
            self.kill_a_worker, self.kill_a_tick, self.arm_a_worker, self.arm_a_tick, self.stop_a_worker,
            self.turn_the_provider, self.turn_the_provider, self.move_the_clock, self.move_the_clock,
            self.set_the_clock_back, self.repeat_messages, self.lose_messages, self.cut_a_connection,
            self.opt_out, self.pause_or_resume,
        ]  # fmt: skip
        if self.servers:
            misfortunes += [self.kill_the_database, self.kill_redis, self.flush_redis, self.kill_the_provider]
        _wait_at_most("1s")
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._supervise()
            misfortune = self.dice.choice(misfortunes)
            try:
                self._remember_messages()
                self._keep_busy()
                misfortune()
            except (OperationalError, redis.ConnectionError):
                # A stopped worker holds what this one wanted: it did not happen.
                self.actions["nothing"] += 1
            else:
                self.actions[misfortune.__name__] += 1
            time.sleep(self.dice.uniform(0.05, 0.4))
            self.house.clock.set(self.house.clock.now() + timedelta(seconds=self.dice.randint(1, 90)))
        self._end_of_misfortune()

    def _supervise(self) -> None:
        now = time.monotonic()
        for pid, wakes in list(self.stopped.items()):
            if now >= wakes:
                self.house.kill(pid, signal.SIGCONT)
                del self.stopped[pid]
        for group, wanted, job in (
            (self.ticks, TICKS, "tick_for_ever"),
            (self.workers, WORKERS, JOBS[self.queue]),
        ):
            for pid in [pid for pid in group if self.house.ended(pid) is not None]:
                group.discard(pid)
                self._a_death()
            while len(group) < wanted:
                group.add(self._start(job))

    def _start(self, job: str, failpoints: str = "", **argument: str) -> int:
        """Each on a host of its own: the locks of one host would keep two ticks from ever meeting.

        So would a lock in Redis, which outlives a killed tick by two minutes: three of four do without.
        """
        host = str(self.house.folder / f"host-{self.dice.randint(1, 4)}")
        settings = {"VAR_DIR": host, "QUEUE": self.broker.kind}
        if job.startswith("tick") and self.dice.random() < 0.75:
            settings["REDIS_URL"] = ""
        return self.house.start(job, failpoints=failpoints, settings=settings, argument=argument)

    def _a_death(self, of: int = 1) -> None:
        for world in self.worlds:
            world.doubtful += CHUNK * of

    def _everybody_s_chunk(self) -> None:
        """What all of them have in hands at this moment may end in doubt."""
        self._a_death(of=(len(self.ticks) + len(self.workers)) * (1 if self.queue == "drain" else 2))

    def _remember_messages(self) -> None:
        self.remembered = [*self.remembered, *self.broker.waiting()][-200:]

    def _keep_busy(self) -> None:
        """New people for those who are through: the last minute does as much harm as the first."""
        for world in self.worlds:
            on_the_way = WorkflowExecution.unscoped.filter(
                workspace_id=world.workspace.pk, status__in=CLAIMED | CLAIMABLE
            )
            if on_the_way.count() < PEOPLE // 2:
                with world.inside():
                    world.scenario.targets += world.scenario.enrol(PEOPLE // 3)

    # -- misfortunes ------------------------------------------------------------------------------

    def kill_a_worker(self) -> None:
        self._kill_one(self.workers)

    def kill_a_tick(self) -> None:
        self._kill_one(self.ticks)

    def _kill_one(self, group: set[int]) -> None:
        if group:
            self._kill(self.dice.choice(sorted(group)), whole=self.dice.random() < 0.5)

    def _kill(self, pid: int, *, whole: bool) -> None:
        """A permanent worker dies with all its processes, or loses one of them."""
        below = [] if self.queue == "drain" else self.house.below(pid)
        self._a_death(of=len(below))
        if below and not whole:
            self.house.kill_below(self.dice.choice(below))
        else:
            self.house.kill(pid)

    def arm_a_worker(self) -> None:
        """A worker that will die at a place of the send path, sooner or later."""
        if self.workers:
            self.kill_a_worker()
            self._supervise()
        point, nth = self.dice.choice(WORKER), self.dice.randint(1, 6)
        # One that works by itself: those that fork would give the same end to each that they fork.
        job = "celery_worker" if self.queue == "celery" else "work_for_ever"
        self.workers.add(self._start(job, f"{point}=kill@{nth}", pool="solo"))

    def arm_a_tick(self) -> None:
        point, nth = self.dice.choice([*TICK, *REAPER]), self.dice.randint(1, 6)
        self.ticks.add(self._start("tick_for_ever", f"{point}=kill@{nth}"))

    def stop_a_worker(self) -> None:
        """SIGSTOP for a while: it wakes up in another world."""
        if self.workers:
            pid = self.dice.choice(sorted(self.workers))
            self.house.kill(pid, signal.SIGSTOP)
            self.stopped[pid] = time.monotonic() + self.dice.uniform(0.2, 1.5)

    def turn_the_provider(self) -> None:
        share = self.dice.choice([0.0, 0.05, 0.3])
        rule = self.dice.choice(BAD_DAYS)
        self.house.provider(*([{**rule, "share": share}] if share else []), seed=self.dice.randint(0, 9999))

    def move_the_clock(self) -> None:
        minutes = self.dice.choice([1, 5, 20, 60, 240])
        self.house.clock.set(self.house.clock.now() + timedelta(minutes=minutes))

    def set_the_clock_back(self) -> None:
        self.house.clock.set(self.house.clock.now() - timedelta(seconds=self.dice.randint(1, 120)))

    def repeat_messages(self) -> None:
        """A broker restored from an old snapshot: messages that were worked long ago come again."""
        for message in self.dice.sample(self.remembered, min(6, len(self.remembered))):
            self.broker.put(message)

    def lose_messages(self) -> None:
        self.broker.lose()

    def cut_a_connection(self) -> None:
        """The database drops one of the product's sessions, whatever it was doing."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
                "AND application_name = 'peyk' AND pid <> pg_backend_pid() ORDER BY pid"
            )
            found = [row[0] for row in cursor.fetchall()]
            if found:
                cursor.execute("SELECT pg_terminate_backend(%s)", [self.dice.choice(found)])
                self._a_death()

    # -- the servers ------------------------------------------------------------------------------

    def kill_the_database(self) -> None:
        """The postmaster dies without a word and recovers; whatever was open is rolled back."""
        assert self.servers
        self._everybody_s_chunk()
        down_and_up(self.servers.database, self.dice.uniform(0.0, 1.0))
        connection.close()
        _wait_at_most("1s")

    def kill_redis(self) -> None:
        assert self.servers
        down_and_up(self.servers.redis, self.dice.uniform(0.0, 1.0))

    def flush_redis(self) -> None:
        assert self.servers
        self.servers.redis.flush()

    def kill_the_provider(self) -> None:
        """In the middle of whatever it was answering: some of that it took, some it did not."""
        assert isinstance(self.house.simulator, ProviderProcess)
        self._everybody_s_chunk()
        self.house.simulator.stop()
        time.sleep(self.dice.uniform(0.0, 1.0))
        self.house.simulator.start()

    # -- what people do -----------------------------------------------------------------------------

    def opt_out(self) -> None:
        world = self.dice.choice(self.worlds)
        if len(world.blocks) < PEOPLE // 5:
            with world.inside():
                world.block(self.dice.choice(world.scenario.targets).mobile)

    def pause_or_resume(self) -> None:
        world = self.dice.choice(self.worlds)
        rows = Campaign.unscoped.filter(pk=world.scenario.campaign.pk)
        now = self.house.clock.now()
        if not rows.filter(status="active").update(status="paused", paused_at=now):
            rows.update(status="active", paused_at=None)

    # -- the end ----------------------------------------------------------------------------------

    def _end_of_misfortune(self) -> None:
        _wait_at_most("0")
        for pid in self.stopped:
            self.house.kill(pid, signal.SIGCONT)
        for _ in self.house.running:
            self._a_death()
        self._everybody_s_chunk()
        self.house.kill_all()
        if self.servers:
            self.servers.redis.flush()  # the lock of a killed tick would hold up the others for two minutes
        self.house.provider()
        for world in self.worlds:
            Campaign.unscoped.filter(pk=world.scenario.campaign.pk).update(status="active", paused_at=None)
            ProviderAccount.unscoped.filter(workspace_id=world.workspace.pk).update(
                paused_until=None, paused_since=None, paused_reason="", trial_until=None
            )


def _wait_at_most(time_out: str) -> None:
    """For locks of this process: whoever wakes the stopped workers must not wait for them."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, false)", [time_out])


def soak(house: House, plan: Plan, *, servers: Servers | None = None) -> Outcome:
    """Run the nemesis, let everything come to its end without faults, and judge."""
    url = house.new_provider()
    worlds = [
        make_world(house, f"soak-{name}-{plan.seed}", people=PEOPLE, cap=CAP, username=name, url=url)
        for name in ("peyk", "neighbour")
    ]
    ProviderAccount.unscoped.update(rate_per_second=100)  # a turn is asked for, and soon had
    nemesis = Nemesis(
        house=house, worlds=worlds, dice=random.Random(plan.seed), queue=plan.queue,
        broker=broker_of(plan.queue, servers), servers=servers,
    )  # fmt: skip
    nemesis.run(plan.seconds)
    breaches = []
    for world in worlds:
        world.drain(rounds=ROUNDS, patience=PATIENCE)
        world.doubtful += sum(
            request.fault in DOUBTFUL for request in house.requests() if request.account == world.username
        )
        breaches += [f"{world.username}: {breach}" for breach in judge(world, clock_stood_still=False)]
    accepted = len(house.accepted())
    for world in worlds:
        world.leave()
    return Outcome(seed=plan.seed, breaches=breaches, accepted=accepted, actions=nemesis.actions)

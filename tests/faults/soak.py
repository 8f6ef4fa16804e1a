"""Random misfortune over real processes for as long as one likes, and a verdict at the end.

    script/soak --minutes 3 --seed 7

Two workspaces share one provider, one queue, two ticks and three workers. A seeded nemesis kills,
stops and cuts off processes, loses and repeats queue messages, turns the provider bad, moves the clock
and lets people opt out and campaigns pause. The same seed makes the same choices; what the machine
makes of them differs from run to run. A run that sent nothing is a failure.
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import OperationalError, connection
from django.utils import timezone
from django_q.models import OrmQ

from campaigns.models import Campaign
from sms.models import ProviderAccount
from tests.faults.house import House
from tests.faults.oracle import judge
from tests.faults.places import REAPER, TICK, WORKER
from tests.faults.world import World, make_world

CHUNK = 4  # the house's PEYK_CHUNK_SIZE: so many attempts one death can leave in doubt
TICKS, WORKERS = 2, 3
PEOPLE, CAP = 30, 14
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
    ticks: set[int] = field(default_factory=set)
    workers: set[int] = field(default_factory=set)
    stopped: dict[int, float] = field(default_factory=dict)
    remembered: list[str] = field(default_factory=list)
    actions: Counter[str] = field(default_factory=Counter)

    def run(self, seconds: float) -> None:
        """Misfortune for `seconds`; the processes that end are replaced."""
        misfortunes: list[Callable[[], None]] = [
            self.kill_a_worker, self.kill_a_tick, self.arm_a_worker, self.arm_a_tick, self.stop_a_worker,
            self.turn_the_provider, self.turn_the_provider, self.move_the_clock, self.move_the_clock,
            self.set_the_clock_back, self.repeat_messages, self.lose_messages, self.cut_a_connection,
            self.opt_out, self.pause_or_resume,
        ]  # fmt: skip
        _wait_at_most("1s")
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._supervise()
            self._remember_messages()
            misfortune = self.dice.choice(misfortunes)
            try:
                misfortune()
            except OperationalError:  # a stopped worker holds what this one wanted: it did not happen
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
            (self.workers, WORKERS, "work_for_ever"),
        ):
            for pid in [pid for pid in group if self.house.ended(pid) is not None]:
                group.discard(pid)
                self._a_death()
            while len(group) < wanted:
                group.add(self._start(job))

    def _start(self, job: str, failpoints: str = "") -> int:
        """Each on a host of its own: the locks of one host would keep two ticks from ever meeting."""
        host = str(self.house.folder / f"host-{self.dice.randint(1, 4)}")
        return self.house.start(job, failpoints=failpoints, settings={"VAR_DIR": host})

    def _a_death(self) -> None:
        for world in self.worlds:
            world.doubtful += CHUNK

    def _remember_messages(self) -> None:
        self.remembered = [*self.remembered, *OrmQ.objects.values_list("payload", flat=True)][-200:]

    # -- misfortunes ------------------------------------------------------------------------------

    def kill_a_worker(self) -> None:
        self._kill_one(self.workers)

    def kill_a_tick(self) -> None:
        self._kill_one(self.ticks)

    def _kill_one(self, group: set[int]) -> None:
        if group:
            self.house.kill(self.dice.choice(sorted(group)))

    def arm_a_worker(self) -> None:
        """A worker that will die at a place of the send path, sooner or later."""
        if self.workers:
            self.kill_a_worker()
            self._supervise()
        point, nth = self.dice.choice(WORKER), self.dice.randint(1, 6)
        self.workers.add(self._start("work_for_ever", f"{point}=kill@{nth}"))

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
        for payload in self.dice.sample(self.remembered, min(6, len(self.remembered))):
            OrmQ.objects.create(key="peyk", payload=payload, lock=timezone.localtime())

    def lose_messages(self) -> None:
        OrmQ.objects.all().delete()

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
        self.house.kill_all()
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


def soak(house: House, *, seed: int, seconds: float) -> Outcome:
    """Run the nemesis, let everything come to its end without faults, and judge."""
    url = house.new_provider()
    worlds = [
        make_world(house, f"soak-{name}-{seed}", people=PEOPLE, cap=CAP, username=name, url=url)
        for name in ("peyk", "neighbour")
    ]
    nemesis = Nemesis(house=house, worlds=worlds, dice=random.Random(seed))
    nemesis.run(seconds)
    breaches = []
    for world in worlds:
        world.drain()
        world.doubtful += sum(
            request.fault in DOUBTFUL for request in house.requests() if request.account == world.username
        )
        breaches += [f"{world.username}: {breach}" for breach in judge(world, clock_stood_still=False)]
    accepted = len(house.accepted())
    for world in worlds:
        world.leave()
    return Outcome(seed=seed, breaches=breaches, accepted=accepted, actions=nemesis.actions)

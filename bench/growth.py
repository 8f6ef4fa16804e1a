"""One campaign of ten thousand, a hundred thousand and a million people: cost a message, and a worker's memory.

A single worker process sends to the stand-in panel without delay. Of each campaign up to `--sample` messages
are sent (the last one until `--minutes` are over), while everybody else in it is due too and waits in line.
Cost is processor time of scheduler, worker and database server together, which other work on the machine
changes little; the stand-in is left out. Writes a picture of both with `--picture`.

With `--in-turn` all campaigns are there from the beginning and batches of a thousand take turns, so that
whatever else the machine does meets all sizes alike: the comparison of sizes, without the run of a million.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import house, traffic
from bench.cpu import Cpu, Meter
from bench.installation import Installation, Panel, installation, redis_url
from bench.picture import growth

WARM_UP = 2_000  # until caches are filled, pools open and the allocator has its arenas
BATCH, BATCH_IN_TURN = 5_000, 1_000


@dataclass(frozen=True, slots=True)
class Sample:
    """After so many messages of all campaigns: what the last batch took, memory of the worker in MiB."""

    people: int
    messages: int  # of all campaigns so far
    sent: int  # of this campaign so far
    batch: int
    seconds: float
    cpu: Cpu
    memory: float

    @property
    def cost(self) -> float:
        """Milliseconds of processor time a hundred messages."""
        return self.cpu.total / self.batch * 100_000


def main() -> None:
    options = _options()
    broker = f"{redis_url()}/14"
    house.new_database(house.database_url())
    with installation(database=house.database_url(), queue="celery", redis_at=broker) as made:
        house.set_up(made.environment)
        panel = made.start_panel()
        made.start_celery(count=1)
        samples = (run_in_turn if options.in_turn else run)(options, made, panel)
        print(traffic.check_books(panel))
    _report(samples)
    if options.picture:
        options.picture.write_text(growth(samples), encoding="utf-8")


def run(options: argparse.Namespace, made: Installation, panel: Panel) -> list[Sample]:
    """Each size in turn; the last one goes on until the time is up."""
    stop_at = time.monotonic() + options.minutes * 60
    samples: list[Sample] = []
    meter = _warm_up(made, panel)
    for people in options.sizes:
        campaign = _campaign(people, panel)
        sent = 0
        is_last = people == options.sizes[-1]
        while sent < people and (sent < options.sample or (is_last and time.monotonic() < stop_at)):
            batch = min(BATCH, people - sent)
            samples.append(_batch(campaign, people, sent, batch, panel, meter))
            sent += batch
            _tell(samples[-1])
        print(f"{people} people: {sent} messages sent", flush=True)
        _end(campaign)
    return samples


def run_in_turn(options: argparse.Namespace, made: Installation, panel: Panel) -> list[Sample]:
    """A batch of each size, then the next of each, beginning with another size each time."""
    stop_at = time.monotonic() + options.minutes * 60
    meter = _warm_up(made, panel)
    campaigns = {people: _campaign(people, panel) for people in options.sizes}
    samples: list[Sample] = []
    order, sent = list(campaigns), 0
    while sent < min(options.sample, *options.sizes) and time.monotonic() < stop_at:
        for people in order:
            _alone(campaigns[people], campaigns.values())
            samples.append(_batch(campaigns[people], people, sent, BATCH_IN_TURN, panel, meter))
            _tell(samples[-1])
        sent, order = sent + BATCH_IN_TURN, [*order[1:], order[0]]
    return samples


def _warm_up(made: Installation, panel: Panel) -> Meter:
    _send(_campaign(WARM_UP, panel), panel, WARM_UP)
    return Meter(worker=_busiest_child(made))


def _batch(campaign: Any, people: int, sent: int, batch: int, panel: Panel, meter: Meter) -> Sample:
    before = meter.read()
    seconds = _send(campaign, panel, batch)
    cpu = meter.read() - before
    messages = panel.counts()["messages"]
    return Sample(people, messages, sent + batch, batch, seconds, cpu, _memory(meter.worker))


def _alone(campaign: Any, others: Iterable[Any]) -> None:
    """Only this one runs, so that no other costs the scheduler a look."""
    from campaigns.models import Campaign
    from core import clock

    resting = Campaign.unscoped.filter(pk__in=[one.pk for one in others])
    resting.update(status="paused", paused_at=clock.now())
    resting.filter(pk=campaign.pk).update(status="active", paused_at=None)


def _campaign(people: int, panel: Panel) -> Any:
    """Everybody is due; nobody may be written to until a batch is let through."""
    return house.one_campaign(
        rows=people, due=people, targets=True, slug=f"bench{people}", provider_url=panel.url
    )


def _send(campaign: Any, panel: Panel, batch: int) -> float:
    """The day's limit lets one more batch through."""
    from automation.models import CounterScope, DailyCounter
    from campaigns.models import Campaign

    counter = DailyCounter.unscoped.filter(scope_type=CounterScope.CAMPAIGN, scope_id=campaign.pk)
    used = counter.values_list("used", flat=True).first() or 0
    Campaign.unscoped.filter(pk=campaign.pk).update(daily_limit=used + batch)
    return traffic.send_all(panel, batch)


def _end(campaign: Any) -> None:
    from campaigns.models import Campaign
    from core import clock

    Campaign.unscoped.filter(pk=campaign.pk).update(status="completed", finished_at=clock.now())


def _busiest_child(made: Installation) -> int:
    """The process of the worker that does the work: the one child of the last process that was started."""
    leader = made.children[-1].pid
    children = Path(f"/proc/{leader}/task/{leader}/children").read_text().split()
    if not children:
        sys.exit("the worker has no child process")
    return max((int(pid) for pid in children), key=_memory)


def _memory(pid: int) -> float:
    """Resident memory in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def _tell(sample: Sample) -> None:
    """A line a batch, so that a run that is cut short has measured something."""
    print(
        f"{sample.people:>8} {sample.sent:>8} {sample.messages:>8} {sample.batch / sample.seconds:6.0f}/s "
        f"{sample.cost:6.1f} ms {sample.memory:.1f} MiB",
        flush=True,
    )


def _report(samples: list[Sample]) -> None:
    for people in sorted({sample.people for sample in samples}):
        mine = [sample for sample in samples if sample.people == people]
        sent, spent = sum(one.batch for one in mine), sum((one.cpu for one in mine), Cpu())
        a_hundred = " + ".join(f"{name} {value / sent * 100_000:.0f}" for name, value in spent.parts())
        print(
            f"{people:>8} people, {sent} sent: {spent.total:.0f} s of processor time, "
            f"{spent.total / sent * 100_000:.0f} ms a hundred ({a_hundred}; batches "
            f"{min(one.cost for one in mine):.0f} to {max(one.cost for one in mine):.0f}); "
            f"{sent / sum(one.seconds for one in mine):.0f} messages/s of wall time"
        )
    first, last = samples[0], samples[-1]
    print(f"worker memory: {first.memory:.1f} MiB after {first.messages} messages, {last.memory:.1f} MiB after "
          f"{last.messages} ({last.memory - first.memory:+.1f} MiB), most "
          f"{max(sample.memory for sample in samples):.1f}")  # fmt: skip


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=_sizes, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--sample", type=int, default=20_000)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--in-turn", action="store_true")
    parser.add_argument("--picture", type=Path)
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


if __name__ == "__main__":
    main()

"""One campaign of ten thousand, a hundred thousand and a million people: cost a message, and a worker's memory.

A single worker process sends to the stand-in panel without delay. Of each campaign up to `--sample` messages
are sent (the last one until `--minutes` are over), while everybody else in it is due too and waits in line.
Writes a picture of both with `--picture`.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench import house, traffic
from bench.installation import Installation, Panel, installation, redis_url
from bench.picture import growth

WARM_UP = 2_000  # until caches are filled, pools open and the allocator has its arenas
BATCH = 5_000


@dataclass(frozen=True, slots=True)
class Sample:
    """After so many messages of all campaigns: seconds for the last batch, memory of the worker in MiB."""

    people: int
    messages: int
    rate: float
    memory: float


def main() -> None:
    options = _options()
    broker = f"{redis_url()}/14"
    house.new_database(house.database_url())
    with installation(database=house.database_url(), queue="celery", redis_at=broker) as made:
        house.set_up(made.environment)
        panel = made.start_panel()
        made.start_celery(count=1)
        samples = run(options, made, panel)
        print(traffic.check_books(panel))
    _report(samples)
    if options.picture:
        options.picture.write_text(growth(samples), encoding="utf-8")


def run(options: argparse.Namespace, made: Installation, panel: Panel) -> list[Sample]:
    """Each size in turn; the last one goes on until the time is up."""
    stop_at = time.monotonic() + options.minutes * 60
    samples: list[Sample] = []
    first = _campaign(WARM_UP, panel)
    _send(first, panel, WARM_UP)
    worker = _busiest_child(made)
    for people in options.sizes:
        campaign = _campaign(people, panel)
        sent = 0
        is_last = people == options.sizes[-1]
        while sent < people and (sent < options.sample or (is_last and time.monotonic() < stop_at)):
            batch = min(BATCH, people - sent)
            seconds = _send(campaign, panel, batch)
            sent += batch
            messages = panel.counts()["messages"]
            samples.append(Sample(people, messages, batch / seconds, _memory(worker)))
        print(f"{people} people: {sent} messages sent", flush=True)
        _end(campaign)
    return samples


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


def _report(samples: list[Sample]) -> None:
    for people in sorted({sample.people for sample in samples}):
        rates = [sample.rate for sample in samples if sample.people == people]
        print(
            f"{people:>8} people: {median(rates):.0f} messages/s, {1000 / median(rates) * 100:.0f} ms a hundred"
        )
    first, last = samples[0], samples[-1]
    growth_mib = last.memory - first.memory
    print(f"worker memory: {first.memory:.1f} MiB after {first.messages} messages, {last.memory:.1f} MiB after "
          f"{last.messages} ({growth_mib:+.1f} MiB)")  # fmt: skip


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=_sizes, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--sample", type=int, default=20_000)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--picture", type=Path)
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


if __name__ == "__main__":
    main()

"""Scheduler, queue, workers, HTTP to a panel and the record of it, beside two references and DBOS.

Product and references take turns on the same PostgreSQL and Redis, with the same number of workers and
calls in flight, so that a slow hour of the machine is slow for all of them. Fails when a message is lost.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import median
from typing import Any

from bench import house, traffic
from bench.installation import Installation, Panel, installation, redis_url
from bench.references import References
from script import processes

THREADS = 32
WARM_UP = 400
NAMES = {"product": "product", "set": "set-based reference", "naive": "one by one", "dbos": "DBOS"}


def main() -> None:
    options = _options()
    product_redis, reference_redis = f"{redis_url()}/14", f"{redis_url()}/15"
    house.new_database(house.database_url())
    with installation(database=house.database_url(), queue="celery", redis_at=product_redis) as made:
        house.set_up(made.environment)
        references = None
        if options.floors:
            references = References(
                options.floors, options.floors_python, redis_at=reference_redis, rows=options.rows,
                results=made.folder,
            )  # fmt: skip
            made.children.append(references.start_provider())
            references.prepare()
        run(options, made, references)


def run(options: argparse.Namespace, made: Installation, references: References | None) -> None:
    panel = made.start_panel(options.floors_python)
    campaign = house.one_campaign(rows=options.rows, due=0, targets=True, provider_url=panel.url)
    made.start_celery(count=options.workers)
    traffic.make_due(campaign, WARM_UP)
    traffic.send_all(panel, WARM_UP)
    rates: dict[tuple[str, int], list[float]] = {}
    for number in range(options.rounds):
        for name, delay in _cases(number, with_references=references is not None):
            people = options.people if name in ("product", "set") else max(100, options.people // 20)
            rate = _rate(options, panel, campaign, references, name, delay, people)
            rates.setdefault((name, delay), []).append(rate)
            print(f"round {number + 1}: {NAMES[name]}, {delay} ms: {rate:.0f}/s", flush=True)
    _print(rates)
    print(traffic.check_books(panel))


def _cases(number: int, *, with_references: bool) -> list[tuple[str, int]]:
    """Every case once; the order turns from round to round."""
    cases = [("product", 0), ("product", 50)]
    if with_references:
        cases += [("set", 0), ("set", 50), ("naive", 0), ("naive", 50), ("dbos", 0)]
    turn = (number * 2) % len(cases)
    return cases[turn:] + cases[:turn]


def _rate(
    options: argparse.Namespace,
    panel: Panel,
    campaign: Any,
    references: References | None,
    name: str,
    delay: int,
    people: int,
) -> float:
    if name == "product" or references is None:
        panel.delay(delay)
        traffic.make_due(campaign, people)
        return people / traffic.send_all(panel, people)
    if name == "dbos":
        return references.dbos_rate(workers=options.workers, walks=people)
    return references.rate(
        name, people=people, delay=delay, workers=options.workers, threads=THREADS if name == "set" else 1
    )


def _print(rates: dict[tuple[str, int], list[float]]) -> None:
    for delay in (0, 50):
        product = median(rates["product", delay])
        print(f"provider at {delay} ms: product {product:.0f} messages/s")
        for (name, theirs), values in sorted(rates.items()):
            if name != "product" and theirs in (delay, 0) and (name == "dbos" or theirs == delay):
                print(f"    of {NAMES[name]} ({median(values):.0f}/s): {product / median(values):.2f} times")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000, help="executions in the table")
    parser.add_argument("--people", type=int, default=5_000, help="messages of one case in one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--floors", type=Path, help="the folder of the reference scripts")
    parser.add_argument(
        "--floors-python", default=sys.executable, help="an interpreter with their requirements"
    )
    return parser.parse_args()


if __name__ == "__main__":
    with processes.unwinding_on_signals():
        main()

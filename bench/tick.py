"""Claim and dispatch into Celery's queue on Redis, beside one hand-written claim with the same messages."""

from __future__ import annotations

import argparse
import sys
import time
from datetime import datetime
from statistics import median
from typing import Any
from uuid import uuid4

import redis

from bench import house
from bench.claim import CTE, UNDO
from bench.installation import installation, redis_url

BATCH = 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--due", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    broker = f"{redis_url()}/14"
    house.new_database(house.database_url())
    with installation(database=house.database_url(), queue="celery", redis_at=broker) as made:
        house.set_up(made.environment)
        campaign = house.one_campaign(rows=options.rows, due=options.due, targets=False)
        _measure(campaign, redis.Redis.from_url(broker), options)


def _measure(campaign: Any, broker: Any, options: argparse.Namespace) -> None:
    rates: dict[str, list[float]] = {"product": [], "floor": []}
    cases = {"floor": lambda: _floor(campaign), "product": _product}
    for _ in range(options.rounds):
        for name, case in cases.items():
            broker.flushdb()
            began = time.perf_counter()
            claimed = case()
            rates[name].append(options.due / (time.perf_counter() - began))
            messages = broker.llen("automation")
            if claimed != options.due or messages != options.due // BATCH * -(-BATCH // _size()):
                sys.exit(f"{name}: {claimed} of {options.due} were claimed in {messages} messages")
            _again()
    broker.flushdb()
    product, floor = median(rates["product"]), median(rates["floor"])
    print(f"tick, claim and dispatch of {options.due} out of {options.rows}: product {product:.0f}/s   "
          f"floor {floor:.0f}/s   of the floor {product / floor:.2f}")  # fmt: skip


def _size() -> int:
    """How many executions a message of a full claim names."""
    from automation.runtime.tick import message_size

    return message_size(BATCH)


def _product() -> int:
    from automation.runtime.tick import run_tick

    return run_tick(seconds=300).dispatched


def _floor(campaign: Any) -> int:
    from django.db import connection

    from automation.runtime.runner import PROCESS_TASK
    from core.queue.celery_tasks import run_message

    done, moment, size = 0, datetime.now().astimezone(), _size()
    with connection.cursor() as cursor:
        while True:
            token = uuid4()
            cursor.execute(CTE, {"c": campaign.pk, "n": BATCH, "t": token, "now": moment})
            ids = [row[0] for row in cursor.fetchall()]
            if not ids:
                return done
            for start in range(0, len(ids), size):
                message = {"v": 1, "workspace": campaign.workspace_id, "ids": ids[start : start + size],
                           "token": str(token)}  # fmt: skip
                run_message.apply_async(args=[PROCESS_TASK, message], queue="automation")
            done += len(ids)


def _again() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(UNDO)
        cursor.execute("VACUUM ANALYZE automation_workflowexecution")


if __name__ == "__main__":
    main()

"""Claims out of a large table, beside one hand-written CTE; and a tick with nothing due."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from typing import Any
from uuid import uuid4

from bench import house

CTE = """
WITH due AS MATERIALIZED (
  SELECT id FROM automation_workflowexecution
  WHERE campaign_id = %(c)s AND consumes_budget AND status IN ('active', 'waiting') AND next_run_at <= now()
  ORDER BY next_run_at, eligible_at, id LIMIT %(n)s FOR UPDATE SKIP LOCKED)
UPDATE automation_workflowexecution e SET status = 'queued', lock_token = %(t)s, locked_at = now(),
  revision = revision + 1 FROM due WHERE e.id = due.id RETURNING e.id"""
LATER = """UPDATE automation_workflowexecution SET status = 'waiting', next_run_at = now() + interval '9 days'
WHERE next_run_at <= now()"""
ROUNDS = 30
UNDO = """UPDATE automation_workflowexecution SET status = 'active', lock_token = NULL, locked_at = NULL
WHERE lock_token IS NOT NULL"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    house.set_up()
    from django.db import connection, transaction

    from automation.runtime import claim
    from core import clock
    from core.tenancy import workspace_scope

    due = min(100_000, options.rows // 2)
    campaign = house.one_campaign(rows=options.rows, due=due, targets=False)

    def floor(size: int) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(CTE, {"c": campaign.pk, "n": size, "t": uuid4()})
            assert len(cursor.fetchall()) == size

    def product(size: int) -> None:
        with transaction.atomic():
            ids = claim.claim_due(campaign.pk, consuming=True, limit=size, token=uuid4(), now=clock.now())
        assert len(ids) == size

    with workspace_scope(campaign.workspace_id):
        for size in (1_000, 10_000):
            figures = house.interleaved(
                {"floor": lambda n=size: floor(n), "product": lambda n=size: product(n)},  # type: ignore[misc]
                rounds=min(options.rounds, due // size // 2),
            )
            ratio = figures["product"] / figures["floor"]
            print(f"claim {size:>6}: product {figures['product'] * 1000:8.1f} ms   "
                  f"floor {figures['floor'] * 1000:8.1f} ms   ratio {ratio:.2f}")  # fmt: skip
            with connection.cursor() as cursor:
                cursor.execute(UNDO)
                cursor.execute("VACUUM ANALYZE automation_workflowexecution")
    empty_tick()


def empty_tick() -> None:
    """Everything waits for another day: what one tick costs in the database."""
    from django.db import connection

    from automation.runtime.tick import run_tick

    with connection.cursor() as cursor:
        cursor.execute(LATER)
    for label, vacuum in (("right after 100,000 were moved on", False), ("at rest", True)):
        if vacuum:
            with connection.cursor() as cursor:
                cursor.execute("VACUUM ANALYZE automation_workflowexecution")
        run_tick()
        statements = _statements(run_tick)
        inside = [sum(_inside(text, values) for text, values in statements) for _ in range(ROUNDS)]
        waited = [_waited(run_tick) for _ in range(ROUNDS)]
        print(f"tick with nothing due, {label}: {len(statements)} statements, median {median(inside):.2f} ms in the "
              f"database (planning and execution), {median(waited):.2f} ms waited for by the client")  # fmt: skip


Watch = Callable[[str, Any, Callable[[], Any]], Any]


def _watched(act: Callable[[], object], watch: Watch) -> None:
    """Run `act`, handing each of its statements to `watch` with the call that executes it."""
    from django.db import connection

    def wrapper(execute: Any, text: str, values: Any, many: bool, context: Any) -> Any:
        return watch(text, values, lambda: execute(text, values, many, context))

    with connection.execute_wrapper(wrapper):
        act()


def _statements(act: Callable[[], object]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []

    def watch(text: str, values: Any, execute: Callable[[], Any]) -> Any:
        found.append((text, values))
        return execute()

    _watched(act, watch)
    return found


def _waited(act: Callable[[], object]) -> float:
    """Milliseconds until the client had its answers, the way there and back included."""
    times: list[float] = []

    def watch(_text: str, _values: Any, execute: Callable[[], Any]) -> Any:
        with house.timed(times):
            return execute()

    _watched(act, watch)
    return sum(times) * 1000


def _inside(text: str, values: Any) -> float:
    """Milliseconds that PostgreSQL itself counts for planning and executing one statement."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, SUMMARY ON) {text}", values)
        lines = [str(row[0]) for row in cursor.fetchall()]
    return sum(
        float(line.split()[2]) for line in lines if line.startswith(("Planning Time", "Execution Time"))
    )


if __name__ == "__main__":
    main()

"""Claims out of a large table, beside one hand-written CTE; and a tick with nothing due."""

from __future__ import annotations

import argparse
from uuid import uuid4

from bench import house

CTE = """
WITH due AS MATERIALIZED (
  SELECT id FROM automation_workflowexecution
  WHERE campaign_id = %(c)s AND consumes_budget AND status IN ('active', 'waiting') AND next_run_at <= now()
  ORDER BY next_run_at, eligible_at, id LIMIT %(n)s FOR UPDATE SKIP LOCKED)
UPDATE automation_workflowexecution e SET status = 'queued', lock_token = %(t)s, locked_at = now(),
  revision = revision + 1 FROM due WHERE e.id = due.id RETURNING e.id"""
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
    empty_tick(campaign)


def empty_tick(campaign: object) -> None:
    """Everything waits for another day: what one tick costs in the database."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from automation.runtime.tick import run_tick

    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE automation_workflowexecution SET status = 'waiting', next_run_at = now() + interval '9 days' "
            "WHERE next_run_at <= now()"
        )
    for label, vacuum in (("right after 100,000 were moved on", False), ("at rest", True)):
        if vacuum:
            with connection.cursor() as cursor:
                cursor.execute("VACUUM ANALYZE automation_workflowexecution")
        run_tick()
        spent = []
        for _ in range(20):
            with CaptureQueriesContext(connection) as queries:
                run_tick()
            spent.append(sum(float(query["time"]) for query in queries) * 1000)
        print(
            f"tick with nothing due, {label}: median {sorted(spent)[10]:.1f} ms in {len(queries)} statements"
        )


if __name__ == "__main__":
    main()

"""The statements that run all day find their rows by the index that was made for them, in a large table.

The statements are the product's own, as they were sent; PostgreSQL's planner is asked what it would do.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import connection

from automation import counters, transitions
from automation.models import WorkflowExecution
from automation.runtime import claim, reaper
from automation.runtime.tick import run_tick
from campaigns.policy import CampaignPolicies
from core import clock as core_clock
from sms.models import SmsLog
from tests.clocks import MovableClock
from tests.factories import make_sms_log
from tests.scenario import Scenario
from workspaces.models import Workspace

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

TABLE = WorkflowExecution._meta.db_table
MESSAGES = SmsLog._meta.db_table
LARGE = (TABLE, MESSAGES)
WAITING, DUE, QUEUED = 20_000, 300, 3_000
COPIES = """
INSERT INTO {table} ({columns}, subject_id, status, next_run_at, lock_token, locked_at)
SELECT {picks}, %(from)s + i, CASE WHEN %(queued)s THEN 'queued' ELSE 'waiting' END,
  walk.next_run_at + CASE WHEN i <= %(due)s THEN interval '0' ELSE interval '1 day' + i * interval '1 s' END,
  CASE WHEN %(queued)s THEN %(token)s::uuid END, CASE WHEN %(queued)s THEN %(now)s::timestamptz END
FROM {table} walk, generate_series(1, %(count)s) i WHERE walk.id = %(walk)s"""
KEYS = (f"{TABLE}_pkey",)
MESSAGE_COPIES = """
INSERT INTO {table} ({columns}, idempotency_key, row_key, status)
SELECT {picks}, 'copy' || i, 'copy' || i, 'delivered'
FROM {table} message, generate_series(1, %(count)s) i WHERE message.id = %(message)s"""
OWN = ("id", "subject_id", "status", "next_run_at", "lock_token", "locked_at")


class Crowd:
    """One campaign in which 20,000 wait, some are due and thousands are in the hands of workers."""

    def __init__(self, clock: MovableClock) -> None:
        self.now, self.token = clock.at, uuid4()
        self.campaign = Scenario(people=1, cap=1_000_000).campaign
        self._copy(count=WAITING, due=DUE, queued=False)
        with connection.cursor() as cursor:  # in a quiet hour: nothing is locked when statistics are taken
            cursor.execute(f"ANALYZE {TABLE}")
        self._copy(count=QUEUED, due=0, queued=True)
        rows = WorkflowExecution.objects.filter(lock_token=self.token)
        self.queued = list(rows.order_by("pk").values_list("pk", flat=True)[:100])

    def _copy(self, *, count: int, due: int, queued: bool) -> None:
        walk = WorkflowExecution.objects.order_by("pk")[0]
        names = [field.column for field in WorkflowExecution._meta.concrete_fields if field.column not in OWN]
        picks = ", ".join(f"walk.{name}" for name in names)
        statement = COPIES.format(table=TABLE, columns=", ".join(names), picks=picks)
        values: dict[str, Any] = {
            "count": count, "due": due, "queued": queued, "walk": walk.pk, "now": self.now,
            "token": self.token, "from": 5_000_000 if queued else 1_000_000,
        }  # fmt: skip
        with connection.cursor() as cursor:
            cursor.execute(statement, values)


@pytest.fixture
def crowd(workspace: Workspace, clock: MovableClock) -> Crowd:
    if connection.vendor != "postgresql":
        pytest.skip("asks PostgreSQL's planner")
    return Crowd(clock)


def many_messages(workspace: Workspace, count: int) -> None:
    """So many that were delivered long ago."""
    own = ("id", "idempotency_key", "row_key", "status")
    names = [field.column for field in SmsLog._meta.concrete_fields if field.column not in own]
    picks = ", ".join(f"message.{name}" for name in names)
    message = make_sms_log(workspace, status="delivered")
    statement = MESSAGE_COPIES.format(table=MESSAGES, columns=", ".join(names), picks=picks)
    with connection.cursor() as cursor:
        cursor.execute(statement, {"count": count, "message": message.pk})
        cursor.execute(f"ANALYZE {MESSAGES}")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement as it was sent. `prepared`: the server may plan it once for all values to come."""

    text: str
    values: Any
    prepared: bool

    def explain(self) -> list[Any]:
        """Its plans: with its values and, when it is prepared, without."""
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (FORMAT JSON) {self.text}", self.values)
            found = [cursor.fetchone()[0]]
            if self.prepared:
                places = itertools.count(1)
                text = re.sub("%s", lambda _match: f"${next(places)}", self.text)
                blanks = ", ".join(["NULL"] * (next(places) - 1))
                cursor.execute(f"PREPARE asked AS {text}")
                cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
                cursor.execute(f"EXPLAIN (FORMAT JSON) EXECUTE asked ({blanks})")
                found.append(cursor.fetchone()[0])
                cursor.execute("SET LOCAL plan_cache_mode = auto")
                cursor.execute("DEALLOCATE asked")
        return [json.loads(plan) if isinstance(plan, str) else plan for plan in found]


@contextmanager
def sent() -> Iterator[list[Statement]]:
    """The statements on large tables that the block sends."""
    statements: list[Statement] = []

    def watch(execute: Any, text: str, values: Any, many: bool, context: Any) -> Any:
        if any(table in text for table in LARGE):
            prepared = not isinstance(context["cursor"].cursor, psycopg.ClientCursor)
            statements.append(Statement(text, values, prepared))
        return execute(text, values, many, context)

    with connection.execute_wrapper(watch):
        yield statements


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def indexes(statement: Statement) -> set[str]:
    """The indexes by which the rows of large tables are found. A full scan is a failure."""
    scans = [
        node
        for plan in statement.explain()
        for node in nodes(plan[0]["Plan"])
        if node.get("Relation Name") in LARGE or "Index Name" in node
    ]
    full = [node for node in scans if node["Node Type"] == "Seq Scan" and node["Relation Name"] in LARGE]
    assert not full, statement.text
    found = {str(node["Index Name"]) for node in scans if "Index Name" in node}
    return {"key" if name in KEYS else name for name in found}


def plans(act: Callable[[], object]) -> list[set[str]]:
    with sent() as statements:
        act()
    assert statements
    return [indexes(statement) for statement in statements]


def test_a_claim_finds_the_due_by_their_index(crowd: Crowd) -> None:
    (found, *_) = plans(lambda: take_due(crowd))
    assert found == {"execution_due", "key"}


def take_due(crowd: Crowd) -> list[int]:
    return claim.claim_due(crowd.campaign.pk, consuming=True, limit=100, token=uuid4(), now=crowd.now)


def test_whether_anybody_is_due_is_one_look_into_the_same_index(crowd: Crowd) -> None:
    with sent() as statements:
        assert CampaignPolicies().due(crowd.now)
    assert [indexes(s) & {"execution_due", "execution_counted"} for s in statements] == [{"execution_due"}]


def test_a_closed_window_moves_the_due_by_the_same_index(crowd: Crowd) -> None:
    opens_at = crowd.now + timedelta(hours=9)
    assert plans(lambda: claim.shift_to_opening(crowd.campaign.pk, opens_at, crowd.now)) == [
        {"execution_due"}
    ]


def test_those_in_line_are_counted_by_the_same_index(crowd: Crowd) -> None:
    assert plans(lambda: claim.count_due(crowd.campaign.pk, crowd.now)) == [{"execution_due"}]


def test_expired_claims_are_found_by_their_lock(crowd: Crowd) -> None:
    with sent() as statements:
        reaper.reap(crowd.now - timedelta(days=1))
    assert [indexes(statement) for statement in statements] == [{"execution_locked"}]


def test_what_is_in_flight_is_counted_by_its_lock(crowd: Crowd) -> None:
    policies = [found.policy for found in CampaignPolicies().due(crowd.now)]
    assert plans(lambda: counters.Budgets(policies, crowd.now)) == [{"execution_locked"}]


def test_a_guarded_write_goes_by_the_key_while_thousands_are_in_line(crowd: Crowd) -> None:
    assert plans(lambda: transitions.take(crowd.queued, crowd.token, core_clock.now())) == [{"key"}]


@pytest.mark.parametrize("count", [1, 100])
def test_putting_back_goes_by_the_key_too(crowd: Crowd, count: int) -> None:
    assert plans(lambda: transitions.put_back(crowd.queued[:count], UUID(int=0))) == [{"key"}]


def test_an_idle_tick_reads_no_large_table_from_end_to_end(crowd: Crowd, workspace: Workspace) -> None:
    many_messages(workspace, 20_000)
    later = crowd.now + timedelta(days=1)
    WorkflowExecution.objects.filter(status="waiting").update(next_run_at=later)
    WorkflowExecution.objects.filter(status="active").update(next_run_at=later)
    run_tick()
    found = plans(run_tick)  # a full scan is a failure by itself
    assert any("execution_due" in one for one in found)
    assert any("execution_locked" in one for one in found)

"""The durable work of a send step in chunks of a hundred, beside hand-written SQL and the ORM one by one."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

from bench import house

CHUNK = 100
FLOOR_TABLES = """
CREATE TABLE floor_execution AS SELECT id, workspace_id, campaign_id, current_node_id AS node_id, status, revision,
  lock_token, locked_at, next_run_at, eligible_at, metadata, updated_at FROM automation_workflowexecution;
ALTER TABLE floor_execution ADD PRIMARY KEY (id);
CREATE INDEX ON floor_execution (next_run_at, eligible_at, id) WHERE status IN ('active', 'waiting');
CREATE INDEX ON floor_execution (locked_at) WHERE locked_at IS NOT NULL;
CREATE INDEX ON floor_execution (workspace_id, campaign_id, status);
CREATE TABLE floor_attempt (id bigserial PRIMARY KEY, workspace_id bigint, execution_id bigint, key text UNIQUE,
  recipient text, body text, status text, provider_id text, finished_at timestamptz);
CREATE INDEX ON floor_attempt (execution_id);
CREATE INDEX ON floor_attempt (provider_id) WHERE provider_id IS NOT NULL;
CREATE TABLE floor_event (id bigserial PRIMARY KEY, workspace_id bigint, execution_id bigint, kind text, payload jsonb,
  created_at timestamptz DEFAULT now());
CREATE INDEX ON floor_event (execution_id, id);
CREATE TABLE floor_counter (workspace_id bigint PRIMARY KEY, n bigint);
"""
BODY = "سلام کاربر عزیز، به بازار خوش آمدید."


def floor_chunk(cursor: Any, ids: Sequence[int], workspace_id: int) -> None:
    """Three transactions of set-based SQL: take, attempt and counter, result and event and move."""
    ids = list(ids)
    keys = [f"{pk}:1" for pk in ids]
    cursor.execute("BEGIN")
    cursor.execute(
        "UPDATE floor_execution SET status = 'processing', revision = revision + 1 "
        "WHERE id = ANY(%s) AND status = 'queued'", [ids])  # fmt: skip
    cursor.execute("COMMIT; BEGIN")
    cursor.execute(
        "INSERT INTO floor_attempt (workspace_id, execution_id, key, recipient, body, status) "
        "SELECT %s, e, k, '09120000000', %s, 'sending' FROM unnest(%s::bigint[], %s::text[]) u(e, k)",
        [workspace_id, BODY, ids, keys])  # fmt: skip
    cursor.execute("UPDATE floor_counter SET n = n + %s WHERE workspace_id = %s", [len(ids), workspace_id])
    cursor.execute("COMMIT; BEGIN")
    cursor.execute(
        "UPDATE floor_attempt a SET status = 'sent', provider_id = u.k, finished_at = now() "
        "FROM unnest(%s::text[]) u(k) WHERE a.key = u.k", [keys])  # fmt: skip
    cursor.execute(
        "INSERT INTO floor_event (workspace_id, execution_id, kind, payload) "
        "SELECT %s, e, 'sms_sent', p::jsonb FROM unnest(%s::bigint[], %s::text[]) u(e, p)",
        [workspace_id, ids, [json.dumps({"parts": 2})] * len(ids)])  # fmt: skip
    cursor.execute(
        "UPDATE floor_execution SET status = 'waiting', next_run_at = now() + interval '3 days', lock_token = NULL, "
        "locked_at = NULL, revision = revision + 1 WHERE id = ANY(%s) AND status = 'processing'", [ids])  # fmt: skip
    cursor.execute("COMMIT")


def orm_one(pk: int) -> None:
    """What most teams write: read, three saves, three transactions."""
    from django.db import transaction
    from django.db.models import F

    from automation.models import DailyCounter, WorkflowExecution, WorkflowExecutionEvent
    from core import clock
    from sms.models import SmsLog

    row = WorkflowExecution.objects.get(pk=pk)
    with transaction.atomic():
        WorkflowExecution.objects.filter(pk=pk, status="queued", revision=row.revision).update(
            status="processing", revision=F("revision") + 1
        )
    with transaction.atomic():
        log = SmsLog.objects.create(
            workspace_id=row.workspace_id, execution_id=pk, campaign_id=row.campaign_id, status="sending",
            idempotency_key=f"orm:{pk}", partition_key=f"orm:{pk}", row_key="1", phone_number=f"0913{pk:07d}",
            final_message=BODY, request_at=clock.now(),
        )  # fmt: skip
        DailyCounter.objects.filter(scope_type="campaign", scope_id=row.campaign_id).update(
            used=F("used") + 1
        )
    with transaction.atomic():
        log.status, log.provider_message_id, log.response_at = "submitted", str(pk), clock.now()
        log.save()
        WorkflowExecutionEvent.objects.create(
            workspace_id=row.workspace_id, execution_id=pk, campaign_id=row.campaign_id, subject_id=row.subject_id,
            type="sms_attempt", data={"parts": 2}, occurred_at=clock.now(),
        )  # fmt: skip
        WorkflowExecution.objects.filter(pk=pk, status="processing").update(
            status="waiting", next_run_at=clock.now() + timedelta(days=3), lock_token=None, locked_at=None,
            revision=F("revision") + 1,
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=4_000)
    parser.add_argument("--rows", type=int, default=200_000)
    options = parser.parse_args()
    house.set_up()
    house.stub_provider()
    from django.db import connection

    from automation.runtime.runner import process_executions
    from core.tenancy import workspace_scope

    campaign = house.one_campaign(rows=options.rows, due=options.people, targets=True)
    token = uuid4()
    with workspace_scope(campaign.workspace_id), connection.cursor() as cursor:
        ids = _claim(options.people, campaign, token)
        cursor.execute(FLOOR_TABLES)
        cursor.execute("INSERT INTO floor_counter VALUES (%s, 0)", [campaign.workspace_id])
        cursor.execute("VACUUM ANALYZE")
        chunks = [ids[at : at + CHUNK] for at in range(0, len(ids), CHUNK)]
        process_executions(campaign.workspace_id, chunks[0], token)  # connections, pools and caches are warm
        times: dict[str, list[float]] = {"product": [], "floor": [], "orm": []}
        for number, chunk in enumerate(chunks[1:]):
            if number % 10 == 9:
                with house.timed(times["orm"]):
                    for pk in chunk:
                        orm_one(pk)
                continue
            with house.timed(times["product"]):
                process_executions(campaign.workspace_id, chunk, token)
            with house.timed(times["floor"]):
                floor_chunk(cursor, chunk, campaign.workspace_id)
    rates = {name: CHUNK / sorted(values)[len(values) // 2] for name, values in times.items()}
    print(f"send step, chunks of {CHUNK}, one connection: product {rates['product']:.0f}/s   "
          f"floor {rates['floor']:.0f}/s   ORM one by one {rates['orm']:.0f}/s")  # fmt: skip
    print(
        f"of the floor: {rates['product'] / rates['floor']:.2f}   times the ORM: {rates['product'] / rates['orm']:.1f}"
    )


def _claim(people: int, campaign: Any, token: Any) -> list[int]:
    from automation.runtime import claim
    from core import clock

    return claim.claim_due(campaign.pk, consuming=True, limit=people, token=token, now=clock.now())


if __name__ == "__main__":
    main()

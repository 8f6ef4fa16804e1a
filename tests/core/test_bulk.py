from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from automation.models import WorkflowExecution
from core.bulk import update_from_values, update_returning
from tests.clocks import MovableClock
from tests.scenario import Scenario
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows(workspace: Workspace, clock: MovableClock) -> list[WorkflowExecution]:
    scenario = Scenario(people=3)
    return list(WorkflowExecution.objects.filter(campaign=scenario.campaign).order_by("pk"))


def test_different_values_go_to_different_rows_in_one_statement(
    rows: list[WorkflowExecution], clock: MovableClock
):
    values = [
        {
            "id": row.pk,
            "next_run_at": clock.at + timedelta(days=i),
            "metadata": {"کد": f"«{i}»"},
            "end_reason": "",
        }
        for i, row in enumerate(rows)
    ]
    with CaptureQueriesContext(connection) as queries:
        changed = update_from_values(WorkflowExecution, values, guard={"status": "active"})
    assert len(queries) == 1
    assert sorted(changed) == [row.pk for row in rows]
    for i, row in enumerate(rows):
        row.refresh_from_db()
        assert (row.next_run_at, row.metadata) == (clock.at + timedelta(days=i), {"کد": f"«{i}»"})


def test_a_row_that_no_longer_fits_the_guard_is_left_alone(rows: list[WorkflowExecution]):
    WorkflowExecution.objects.filter(pk=rows[1].pk).update(last_action="moved")
    values = [{"id": row.pk, "last_error": "x"} for row in rows]
    changed = update_from_values(WorkflowExecution, values, guard={"last_action": ("", "other")})
    assert sorted(changed) == [rows[0].pk, rows[2].pk]


def test_nulls_uuids_booleans_and_keys_survive(rows: list[WorkflowExecution], clock: MovableClock):
    token = uuid4()
    update_from_values(
        WorkflowExecution,
        [
            {
                "id": rows[0].pk, "status": "queued", "lock_token": token, "locked_at": clock.at,
                "entered": True, "current_node_id": rows[0].current_node_id, "started_at": None,
                "retry_count": 2,
            }
        ],
        guard={"status": "active"},
        increment=["revision"],
    )  # fmt: skip
    row = WorkflowExecution.objects.get(pk=rows[0].pk)
    assert (row.lock_token, row.entered, row.started_at, row.retry_count, row.revision) == (
        token,
        True,
        None,
        2,
        1,
    )


def test_hostile_text_is_a_value_like_any_other(rows: list[WorkflowExecution]):
    hostile = '\'); DROP TABLE x; -- {"a": [1,2]} \\ ,{}'
    update_from_values(
        WorkflowExecution, [{"id": rows[0].pk, "last_error": hostile}], guard={"status": "active"}
    )
    rows[0].refresh_from_db()
    assert rows[0].last_error == hostile


def test_no_rows_are_no_query():
    with CaptureQueriesContext(connection) as queries:
        assert update_from_values(WorkflowExecution, [], guard={}) == []
    assert len(queries) == 0


def test_changed_ids_come_in_the_wanted_order(rows: list[WorkflowExecution], clock: MovableClock):
    for hours, row in enumerate(reversed(rows)):
        WorkflowExecution.objects.filter(pk=row.pk).update(next_run_at=clock.at + timedelta(hours=hours))
    changed = update_returning(
        WorkflowExecution.objects.all(), order_by=("next_run_at",), last_action="moved"
    )
    assert changed == [row.pk for row in reversed(rows)]


def test_equals_come_in_the_order_of_their_ids(rows: list[WorkflowExecution]):
    changed = update_returning(
        WorkflowExecution.objects.all(), order_by=("next_run_at",), last_action="moved"
    )
    assert changed == [row.pk for row in rows]

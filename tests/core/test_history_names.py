"""What a line of history names is checked by PostgreSQL once a statement, as strictly as by foreign keys."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction

from automation.models import WorkflowExecutionEvent, WorkflowNode
from automation.runtime.events import EventLine, event_row, store
from campaigns.models import Campaign
from tests.clocks import MovableClock
from tests.factories import make
from tests.scenario import Scenario
from workspaces.models import Workspace

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.postgres,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has plain foreign keys here"),
]


@pytest.fixture
def line(workspace: Workspace, clock: MovableClock) -> EventLine:
    row = Scenario().execution()
    return event_row(row, "paused", clock.at, node_id=row.current_node_id)


def refused(line: EventLine, **changed: Any) -> str:
    good = line._replace(message="a good line in the same statement")
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        store([good, line._replace(**changed)])
    assert isinstance(caught.value.__cause__, psycopg.errors.ForeignKeyViolation)
    return str(caught.value)


def test_lines_that_name_their_own_are_taken(line: EventLine):
    before = WorkflowExecutionEvent.objects.count()
    store([line, line._replace(node_id=None)])
    assert WorkflowExecutionEvent.objects.count() == before + 2


def test_another_workspace_s_step_is_refused(line: EventLine, other_workspace: Workspace):
    theirs = make(WorkflowNode, other_workspace)
    assert "node_id_in_workspace" in refused(line, node_id=theirs.pk)


def test_a_step_that_does_not_exist_is_refused(line: EventLine):
    assert "node_id_in_workspace" in refused(line, node_id=10**12)


def test_another_workspace_s_campaign_is_refused(line: EventLine, other_workspace: Workspace):
    theirs = make(Campaign, other_workspace)
    assert "campaign_id_in_workspace" in refused(line, campaign_id=theirs.pk)


def test_a_campaign_that_is_not_the_execution_s_is_refused(line: EventLine, workspace: Workspace):
    other = make(Campaign, workspace)
    assert "campaign_id_in_workspace" in refused(line, campaign_id=other.pk)


def test_another_workspace_is_refused(line: EventLine, other_workspace: Workspace):
    assert "in_workspace" in refused(line, workspace_id=other_workspace.pk)


def test_an_execution_that_does_not_exist_is_refused(line: EventLine):
    assert "execution_id_in_workspace" in refused(line, execution_id=10**12)

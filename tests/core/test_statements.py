from __future__ import annotations

from datetime import timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from automation.models import WorkflowExecution
from automation.states import ExecutionStatus
from campaigns.models import Campaign
from core.bulk import insert_rows, update_from_values
from core.statements import array, load, read
from sms.models import SmsLog, SmsStatus
from targets.models import Target
from tests.clocks import MovableClock
from tests.factories import make
from tests.scenario import Scenario
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db
AWKWARD = ["", "NULL", "null", 'a"b', "a\\b", "{a,b}", "سلام، «دنیا»", "a,b", " leading", "line\nbreak", "'"]


@pytest.fixture
def scenario(workspace: Workspace, clock: MovableClock) -> Scenario:
    return Scenario(people=3)


def test_values_are_those_the_model_holds(scenario: Scenario, clock: MovableClock):
    row = scenario.execution()
    token = uuid4()
    values = {"status": "queued", "lock_token": token, "locked_at": clock.at, "metadata": {"کد": [1, None]}}
    WorkflowExecution.objects.filter(pk=row.pk).update(**values, entered=True, wake_at=None)
    names = ("id", "lock_token", "locked_at", "metadata", "entered", "wake_at", "next_run_at", "last_action")

    [found] = read(WorkflowExecution, names, {"id": [row.pk]})

    row.refresh_from_db()
    assert found == tuple(getattr(row, name) for name in names)


def test_one_of_null_and_a_choice_select_rows(scenario: Scenario):
    ids = [row.pk for row in WorkflowExecution.objects.order_by("pk")]
    WorkflowExecution.objects.filter(pk=ids[1]).update(wake_at=scenario.execution().next_run_at)
    wanted = {"id": ids, "wake_at": None, "status": ExecutionStatus.ACTIVE}
    assert read(WorkflowExecution, ("id",), wanted, order=("-id",)) == [(ids[2],), (ids[0],)]


def test_nothing_wanted_is_nothing_found(scenario: Scenario):
    assert read(WorkflowExecution, ("id",), {"id": []}) == []


def test_rows_of_another_workspace_are_not_found(scenario: Scenario, other_workspace: Workspace):
    theirs = make(Target, other_workspace)
    ours = scenario.targets[0]
    found = read(Target, ("id",), {"id": [theirs.pk, ours.pk]}, workspace_id=ours.workspace_id)
    assert found == [(ours.pk,)]


def test_whole_rows_come_with_what_they_name(scenario: Scenario):
    with CaptureQueriesContext(connection) as queries:
        [campaign] = load(Campaign, {"id": scenario.campaign.pk}, related=("workflow_version", "workspace"))
        beside = (campaign.workflow_version.settings, campaign.workspace.name)
    assert len(queries) == 1
    made = scenario.campaign
    assert (campaign, *beside) == (made, made.workflow_version.settings, made.workspace.name)


def test_any_text_survives_the_way_there_and_back(workspace: Workspace, clock: MovableClock):
    scenario = Scenario(people=len(AWKWARD))
    ids = sorted(WorkflowExecution.objects.values_list("pk", flat=True))
    rows = [
        {"id": pk, "last_error": text, "metadata": {"t": text}} for pk, text in zip(ids, AWKWARD, strict=True)
    ]
    update_from_values(WorkflowExecution, rows, guard={"campaign_id": scenario.campaign.pk})
    found = read(WorkflowExecution, ("last_error", "metadata"), {"id": ids}, order=("id",))
    assert found == [(text, {"t": text}) for text in AWKWARD]


def test_any_text_finds_its_row(workspace: Workspace):
    rows = [
        {"idempotency_key": f"k{i}", "workspace_id": workspace.pk, "partition_key": "p", "row_key": f"r{i}",
         "status": SmsStatus.SKIPPED, "error_message": text}
        for i, text in enumerate(AWKWARD)
    ]  # fmt: skip
    insert_rows(SmsLog, rows)
    found = read(SmsLog, ("error_message",), {"workspace_id": workspace.pk, "error_message": AWKWARD})
    assert sorted(text for (text,) in found) == sorted(AWKWARD)


def test_a_missing_value_in_an_array_is_null_and_the_word_is_a_word():
    field = SmsLog._meta.get_field("error_code")
    assert array(field, ["NULL", None]) == '{"NULL",NULL}'
    assert array(SmsLog._meta.get_field("cycle"), [1, None]) == "{1,NULL}"
    assert array(field, []) == "{}"


def test_moments_are_the_same_moment_in_any_zone(scenario: Scenario, clock: MovableClock):
    pk = scenario.execution().pk
    later = (clock.at + timedelta(hours=5)).astimezone(ZoneInfo("Asia/Tehran"))
    update_from_values(WorkflowExecution, [{"id": pk, "next_run_at": later}], guard={"id": pk})
    assert read(WorkflowExecution, ("next_run_at",), {"id": pk}) == [(later,)]

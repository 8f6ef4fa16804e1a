"""People, workers and endings at the same moment: one wins, nobody overwrites."""

from __future__ import annotations

import threading
from uuid import uuid4

import pytest
from django.db import transaction

from automation import control
from automation.control_moves import Operation, Reason
from automation.models import WorkflowExecution
from automation.runtime import claim
from automation.runtime.runner import process_executions
from blacklist import actions as blacklist_actions
from campaigns import actions as campaign_actions
from campaigns.models import Campaign
from core.errors import Refused
from core.tenancy import workspace_scope
from tests.clocks import MovableClock
from tests.concurrency.threads import at_once
from tests.people import make_workspace
from tests.scenario import Scenario, assert_conserved
from workspaces.models import AuditRecord, Workspace

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.concurrency]


@pytest.fixture
def home(transactional_db: None, clock: MovableClock) -> Workspace:
    return make_workspace("races")


def attempt(execution_id: int, operation: Operation) -> str:
    try:
        return str(control.change(execution_id, operation, user=None).status)
    except Refused as exc:
        return exc.code


def twin_of(row: WorkflowExecution) -> WorkflowExecution:
    """A second, finished walk of the same person in the same campaign."""
    twin = WorkflowExecution.objects.get(pk=row.pk)
    twin.pk = None
    twin._state.adding = True
    twin.save()
    return twin


def test_of_many_pauses_one_does_it(home: Workspace):
    with workspace_scope(home.pk):
        row = Scenario().execution()
    answers = at_once(6, lambda _i: attempt(row.pk, Operation.PAUSE), workspace_id=home.pk)
    assert sorted(answers) == [str(Reason.ILLEGAL)] * 5 + ["paused"]
    with workspace_scope(home.pk):
        assert (row.events.count(), AuditRecord.objects.filter(event="person.paused").count()) == (1, 1)


def test_of_two_walks_of_one_person_one_comes_back(home: Workspace):
    with workspace_scope(home.pk):
        scenario = Scenario()
        scenario.settle()
        rows = [scenario.execution(), twin_of(scenario.execution())]
    answers = at_once(2, lambda i: attempt(rows[i].pk, Operation.RESTART), workspace_id=home.pk)
    assert sorted(answers) == ["active", str(Reason.ALREADY_LIVE)]


def test_a_worker_and_a_removal_do_not_both_have_their_way(home: Workspace, clock: MovableClock):
    with workspace_scope(home.pk):
        scenario = Scenario(people=12)
        token = uuid4()
        ids = claim.claim_due(scenario.campaign.pk, consuming=True, limit=99, token=token, now=clock.at)

    def work(index: int) -> list[str]:
        if index:
            return [attempt(pk, Operation.REMOVE) for pk in ids]
        process_executions(home.pk, ids, token)
        return []

    _worked, removed = at_once(2, work, workspace_id=home.pk)
    with workspace_scope(home.pk):
        counts = scenario.statuses()
        assert counts.get("cancelled", 0) == removed.count("cancelled")
        assert len(scenario.provider.accepted) == counts.get("completed", 0)
        assert sum(counts.values()) == 12
        assert_conserved()


def test_an_ending_is_seen_or_takes_the_restarted_with_it(home: Workspace):
    with workspace_scope(home.pk):
        scenario = Scenario()
        scenario.settle()
        row = scenario.execution()

    def work(index: int) -> str:
        if index:
            return attempt(row.pk, Operation.RESTART)
        return campaign_actions.cancel(scenario.campaign.pk, user=None).code

    _cancelled, answer = at_once(2, work, workspace_id=home.pk)
    with workspace_scope(home.pk):
        row.refresh_from_db()
        assert (answer, row.status) in {("active", "cancelled"), (str(Reason.CAMPAIGN_OVER), "completed")}
        assert Campaign.objects.get().status == "cancelled"


def test_a_resume_waits_for_a_block_that_is_under_way(home: Workspace):
    with workspace_scope(home.pk):
        scenario = Scenario()
        number = scenario.targets[0].mobile
        block(home, number)
        scenario.settle()
        row = scenario.execution()
        blacklist_actions.remove(workspace_id=home.pk, channel="sms", values=[number], user=None)
    begun = threading.Event()

    def work(index: int) -> str:
        if index:
            assert begun.wait(10)
            return attempt(row.pk, Operation.RESUME)
        with transaction.atomic():
            block(home, number)
            begun.set()
            threading.Event().wait(0.3)  # the resume is waiting meanwhile
        return ""

    assert at_once(2, work, workspace_id=home.pk)[1] == Reason.BLOCKED


def block(home: Workspace, number: str) -> None:
    blacklist_actions.add(
        workspace_id=home.pk, channel="sms", values=[number], source="manual", reason="opt_out", user=None
    )

"""Guards that only real connections can show. Each of these fails when its guard is taken away."""

from __future__ import annotations

import threading
from datetime import datetime
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction

from automation import counters
from automation.definition_cache import compiled
from automation.models import DailyCounter, WorkflowExecution
from automation.runtime import claim, message_history
from automation.runtime.policy import RunPolicy
from automation.runtime.runner import process_executions
from automation.states import ExecutionStatus
from blacklist import actions as blacklist_actions
from blacklist import queries as blacklist_queries
from core import clock as core_clock
from core.locks import lock_contacts
from core.tenancy import workspace_scope
from sms.models import SmsLog, SmsSettings
from tests.clocks import MovableClock
from tests.concurrency.threads import at_once
from tests.people import make_workspace
from tests.scenario import Scenario, send
from workspaces.models import Workspace

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def home(transactional_db: None, clock: MovableClock) -> Workspace:
    return make_workspace("races")


def policy(workspace: Workspace, *, cap: int) -> RunPolicy:
    return RunPolicy(
        campaign_id=1, workspace_id=workspace.pk, workflow_id=2, version_id=3, campaign_limit=cap
    )


def test_eight_workers_never_pass_a_cap(home: Workspace):
    limits = policy(home, cap=50)

    def take(_index: int) -> int:
        granted = 0
        for wanted in (3, 5, 1, 7, 2):
            with transaction.atomic():
                granted += counters.reserve(limits, core_clock.now(), wanted)
        return granted

    granted = sum(at_once(8, take, workspace_id=home.pk))
    with workspace_scope(home.pk):
        used = DailyCounter.objects.get(scope_type="campaign").used
    assert granted == used == 50


def test_giving_back_and_taking_at_once_wait_for_each_other_in_one_order(home: Workspace):
    """The workspace's counter may be older than the campaign's: ids, not kinds, are the one order."""
    now = core_clock.now()
    first = RunPolicy(campaign_id=1, workspace_id=home.pk, workflow_id=2, version_id=3)
    second = RunPolicy(campaign_id=9, workspace_id=home.pk, workflow_id=8, version_id=7)
    with workspace_scope(home.pk), transaction.atomic():
        for one in (first, second):
            counters.reserve(one, now, 500)
    unit = {(counters.RunPolicyKey.of(second), second.day(now)): 1}

    def work(index: int) -> None:
        for _ in range(60):
            with transaction.atomic():
                if index % 2:
                    counters.give_back(unit)
                else:
                    counters.reserve(second, now, 1)

    at_once(4, work, workspace_id=home.pk)
    with workspace_scope(home.pk):
        assert DailyCounter.objects.get(scope_type="campaign", scope_id=9).used == 500


def test_two_claims_at_once_share_the_rows(home: Workspace):
    with workspace_scope(home.pk):
        scenario = Scenario(people=200)

    def take(_index: int) -> list[int]:
        with transaction.atomic():
            return claim.claim_due(
                scenario.campaign.pk, consuming=True, limit=150, token=uuid4(), now=core_clock.now()
            )

    first, second = at_once(2, take, workspace_id=home.pk)
    assert not set(first) & set(second)
    with workspace_scope(home.pk):
        assert WorkflowExecution.objects.filter(status="queued").count() == len(first) + len(second)


def test_one_message_of_the_queue_worked_by_four_workers_is_sent_once(home: Workspace):
    with workspace_scope(home.pk):
        scenario = Scenario(people=40, cap=100)
        token = uuid4()
        ids = claim.claim_due(
            scenario.campaign.pk, consuming=True, limit=100, token=token, now=core_clock.now()
        )
    at_once(4, lambda _i: process_executions(home.pk, ids, token), workspace_id=home.pk)
    assert len(scenario.provider.asked) == 40
    with workspace_scope(home.pk):
        assert SmsLog.objects.count() == 40
        assert scenario.statuses() == {"completed": 40}


def test_one_person_enters_a_campaign_once(home: Workspace):
    with workspace_scope(home.pk):
        scenario = Scenario(people=1)
        row = scenario.execution()
        WorkflowExecution.objects.filter(pk=row.pk).update(
            status=ExecutionStatus.CANCELLED, active_key=None, completed_at=core_clock.now()
        )

    def enter(_index: int) -> bool:
        twin = WorkflowExecution.objects.get(pk=row.pk)
        twin.pk, twin.status, twin.active_key, twin.completed_at = None, ExecutionStatus.ACTIVE, 1, None
        twin._state.adding = True
        try:
            with transaction.atomic():
                twin.save()
        except IntegrityError:
            return False
        return True

    assert sorted(at_once(4, enter, workspace_id=home.pk)) == [False, False, False, True]


@pytest.mark.postgres
def test_a_block_waits_for_the_message_that_was_reserved_first(home: Workspace):
    """Or the block is first and the message is not reserved; never a message after the block's answer."""
    number, reserved, blocked_first = "09121234567", threading.Event(), []

    def work(index: int) -> None:
        if index == 0:
            with transaction.atomic():
                lock_contacts(home.pk, [number], exclusive=False)
                assert not blacklist_queries.blocked_values(home.pk, "sms", [number])
                reserved.set()
                waiting = threading.Event()
                waiting.wait(0.4)  # the block is under way meanwhile
                blocked_first.append(bool(blacklist_queries.blocked_values(home.pk, "sms", [number])))
        else:
            assert reserved.wait(10)
            blacklist_actions.add(
                workspace_id=home.pk,
                channel="sms",
                values=[number],
                source="opt_out",
                reason="opt_out",
                user=None,
            )

    at_once(2, work, workspace_id=home.pk)
    assert blocked_first == [False]
    with workspace_scope(home.pk):
        assert blacklist_queries.blocked_values(home.pk, "sms", [number]) == {number}


@pytest.mark.postgres
def test_the_contact_lock_is_one_statement_for_many_numbers(home: Workspace):
    from django.test.utils import CaptureQueriesContext

    with transaction.atomic(), CaptureQueriesContext(connection) as queries:
        lock_contacts(home.pk, [f"0912{i:07d}" for i in range(100)], exclusive=False)
    assert len(queries) == 1


def enrol_the_same_person(first: Scenario, second: Scenario) -> None:
    """The one execution of `first` once more, in `second`, whose workflow has the same shape."""
    row = first.execution()
    key = compiled(first.version.pk).node_keys[row.current_node_id]
    row.pk, row.campaign, row.workflow_version = None, second.campaign, second.version
    row.workflow, row.current_node_id = second.version.workflow, compiled(second.version.pk).node_ids[key]
    row.save(force_insert=True)


@pytest.mark.postgres
def test_two_campaigns_at_once_do_not_pass_a_number_s_frequency_cap(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
):
    """The second worker has read what the number had when the first one begins, sends and is done."""
    with workspace_scope(home.pk):
        campaigns = [Scenario(send("یک")), Scenario(send("دو"), people=0)]
        enrol_the_same_person(*campaigns)
        SmsSettings.objects.update(frequency_messages=1, frequency_days=1)
        tokens = [uuid4(), uuid4()]
        chunks = [
            claim.claim_due(one.campaign.pk, consuming=True, limit=9, token=token, now=core_clock.now())
            for one, token in zip(campaigns, tokens, strict=True)
        ]
    asked, done = threading.Event(), threading.Event()
    ask = message_history.promotional_since

    def slowly(phones: set[str], since: datetime) -> dict[str, int]:
        had = ask(phones, since)
        if not asked.is_set():
            asked.set()
            done.wait(2)
        return had

    monkeypatch.setattr(message_history, "promotional_since", slowly)

    def work(index: int) -> None:
        if index:
            assert asked.wait(10)
        process_executions(home.pk, chunks[index], tokens[index])
        if index:
            done.set()

    at_once(2, work, workspace_id=home.pk)
    with workspace_scope(home.pk):
        assert len(campaigns[0].provider.accepted) == 1

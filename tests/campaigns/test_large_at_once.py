"""What is done in parts, with others beside it: real threads and a real database."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from automation.control_moves import Operation
from automation.models import WorkflowExecution, WorkflowExecutionEvent
from automation.runtime import claim
from automation.runtime.runner import process_executions
from campaigns import actions, changing, jobs, lifecycle, newcomer_checks, newcomers, settling, stopping
from campaigns.models import Campaign, JobStatus
from campaigns.people import PeopleFilter
from core import clock
from core.errors import DomainError, Refused
from core.tenancy import workspace_scope
from script import processes
from sms.models import SmsLog
from sms.types import OutboundSms, SendResult
from targets.filters import TargetFilter
from targets.queries import Visibility
from tests.campaigns import builders
from tests.campaigns.test_concurrency import at_once
from tests.campaigns.test_concurrency import shop as shop
from tests.scenario import Scenario, accept, assert_conserved
from workspaces.models import AuditRecord, Workspace

pytestmark = [pytest.mark.concurrency, pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def test_whatever_comes_during_a_large_start_a_cancellation_leaves_nobody_behind(
    shop: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("AT_ONCE", 2), ("CHUNK", 2), ("LOOK", 4)):
        monkeypatch.setattr(settling, name, size)
    builders.channel()
    campaign = builders.draft()
    builders.enrol(campaign, builders.people(9))
    monkeypatch.setattr(settling, "ask", lambda *_names: None)
    actions.activate(campaign.pk, user=None)
    message = {"workspace_id": shop.pk, "campaign_id": campaign.pk}

    def pause() -> None:
        with suppress(DomainError):
            actions.pause(campaign.pk, user=None)

    results = at_once(
        shop, lambda: settling.run_task(message), lambda: settling.run_task(message), pause,
        lambda: lifecycle.advance(clock.now()), lambda: actions.cancel(campaign.pk, user=None),
    )  # fmt: skip
    settling.run_task(message)

    lines = WorkflowExecutionEvent.objects.filter(campaign_id=campaign.pk)
    begun = list(lines.filter(type="activated").values_list("execution_id", flat=True))
    assert not [result for result in results if isinstance(result, Exception)]
    assert builders.statuses(campaign) == {"cancelled": 9}
    assert lines.filter(type="cancelled").count() == 9
    assert len(begun) == len(set(begun))
    assert Campaign.objects.get(pk=campaign.pk).draining is False
    assert_conserved()


def test_checks_for_newcomers_at_once_pass_neither_the_day_s_number_nor_anybody_twice(
    shop: Workspace,
) -> None:
    campaign = builders.running()
    filters = TargetFilter({"city": "شیراز"})
    newcomers.save_rule(campaign.pk, filters=filters, daily_cap=4, include_existing=True, user=None)
    builders.people(6, city="شیراز")
    now = clock.now() + newcomer_checks.SETTLED * 2

    results = at_once(shop, *[lambda: newcomer_checks.check(campaign.pk, now)] * 3)

    assert not [result for result in results if isinstance(result, Exception)]
    assert WorkflowExecution.objects.filter(campaign=campaign).count() == 4


def test_a_job_cancelled_by_two_while_two_workers_are_at_it_ends_once(
    shop: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changing, "PART", 1)
    campaign = builders.running()
    builders.enrol(campaign, builders.people(12))
    monkeypatch.setattr(jobs, "ask", lambda *_names: None)
    shown = PeopleFilter({}, campaign=campaign)
    job = changing.change_all(campaign, shown, Operation.PAUSE, Visibility.everyone(), user=None)
    message = {"workspace_id": shop.pk, "job_id": job.pk, "held": job.revision}

    results = at_once(
        shop, lambda: jobs.run_task(message), lambda: jobs.run_task(message),
        lambda: jobs.cancel(jobs.job_for(job.pk)), lambda: jobs.cancel(jobs.job_for(job.pk)),
    )  # fmt: skip

    job.refresh_from_db()
    failures = [result for result in results if isinstance(result, Exception)]
    assert all(isinstance(failure, Refused) for failure in failures)
    assert job.status in (JobStatus.CANCELLED, JobStatus.DONE)
    assert builders.statuses(campaign).get("paused", 0) == job.done == job.counts.get("changed", 0)
    assert AuditRecord.objects.filter(event__contains="paused", entity_id=campaign.pk).count() == 1


def test_after_a_stop_only_what_it_names_still_leaves(shop: Workspace, settings: Any) -> None:
    settings.CHUNK_SIZE = 2
    scenario = Scenario(people=8)
    token, once, named = uuid4(), threading.Lock(), list[int]()
    ids = claim.claim_due(scenario.campaign.pk, consuming=True, limit=99, token=token, now=clock.now())

    def press() -> None:
        try:
            with workspace_scope(shop.pk):
                named.extend(stopping.stop(reason="خطا", user=None).on_the_way)
        finally:
            connection.close()

    def answer(_sms: OutboundSms, _try: int) -> SendResult:
        if once.acquire(blocking=False):
            button = threading.Thread(target=press)
            button.start()
            button.join(20)
        return accept()

    scenario.provider.answer = answer
    process_executions(shop.pk, ids, token)

    assert sorted(SmsLog.objects.values_list("pk", flat=True)) == named
    assert len(scenario.provider.asked) == len(named) < 8
    assert scenario.statuses() == {"completed": len(named), "active": 8 - len(named)}
    assert_conserved()


def test_the_threads_that_call_leave_no_connection_open(shop: Workspace, settings: Any) -> None:
    settings.CHUNK_SIZE = 2
    scenario = Scenario(people=8)
    token = uuid4()
    ids = claim.claim_due(scenario.campaign.pk, consuming=True, limit=99, token=token, now=clock.now())
    before = connections()
    process_executions(shop.pk, ids, token)

    assert len(scenario.provider.accepted) == 8
    # The server takes a moment to notice that a client has gone.
    assert processes.wait_until(lambda: connections() <= before)


def connections() -> set[int]:
    """Those of clients to this database; maintenance comes and goes as it likes."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity "
            "WHERE datname = current_database() AND backend_type = 'client backend'"
        )
        return {pid for (pid,) in cursor.fetchall()}

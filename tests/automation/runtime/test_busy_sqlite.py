"""SQLite with somebody else at it for longer than one waits: nothing is lost, nobody is blamed."""

from __future__ import annotations

import functools
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from django.db import connection

from automation.runtime import claim
from automation.runtime.reaper import reap
from automation.runtime.runner import process_executions
from core import failpoints
from core.tenancy import current_workspace_id
from tests.clocks import MovableClock
from tests.scenario import Scenario
from workspaces.models import Workspace

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL locks rows, not the file"),
]


@pytest.fixture(autouse=True)
def _impatient(workspace: Workspace, clock: MovableClock) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 50")
    yield
    connection.close()


def hold_the_file(until: Callable[[], object]) -> threading.Thread:
    """Another process's write transaction, over when `until` returns."""
    held = threading.Event()

    def hold() -> None:
        other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        held.set()
        until()
        other.execute("ROLLBACK")
        other.close()

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(30)
    return thread


def work(scenario: Scenario, clock: MovableClock) -> None:
    token = uuid4()
    ids = claim.claim_due(scenario.campaign.pk, consuming=True, limit=10, token=token, now=clock.at)
    process_executions(current_workspace_id(), ids, token)


def test_answers_wait_until_the_file_is_free(clock: MovableClock):
    scenario = Scenario()
    threads = []
    a_moment = functools.partial(time.sleep, 0.6)
    with failpoints.acting("before_record", lambda: threads.append(hold_the_file(a_moment))):
        work(scenario, clock)
    threads[0].join()
    assert (len(scenario.provider.asked), scenario.statuses()) == (1, {"completed": 1})


def test_a_file_that_stays_locked_is_nobody_s_fault(clock: MovableClock):
    scenario = Scenario()
    threads, given_up = [], threading.Event()
    with failpoints.acting("before_reserve", lambda: threads.append(hold_the_file(given_up.wait))):
        try:
            work(scenario, clock)
        finally:
            given_up.set()
    threads[0].join()
    assert (scenario.provider.asked, scenario.execution().failures) == ([], 0)
    clock.advance(minutes=6)
    reap(clock.at)
    scenario.settle()
    assert (len(scenario.provider.asked), scenario.statuses()) == (1, {"completed": 1})

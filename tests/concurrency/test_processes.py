"""Real ticks, real workers, real PostgreSQL and Redis, and a witness that is not us."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from automation.models import DailyCounter, WorkflowExecution
from automation.states import CLAIMED
from core import clock as core_clock
from core.clock import FileClock
from core.tenancy import workspace_scope
from sms.models import SmsLog
from sms.usage.ledger import ACCEPTED
from tests.clocks import MONDAY_MORNING
from tests.concurrency.fleet import Fleet, fleet, wait_for
from tests.people import make_workspace
from tests.scenario import OFFICE_HOURS, Scenario, send
from workspaces.models import Workspace

pytestmark = [pytest.mark.concurrency, pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def home(transactional_db: None) -> Iterator[Workspace]:
    made = make_workspace("fleet")
    with workspace_scope(made.pk):
        yield made


@pytest.fixture
def hands(tmp_path: Path) -> Iterator[FileClock]:
    """The clock that every process of the fleet reads."""
    shared = FileClock(tmp_path / "clock")
    shared.set(MONDAY_MORNING + timedelta(minutes=30))
    core_clock.use_process_clock(shared)
    yield shared
    core_clock.use_process_clock(None)


def move(hands: FileClock, **delta: float) -> datetime:
    hands.set(hands.now() + timedelta(**delta))
    return hands.now()


def settled(scenario: Scenario) -> bool:
    """Nothing is claimed, and nothing that may run now is left (or the day's cap is full)."""
    rows = WorkflowExecution.objects.filter(campaign=scenario.campaign)
    if rows.filter(status__in=CLAIMED).exists():
        return False
    due = rows.filter(status__in=("active", "waiting"), next_run_at__lte=core_clock.now()).exists()
    cap = scenario.campaign.daily_limit
    used = sum(
        DailyCounter.objects.filter(scope_type="campaign", day=core_clock.now().date()).values_list(
            "used", flat=True
        )
    )
    return not due or (cap is not None and used >= cap)


def assert_nobody_twice(running: Fleet) -> None:
    repeated = {
        number for number, count in Counter(m.number for m in running.accepted()).items() if count > 1
    }
    assert not repeated


def test_two_ticks_and_four_workers_lose_nobody_and_repeat_nobody(
    home: Workspace, hands: FileClock, tmp_path: Path
):
    faults = {
        "seed": 11,
        "rules": [
            {"do": "code", "code": "6", "when": {"attempt": 1}, "share": 0.05},
            {"do": "close", "accept": True, "share": 0.01},
        ],
    }
    with fleet(tmp_path, faults) as running:
        scenario = Scenario(
            send(), people=2000, cap=1500, window=OFFICE_HOURS, provider_url=running.simulator.url
        )
        for _ in range(2):
            running.start_tick()
            running.start_worker(processes_count=2)
        for _ in range(60):
            wait_for(lambda: settled(scenario), seconds=90, what="the round is done")
            open_rows = WorkflowExecution.objects.filter(status__in=("active", "waiting"))
            if not open_rows.exists():
                break
            later = open_rows.filter(next_run_at__gt=hands.now()).order_by("next_run_at")
            soonest = later.values_list("next_run_at", flat=True).first()
            hands.set(soonest or hands.now() + timedelta(hours=2))  # those without room are due already

        assert scenario.statuses() == {"completed": 2000}
        assert_nobody_twice(running)
        days = Counter(m.clock.date() for m in running.accepted())
        assert max(days.values()) <= 1500
        unknown = set(SmsLog.objects.filter(status="unknown").values_list("phone_number", flat=True))
        taken = SmsLog.objects.filter(ACCEPTED)  # submitted, delivered, or found in the provider's list
        submitted = set(taken.values_list("phone_number", flat=True))
        assert {m.number for m in running.accepted()} == submitted | unknown
        used = sum(DailyCounter.objects.filter(scope_type="campaign").values_list("used", flat=True))
        assert used == len(submitted) + len(unknown)


def test_a_worker_killed_with_messages_on_the_wire_repeats_nobody(
    home: Workspace, hands: FileClock, tmp_path: Path
):
    """One number hangs before its answer while the rest of its chunk is answered and not yet recorded."""
    faults = {"rules": [{"do": "hang", "accept": False, "when": {"to": ["09120000003"]}}]}
    with fleet(tmp_path, faults) as running:
        going_on = {"on_unknown_outcome": "continue"}
        scenario = Scenario(send(), people=120, provider_url=running.simulator.url, settings=going_on)
        worker = running.start_worker(processes_count=1)
        running.start_tick()
        wait_for(lambda: len(running.accepted()) >= 49, what="the first chunk is on the wire")
        running.kill(worker)
        answered = {m.number for m in running.accepted()}
        assert SmsLog.objects.filter(status="sending").count() == 50

        move(hands, seconds=90)  # the dead worker's lease is over
        running.start_worker(processes_count=2)
        wait_for(lambda: scenario.statuses() == {"completed": 120}, what="everyone else goes on")

        # What the provider took is found in its list sooner or later; what it did not take is not old enough.
        unknown = set(SmsLog.objects.filter(status="unknown").values_list("phone_number", flat=True))
        listed = SmsLog.objects.filter(ACCEPTED, provider_message_id="")
        found = set(listed.values_list("phone_number", flat=True))
        assert "09120000003" in unknown
        assert unknown | found == answered | {"09120000003"}
        assert_nobody_twice(running)
        assert len(running.accepted()) == 119

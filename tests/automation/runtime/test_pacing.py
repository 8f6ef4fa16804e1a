"""A worker sends no faster than the account allows, and whoever has no turn goes back as they came."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from automation.models import DailyCounter, WorkflowExecution
from automation.runtime import claim, pacing
from automation.runtime.runner import process_executions
from automation.runtime.sms_pacing import SmsPacer
from core.tenancy import current_workspace_id
from sms.models import ProviderAccount
from sms.rate import FileBuckets
from tests.clocks import MovableClock
from tests.scenario import Scenario, accept, send, wait
from tests.sms.messages import make_log
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


class Hands:
    """A monotonic clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.at = time.monotonic()
        self.slept: list[float] = []

    def now(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture(autouse=True)
def _paced(workspace: Workspace, clock: MovableClock, hands: Hands, tmp_path: Path) -> Iterator[None]:
    """The product's pacer with a clock and a sleep of the test's."""
    before = pacing.pacer()
    pacing.register_pacer(SmsPacer(FileBuckets(tmp_path, hands.now).take, hands.sleep, hands.now))
    yield
    pacing.register_pacer(before)


def limited(scenario: Scenario, rate: int = 5) -> Scenario:
    ProviderAccount.objects.update(rate_per_second=rate)
    return scenario


def claimed(scenario: Scenario, clock: MovableClock) -> tuple[list[int], UUID]:
    token = uuid4()
    ids = claim.claim_due(scenario.campaign.pk, consuming=True, limit=1000, token=token, now=clock.at)
    return ids, token


def test_a_chunk_leaves_in_blocks_of_a_second(clock: MovableClock, hands: Hands):
    scenario = limited(Scenario(people=17))
    sent_at: list[float] = []
    scenario.provider.answer = lambda _sms, _nth: (sent_at.append(hands.at), accept())[1]  # type: ignore[func-returns-value]
    began = hands.at
    process_executions(current_workspace_id(), *claimed(scenario, clock))
    assert [round(at - began, 3) for at in sorted(sent_at)] == [0] * 5 + [1] * 5 + [2] * 5 + [2.4] * 2
    assert scenario.statuses() == {"completed": 17}


def test_nobody_is_counted_or_written_for_while_they_wait_for_a_turn(clock: MovableClock, hands: Hands):
    scenario = limited(Scenario(people=10, cap=100))
    seen: list[tuple[int, int]] = []
    pause = hands.sleep

    def look(seconds: float) -> None:
        queued = WorkflowExecution.objects.filter(status="queued").count()
        seen.append((queued, DailyCounter.objects.get(scope_type="campaign").used))
        pause(seconds)

    def a_second(key: str, *, rate: int, wanted: int, patience: float) -> float:
        return 1.0

    pacing.register_pacer(SmsPacer(a_second, look, hands.now))
    DailyCounter.objects.create(
        workspace_id=current_workspace_id(), scope_type="campaign", scope_id=scenario.campaign.pk,
        day=clock.at.date(),
    )  # fmt: skip
    process_executions(current_workspace_id(), *claimed(scenario, clock))
    assert seen == [(10, 0), (5, 5)]


def test_whoever_has_no_turn_is_due_again_with_nothing_used_up(clock: MovableClock, hands: Hands):
    scenario = limited(Scenario(people=60, cap=100), rate=1)
    process_executions(current_workspace_id(), *claimed(scenario, clock))
    assert sum(hands.slept) <= 30
    assert scenario.statuses() == {"completed": 31, "active": 29}
    left = WorkflowExecution.objects.filter(status="active")
    assert set(left.values_list("retry_count", "lock_token", "next_run_at")) == {(0, None, clock.at)}
    assert (len(scenario.logs()), DailyCounter.objects.get(scope_type="campaign").used) == (31, 31)
    clock.advance(minutes=1)
    hands.at += 60
    scenario.settle()
    assert scenario.statuses() == {"completed": 60}


def test_zero_is_no_limit(clock: MovableClock, hands: Hands):
    scenario = limited(Scenario(people=200), rate=0)
    process_executions(current_workspace_id(), *claimed(scenario, clock))
    assert (hands.slept, scenario.statuses()) == ([], {"completed": 200})


def test_light_steps_take_no_permits(clock: MovableClock, hands: Hands):
    scenario = limited(Scenario(wait(1, "hour"), people=50))
    scenario.settle()
    assert (hands.slept, scenario.statuses()) == ([], {"waiting": 50})


def test_accounts_have_their_own_pace(clock: MovableClock, hands: Hands):
    first = limited(Scenario(people=5))
    other = ProviderAccount.objects.create(
        workspace_id=current_workspace_id(), kind="double", title="Other", lines=["50002"], rate_per_second=0,
        sealed_credentials="x",
    )  # fmt: skip
    second = Scenario(send(provider=str(other.pk)), people=30)
    process_executions(current_workspace_id(), *claimed(first, clock))
    ids, token = claimed(second, clock)
    assert list(pacing.pacer().blocks(ids, token, hands.at + 100)) == [ids]


def test_an_attempt_by_the_stand_in_takes_the_stand_ins_permits(clock: MovableClock, hands: Hands):
    """Those whom the first account surely did not serve leave at the pace of the second one."""
    scenario = limited(Scenario(people=4), rate=1)
    second = ProviderAccount.objects.create(
        workspace_id=current_workspace_id(), kind="double", title="Second", lines=["50002"],
        rate_per_second=100, fallback_position=1, sealed_credentials="x",
    )  # fmt: skip
    ids, token = claimed(scenario, clock)
    for row in WorkflowExecution.objects.filter(pk__in=ids[2:]):
        make_log(
            Workspace.objects.get(pk=current_workspace_id()), status="failed", producer="automation",
            execution_id=row.pk, cycle=row.cycle, node_id=row.current_node_id,
            provider_account_id=ProviderAccount.objects.get(is_primary=True).pk,
        )  # fmt: skip

    taken: list[tuple[str, int]] = []

    def take(key: str, *, rate: int, wanted: int, patience: float) -> float:
        taken.append((key, wanted))
        return 0.0

    list(SmsPacer(take, hands.sleep, hands.now).blocks(ids, token, hands.at + 100))

    primary = str(ProviderAccount.objects.get(is_primary=True).pk)
    assert sorted(taken) == sorted([(primary, 1), (primary, 1), (str(second.pk), 2)])


def test_no_more_is_claimed_than_leaves_until_the_next_tick(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("automation.runtime.tick.enqueue", lambda *_a, **_kw: None)
    scenario = limited(Scenario(people=200), rate=2)
    report = scenario.tick()
    assert (report.claimed, report.deferred_limit) == (120, 0)
    assert scenario.tick().claimed == 0

"""A country changes its clocks while people wait for a local time: the tick moves their moments."""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from automation.models import WorkflowExecution
from automation.runtime import zone_changes
from automation.runtime.tick import run_tick
from core import zone_rules
from core.models import ZoneRules
from engine import zones
from tests.clocks import MovableClock
from tests.engine.building import wait_for
from tests.graphs import GraphScenario, message
from tests.scenario import Scenario, end, send, wait

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("workspace")]
Rules = Callable[..., None]

# The same zone until the spring of 2027, when one of them goes an hour ahead.
STAYS, GOES_AHEAD = "Africa/Tripoli", "Asia/Jerusalem"
IN_SPRING = datetime(2027, 3, 30, 5, 30, tzinfo=UTC)  # four months after the clock's moment, both at 7:30
AN_HOUR = timedelta(hours=1)
MONTHS = {"amount": 4, "unit": "month"}


@pytest.fixture
def rules(tmp_path: Path) -> Iterator[Rules]:
    """`rules("2030b", STAYS)`: a process that reads this edition, by which Tehran's clock goes like that."""

    def use(edition: str, like: str) -> None:
        folder = tmp_path / edition
        (folder / "Asia").mkdir(parents=True, exist_ok=True)
        table = resources.files("tzdata").joinpath("zoneinfo", *like.split("/")).read_bytes()
        (folder / "Asia" / "Tehran").write_bytes(table)
        (folder / "tzdata.zi").write_text(f"# version {edition}\n")
        zoneinfo.reset_tzpath(to=[str(folder)])
        start_afresh()

    def start_afresh() -> None:
        zoneinfo.ZoneInfo.clear_cache()
        zones._load.cache_clear()
        zone_rules.edition.cache_clear()

    yield use
    zoneinfo.reset_tzpath()
    start_afresh()


def begin(rules: Rules, like: str, *steps: dict[str, Any]) -> Scenario:
    """Somebody waits, by rules that the database remembers."""
    rules("2030b", like)
    ZoneRules.objects.update_or_create(pk=1, defaults={"edition": "2030b", "cursor": None})
    scenario = Scenario(*steps)
    scenario.settle()
    return scenario


def due(scenario: Scenario) -> datetime | None:
    return scenario.execution().next_run_at


FIXED = {"type": "wait", "subtype": "until", "config": {"mode": "until", "at": "2027-03-30T07:30"}}
WAITS = {
    "a length of calendar time": [wait(4, "month"), send("دیر")],
    "a date": [FIXED, send("دیر")],
    "the pause before a loop": [send("دیر"), end("loop", delay=MONTHS, max_cycles=2)],
}


@pytest.mark.parametrize("steps", WAITS.values(), ids=WAITS)
def test_a_wait_for_a_local_time_comes_earlier_where_the_clock_goes_ahead(
    steps: list[dict[str, Any]], rules: Rules, clock: MovableClock
):
    scenario = begin(rules, STAYS, *steps)
    assert due(scenario) == IN_SPRING
    sent = len(scenario.provider.accepted)
    rules("2030c", GOES_AHEAD)
    scenario.tick()
    assert due(scenario) == IN_SPRING - AN_HOUR
    clock.move_to(IN_SPRING - AN_HOUR)
    scenario.settle()
    assert len(scenario.provider.accepted) == sent + 1


@pytest.mark.parametrize("steps", WAITS.values(), ids=WAITS)
def test_nobody_is_sent_to_an_hour_early_where_the_clock_stays_behind(
    steps: list[dict[str, Any]], rules: Rules, clock: MovableClock
):
    scenario = begin(rules, GOES_AHEAD, *steps)
    assert due(scenario) == IN_SPRING - AN_HOUR
    sent = len(scenario.provider.accepted)
    rules("2030c", STAYS)
    scenario.tick()
    clock.move_to(IN_SPRING - AN_HOUR)
    scenario.settle()
    assert len(scenario.provider.accepted) == sent
    clock.move_to(IN_SPRING)
    scenario.settle()
    assert len(scenario.provider.accepted) == sent + 1


def test_an_event_is_waited_for_as_long_as_the_calendar_says(rules: Rules, clock: MovableClock):
    rules("2030b", STAYS)
    ZoneRules.objects.update_or_create(pk=1, defaults={"edition": "2030b", "cursor": None})
    asks = wait_for("w", amount=4, unit="month")
    scenario = GraphScenario(asks, message("a"), edges=["start -> w", "w -> a"])
    scenario.settle()
    rules("2030c", GOES_AHEAD)
    scenario.tick()
    assert scenario.row().next_run_at == IN_SPRING - AN_HOUR


def test_minutes_and_hours_stay_as_long_as_they_are(rules: Rules, clock: MovableClock):
    scenario = begin(rules, STAYS, wait(2880, "hour"), send("دیر"))
    before = due(scenario)
    rules("2030c", GOES_AHEAD)
    scenario.tick()
    assert due(scenario) == before


def test_everybody_is_looked_at_in_parts_and_once(
    rules: Rules, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(zone_changes, "PART", 2)
    scenario = begin(rules, STAYS, wait(4, "month"), send("دیر"))
    scenario.enrol(4)
    scenario.settle()
    rules("2030c", GOES_AHEAD)
    monkeypatch.setattr(zone_changes, "SECONDS", 0.0)  # as if the tick had died when it had begun
    run_tick()
    monkeypatch.setattr(zone_changes, "SECONDS", 30.0)
    assert zone_changes.follow(clock.at) == {"waits_moved": 5}
    assert zone_changes.follow(clock.at) == {"waits_moved": 0}
    moments = WorkflowExecution.objects.values_list("next_run_at", "wake_at")
    assert set(moments) == {(IN_SPRING - AN_HOUR,) * 2}


def test_somebody_held_meanwhile_is_moved_too(rules: Rules, clock: MovableClock):
    scenario = begin(rules, STAYS, wait(4, "month"), send("دیر"))
    walk = scenario.execution()
    WorkflowExecution.objects.filter(pk=walk.pk).update(
        status="paused", paused_at=clock.at, paused_from_status="waiting"
    )
    rules("2030c", GOES_AHEAD)
    scenario.tick()
    assert due(scenario) == IN_SPRING - AN_HOUR


def test_a_host_with_older_rules_changes_nothing(rules: Rules, clock: MovableClock):
    scenario = begin(rules, STAYS, wait(4, "month"), send("دیر"))
    rules("2030a", GOES_AHEAD)
    scenario.tick()
    assert due(scenario) == IN_SPRING
    assert ZoneRules.objects.get().edition == "2030b"


def test_a_new_database_remembers_the_rules_it_was_made_under(rules: Rules):
    rules("2030b", STAYS)
    ZoneRules.objects.all().delete()
    zone_rules.remember()
    assert ZoneRules.objects.get().edition == "2030b"
    assert not zone_changes.questions(IN_SPRING)[0].exists()

"""Leaving a journey before its end: the criteria first, then the longest stay."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from engine.graph import Graph
from engine.types import NO_TIMEOUT, ActionResult, ActionStatus, Facts, Finish
from engine.walk import walk
from tests.engine.building import (
    NOON,
    at_first,
    city_is,
    codes,
    compiled,
    compiled_journey,
    end,
    graph_of,
    note,
    parked,
    performing,
    runnable_journey,
    start,
    wait,
    wait_for,
)

HERE = {"started_at": NOON}


def graph(*nodes: Any, edges: tuple[str, ...], **settings: Any) -> Graph:
    return runnable_journey(graph_of([start(), *nodes], *edges, **settings))


def left(outcome: Any) -> tuple[str, str]:
    assert isinstance(outcome, Finish), outcome
    return outcome.status, outcome.reason


def test_the_criteria_come_before_the_longest_stay_and_the_end() -> None:
    made = graph(end("e"), edges=("start -> e",), exit_criteria=city_is("Yazd"), max_duration_days=1)
    facts = Facts(target={"city": "Yazd"}, execution={"started_at": NOON - timedelta(days=9)})
    assert left(walk(made, at_first(made), facts, NOON).outcome) == ("exited", "exit_criteria")
    assert left(walk(made, at_first(made), facts._replace(target={}), NOON).outcome) == (
        "exited",
        "max_duration",
    )
    assert left(walk(made, at_first(made), Facts(execution=HERE), NOON).outcome) == ("completed", "finished")


def test_the_criteria_are_asked_again_after_every_step() -> None:
    done = {"root": {"field": "execution.last_action_status", "operator": "=", "value": "success"}}
    made = graph(note("a"), note("b"), edges=("start -> a", "a -> b"), exit_criteria=done)
    asked = performing(walk(made, at_first(made), Facts(execution=HERE), NOON))
    after = walk(made, asked.position, Facts(execution=HERE), NOON, ActionResult(status=ActionStatus.SUCCESS))
    assert left(after.outcome) == ("exited", "exit_criteria")


def test_criteria_that_cannot_be_answered_keep_the_person() -> None:
    older = {"root": {"field": "target.age", "operator": ">", "value": 30}}
    made = graph(note("a"), edges=("start -> a",), exit_criteria=older)
    assert performing(walk(made, at_first(made), Facts(target={"age": "old"}), NOON)).position.node == "a"


@pytest.mark.parametrize("criteria", [None, {}, {"root": {}}, []])
def test_criteria_that_ask_nothing_are_none(criteria: Any) -> None:
    made = graph(note("a"), edges=("start -> a",), exit_criteria=criteria)
    assert made.leaving is None


def test_a_pause_ends_with_the_stay() -> None:
    made = graph(wait("w", 30, "day"), note("a"), edges=("start -> w", "w -> a"), max_duration_days=7)
    waiting = parked(walk(made, at_first(made), Facts(execution=HERE), NOON))
    assert waiting.until == NOON + timedelta(days=7)
    assert waiting.position.wake_at == NOON + timedelta(days=30)
    gone = walk(made, waiting.position, Facts(execution=HERE), waiting.until)
    assert left(gone.outcome) == ("exited", "max_duration")


def test_a_shorter_pause_is_left_as_it_is() -> None:
    made = graph(wait("w", 1, "day"), note("a"), edges=("start -> w", "w -> a"), max_duration_days=7)
    assert parked(walk(made, at_first(made), Facts(execution=HERE), NOON)).until == NOON + timedelta(days=1)


def test_a_wait_without_end_ends_with_the_stay() -> None:
    made = graph(wait_for("e"), edges=("start -> e",), max_duration_days=7)
    waiting = parked(walk(made, at_first(made), Facts(execution=HERE), NOON))
    assert (waiting.event, waiting.until) == ("paid", NOON + timedelta(days=7))
    assert waiting.position.wake_at == NO_TIMEOUT


def test_a_deferral_ends_with_the_stay_too() -> None:
    made = graph(note("a"), edges=("start -> a",), max_duration_days=1)
    asked = performing(walk(made, at_first(made), Facts(execution=HERE), NOON))
    later = ActionResult(status=ActionStatus.DEFERRED, reason="window", until=NOON + timedelta(days=3))
    assert parked(walk(made, asked.position, Facts(execution=HERE), NOON, later)).until == NOON + timedelta(
        days=1
    )


def test_somebody_who_never_entered_stays_as_long_as_they_like() -> None:
    made = graph(wait("w", 30, "day"), edges=("start -> w",), max_duration_days=7)
    assert parked(walk(made, at_first(made), Facts(), NOON)).until == NOON + timedelta(days=30)


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"max_duration_days": 0}, "settings_value_invalid"),
        ({"max_duration_days": 1.5}, "settings_value_invalid"),
        ({"entry_rule": 5}, "settings_value_invalid"),
        ({"cooldown_hours": -1}, "settings_value_invalid"),
        ({"reentry_window": "week"}, "settings_value_invalid"),
        ({"reentry_window": "day", "cooldown_hours": 2}, "reentry_twice"),
        ({"exit_criteria": [{"field": "target.x", "operator": "=", "value": 1}]}, "exit_criteria_invalid"),
    ],
)
def test_settings_of_a_journey_are_checked(settings: dict[str, Any], code: str) -> None:
    definition = graph_of([start(), note("a")], "start -> a", **settings)
    assert codes(compiled_journey(definition).problems) == [code]


@pytest.mark.parametrize(
    "settings",
    [
        {"entry_rule": "once"},
        {"entry_rule": "after_completion", "cooldown_hours": 0},
        {"entry_rule": "every_time", "reentry_window": "day"},
        {"max_duration_days": 3650, "exit_criteria": city_is("Yazd")},
        {"entry_rule": None, "cooldown_hours": None},
    ],
)
def test_good_settings_of_a_journey_pass_and_are_refused_to_a_campaign(settings: dict[str, Any]) -> None:
    nodes, edges = [start(), note("a"), end("e")], ["start -> a", "a -> e"]
    definition = graph_of(nodes, *edges, **settings)
    assert compiled_journey(definition).problems == ()
    assert set(codes(compiled(definition).problems)) == {"settings_only_in_journeys"}

"""Walking the steps that only journeys have."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engine.splitting import branch_of, is_held_out
from engine.types import (
    NO_TIMEOUT,
    ActionResult,
    ActionStatus,
    Arrival,
    Facts,
    Finish,
    NodeSpec,
    Position,
    Walk,
)
from engine.walk import start_position, walk
from tests.engine.building import (
    NOON,
    at_first,
    best_time,
    city_is,
    goal,
    journey,
    kinds,
    mark,
    note,
    parked,
    performing,
    person,
    ping,
    runnable_journey,
    split,
    switch,
    wait,
    wait_for,
    wait_until,
)

DONE = ActionResult(status=ActionStatus.SUCCESS)
PERSONS = [str(number) for number in range(40)]
HELD = next(p for p in PERSONS if is_held_out("s", p, 50))
FREE = next(p for p in PERSONS if not is_held_out("s", p, 50))


def go(*nodes: NodeSpec, edges: list[str], facts: Facts | None = None, now: datetime = NOON) -> Walk:
    graph = runnable_journey(journey(*nodes, edges=edges))
    return walk(graph, at_first(graph, now), facts or Facts(), now)


def ended(done: Walk) -> tuple[str, str]:
    assert isinstance(done.outcome, Finish), done.outcome
    return done.outcome.status, done.outcome.reason


# -- an exit that leads nowhere ---------------------------------------------------------------------


@pytest.mark.parametrize("city", ["Tehran", "Yazd"])
def test_an_exit_that_leads_nowhere_ends_the_walk(city: str) -> None:
    done = go(
        switch("s", city_is("Tehran")),
        wait("w", 1, "day"),
        edges=["start -> s", "s -> w"],
        facts=person(city=city),
    )
    if city == "Tehran":
        assert ended(done) == ("completed", "no_next_node")
    else:
        assert parked(done).position.node == "w"


# -- switch -----------------------------------------------------------------------------------------

CASES = [city_is("Tehran"), {"root": {"field": "target.city", "operator": "contains", "value": "e"}}]
WAYS = ["start -> s", "s.case_1 -> a", "s.case_2 -> b", "s -> c"]


@pytest.mark.parametrize(("city", "node"), [("Tehran", "a"), ("Semnan", "b"), ("Yazd", "c"), (None, "c")])
def test_the_first_case_that_holds_wins(city: str | None, node: str) -> None:
    done = go(switch("s", *CASES), note("a"), note("b"), note("c"), edges=WAYS, facts=person(city=city))
    assert performing(done).position.node == node


def test_swapping_two_cases_that_overlap_changes_the_way() -> None:
    done = go(
        switch("s", *reversed(CASES)),
        note("a"),
        note("b"),
        note("c"),
        edges=WAYS,
        facts=person(city="Tehran"),
    )
    assert done.trace[1].data == {"outcome": "case_1"}


def test_a_case_that_cannot_be_answered_leads_to_the_default() -> None:
    older = {"root": {"field": "target.age", "operator": ">", "value": 30}}
    done = go(
        switch("s", older, city_is("Tehran")),
        note("a"),
        note("b"),
        note("c"),
        edges=WAYS,
        facts=person(age="old", city="Tehran"),
    )
    assert performing(done).position.node == "c"
    assert done.trace[1].data["fallback"] is True


def test_a_switch_that_is_off_leads_to_the_default() -> None:
    done = go(
        switch("s", *CASES, on=False),
        note("a"),
        note("b"),
        note("c"),
        edges=WAYS,
        facts=person(city="Tehran"),
    )
    assert kinds(done)[:2] == ["node_entered s", "skipped s"]
    assert performing(done).position.node == "c"


def test_a_switch_reads_what_the_walk_itself_did() -> None:
    sent = {"root": {"field": "execution.last_action_status", "operator": "=", "value": "success"}}
    graph = runnable_journey(
        journey(
            note(),
            switch("s", sent),
            note("a"),
            note("b"),
            edges=["start -> note", "note -> s", "s.case_1 -> a", "s -> b"],
        )
    )
    asked = performing(walk(graph, at_first(graph), Facts(), NOON))
    assert performing(walk(graph, asked.position, Facts(), NOON, DONE)).position.node == "a"


# -- split ------------------------------------------------------------------------------------------

ARMS = ["start -> s", "s.branch_1 -> a", "s.branch_2 -> b"]


@pytest.mark.parametrize("subject", PERSONS[:8])
def test_a_split_leads_by_hash_and_stores_the_variant(subject: str) -> None:
    done = go(split("s", 1, 1), note("a"), note("b"), edges=ARMS, facts=Facts(subject=subject))
    index = branch_of("s", subject, (1, 1))
    assert performing(done).position.node == "ab"[index]
    assert performing(done).position.variant == "AB"[index]


def test_a_split_needs_to_know_whom_it_splits() -> None:
    with pytest.raises(ValueError, match="subject"):
        go(split("s", 1, 1), note("a"), note("b"), edges=ARMS)


def test_the_held_out_have_an_exit_of_their_own() -> None:
    facts = Facts(subject=HELD)
    done = go(
        split("s", 1, 1, holdout_percent=50),
        mark("a"),
        mark("b"),
        mark("c"),
        edges=[*ARMS, "s.holdout -> c"],
        facts=facts,
    )
    position = performing(done).position
    assert (position.node, position.is_holdout, position.variant) == ("c", True, "")


@pytest.mark.parametrize(("subject", "does"), [(HELD, ["mark m"]), (FREE, ["ping p", "note n", "mark m"])])
def test_who_is_held_out_walks_along_and_is_sent_nothing(subject: str, does: list[str]) -> None:
    graph = runnable_journey(
        journey(
            split("s", 1, holdout_percent=50),
            ping("p"),
            note("n"),
            mark("m"),
            wait("w", 1, "day"),
            edges=["start -> s", "s.branch_1 -> p", "p -> n", "n -> m", "m -> w"],
        )
    )
    facts, did = Facts(subject=subject), []
    done = walk(graph, at_first(graph), facts, NOON)
    for _ in range(5):
        outcome = done.outcome
        if hasattr(outcome, "until"):
            break
        if hasattr(outcome, "action"):
            did.append(f"{outcome.action} {outcome.position.node}")
            done = walk(graph, outcome.position, facts, NOON, DONE)
        else:
            done = walk(graph, outcome.position, facts, NOON)
    assert did == does
    assert parked(done).position.is_holdout is (subject == HELD)


def test_a_message_passed_by_is_in_the_history() -> None:
    done = go(
        split("s", 1, holdout_percent=100),
        ping("p"),
        edges=["start -> s", "s.branch_1 -> p"],
        facts=Facts(subject="7"),
    )
    assert [entry.data for entry in done.trace if entry.type == "suppressed"] == [{"reason": "holdout"}]


def test_a_split_that_is_off_sends_everybody_along_the_first_branch() -> None:
    done = go(
        split("s", 0, 1, holdout_percent=100, on=False),
        note("a"),
        note("b"),
        edges=ARMS,
        facts=Facts(subject="7"),
    )
    assert (performing(done).position.node, performing(done).position.is_holdout) == ("a", False)


# -- goal -------------------------------------------------------------------------------------------

ENTERED = NOON - timedelta(days=10)


@pytest.mark.parametrize(
    ("days", "window", "is_reached"),
    [
        (6, 7, True),
        (7, 7, True),
        (8, 7, False),
        (-1, 7, False),
        (0, 7, False),
        (9, None, True),
        (11, None, False),
    ],
)
def test_a_goal_counts_what_came_after_the_entry_and_within_the_window(
    days: int, window: int | None, is_reached: bool
) -> None:
    facts = Facts(
        execution={"started_at": ENTERED}, events={"paid": [ENTERED + timedelta(days=days)], "seen": [NOON]}
    )
    config: dict[str, Any] = {} if window is None else {"window_days": window}
    done = go(goal("g", **config), wait("w", 1, "day"), edges=["start -> g", "g -> w"], facts=facts)
    if is_reached:
        assert ended(done) == ("completed", "goal_reached")
    else:
        assert parked(done).position.node == "w"


@pytest.mark.parametrize("execution", [{}, {"started_at": None}])
def test_a_goal_is_not_reached_by_somebody_who_never_entered(execution: dict[str, Any]) -> None:
    done = go(goal("g"), edges=["start -> g"], facts=Facts(execution=execution, events={"paid": [NOON]}))
    assert ended(done) == ("completed", "no_next_node")


# -- until a time of day ----------------------------------------------------------------------------


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def wakes(node: NodeSpec, now: datetime, facts: Facts) -> datetime:
    done = go(node, note("n"), edges=[f"start -> {node.key}", f"{node.key} -> n"], facts=facts, now=now)
    return parked(done).until if hasattr(done.outcome, "until") else now


@pytest.mark.parametrize(
    ("now", "end"),
    [
        ("2026-05-02T08:59", "2026-05-02T09:00"),
        ("2026-05-02T09:00", "2026-05-02T09:00"),
        ("2026-05-02T09:01", "2026-05-03T09:00"),
    ],
)
def test_an_hour_that_has_passed_is_tomorrows(now: str, end: str) -> None:
    assert wakes(wait_until("w", 9), at(now), Facts()) == at(end)


@pytest.mark.parametrize(
    ("zones", "end"),
    [
        (("Asia/Tehran", "UTC"), "2026-05-03T05:30"),
        (("America/New_York", "UTC"), "2026-05-02T13:00"),
        (("", "Asia/Tehran"), "2026-05-03T05:30"),
        (("Mars/Base", "Asia/Tehran"), "2026-05-03T05:30"),
    ],
)
def test_the_clock_is_the_persons_else_the_workspaces(zones: tuple[str, str], end: str) -> None:
    facts = Facts(timezone=zones[0], workspace_timezone=zones[1])
    assert wakes(wait_until("w", 9), NOON, facts) == at(end)


def test_without_any_zone_the_walk_fails() -> None:
    facts = Facts(timezone="", workspace_timezone="Mars/Base")
    assert ended(go(wait_until("w", 9), edges=["start -> w"], facts=facts)) == ("failed", "timezone_invalid")


@pytest.mark.parametrize(
    ("now", "end"),
    [
        ("2026-03-28T12:00", "2026-03-29T01:00"),  # 02:30 does not exist: the clock goes from 02:00 to 03:00
        ("2026-10-24T12:00", "2026-10-25T00:30"),  # 02:30 exists twice: the first
        ("2026-10-25T00:45", "2026-10-26T01:30"),  # between the two: tomorrow
    ],
)
def test_a_clock_change_moves_no_one_twice(now: str, end: str) -> None:
    assert wakes(wait_until("w", 2, 30), at(now), Facts(timezone="Europe/Berlin")) == at(end)


@pytest.mark.parametrize(
    ("value", "hour"),
    [(15, 15), ("15", 15), ("۱۵", 15), (None, 18), (24, 18), (-1, 18), (9.5, 18), ("x", 18)],
)
def test_the_best_hour_is_the_persons_else_the_fallback(value: Any, hour: int) -> None:
    facts = Facts(target={"best_hour": value})
    assert wakes(best_time("b", 18), NOON, facts) == NOON.replace(hour=hour)


def test_the_best_hour_is_read_when_the_step_is_reached() -> None:
    graph = runnable_journey(
        journey(wait("w", 1, "hour"), best_time("b", 18), note("n"), edges=["start -> w", "w -> b", "b -> n"])
    )
    waiting = parked(walk(graph, at_first(graph), Facts(target={"best_hour": 20}), NOON))
    later = parked(walk(graph, waiting.position, Facts(target={"best_hour": 22}), waiting.until))
    assert later.until == NOON.replace(hour=22)


def test_a_daily_loop_takes_a_day_even_for_a_clock_that_stands_still() -> None:
    graph = runnable_journey(journey(wait_until("w", 9), note("n"), edges=["start -> w", "w -> n", "n -> w"]))
    nine = NOON.replace(hour=9)
    position, ends = at_first(graph, nine), []
    for _ in range(3):
        waiting = parked(walk(graph, position, Facts(), nine))
        ends.append(waiting.until)
        nine = waiting.until
        asked = performing(walk(graph, waiting.position, Facts(), nine))
        position = parked(walk(graph, asked.position, Facts(), nine, DONE)).position
    assert ends == [NOON.replace(hour=9) + timedelta(days=days) for days in (1, 2, 3)]


# -- until an event ---------------------------------------------------------------------------------

PAID = Arrival(name="paid", at=NOON + timedelta(hours=1), data={"amount": 500})
TIMED: dict[str, Any] = {"amount": 2, "unit": "hours"}


def waiting_for(edges: tuple[str, ...] = ("e.timeout -> late",), **config: Any) -> Any:
    graph = runnable_journey(
        journey(
            wait_for("e", **config),
            wait("paid", 1, "day"),
            wait("late", 1, "day"),
            edges=["start -> e", "e -> paid", *edges],
        )
    )
    return graph, parked(walk(graph, at_first(graph), Facts(), NOON))


def test_the_wait_names_its_event_and_its_time_out() -> None:
    _, waiting = waiting_for(**TIMED)
    assert (waiting.event, waiting.until, waiting.reason) == ("paid", NOON + timedelta(hours=2), "wait")


def test_without_a_time_out_only_the_event_ends_it() -> None:
    graph, waiting = waiting_for(edges=("paid -> late",))
    assert waiting.until == NO_TIMEOUT
    much_later = NOON + timedelta(days=3000)
    assert parked(walk(graph, waiting.position, Facts(), much_later)).until == NO_TIMEOUT


@pytest.mark.parametrize(
    ("arrival", "hours", "node"),
    [
        (PAID, 1, "paid"),
        (PAID, 3, "paid"),  # it came in time; the worker is late
        (None, 2, "late"),
        (None, 1, "e"),
        (Arrival(name="seen", at=NOON), 1, "e"),
        (Arrival(name="seen", at=NOON), 2, "late"),
    ],
)
def test_the_event_or_the_time_out_whichever_is_first(arrival: Arrival | None, hours: int, node: str) -> None:
    graph, waiting = waiting_for(**TIMED)
    done = walk(graph, waiting.position, Facts(arrival=arrival), NOON + timedelta(hours=hours))
    assert parked(done).position.node == node


def test_an_event_that_comes_too_late_finds_the_time_out_taken() -> None:
    graph, waiting = waiting_for(**TIMED)
    late = Arrival(name="paid", at=NOON + timedelta(hours=3))
    done = walk(graph, waiting.position, Facts(arrival=late), NOON + timedelta(hours=3))
    assert parked(done).position.node == "late"


def test_a_time_out_that_leads_nowhere_follows_the_event() -> None:
    graph, waiting = waiting_for(edges=("paid -> late",), **TIMED)
    assert parked(walk(graph, waiting.position, Facts(), NOON + timedelta(hours=2))).position.node == "paid"


@pytest.mark.parametrize(
    ("amount", "node"), [(100, "paid"), (99, "e"), ("much", "e"), (None, "e"), ("۱۲۰", "paid")]
)
def test_a_filter_picks_among_the_events(amount: Any, node: str) -> None:
    rules = [{"field": "amount", "operator": ">=", "value": 100}]
    graph, waiting = waiting_for(filter=rules, **TIMED)
    arrival = Arrival(name="paid", at=NOON + timedelta(minutes=5), data={"amount": amount})
    done = walk(graph, waiting.position, Facts(arrival=arrival), NOON + timedelta(minutes=6))
    assert parked(done).position.node == node


def test_an_event_ends_one_wait_only() -> None:
    graph = runnable_journey(journey(wait_for("e"), wait_for("f"), edges=["start -> e", "e -> f"]))
    waiting = parked(walk(graph, at_first(graph), Facts(arrival=PAID), NOON))
    assert waiting.position.node == "e"
    done = walk(graph, waiting.position, Facts(arrival=PAID), NOON + timedelta(hours=1))
    assert parked(done).position.node == "f"


def test_what_follows_is_allowed_from_the_moment_of_the_event() -> None:
    graph, waiting = waiting_for(**TIMED)
    done = walk(graph, waiting.position, Facts(arrival=PAID), NOON + timedelta(hours=1, minutes=5))
    assert parked(done).position.eligible_at == PAID.at
    assert kinds(done)[0] == "wait_finished e"


def test_an_event_wait_counts_as_a_pause() -> None:
    graph, waiting = waiting_for(**TIMED)
    stuck = waiting.position._replace(steps_since_wait=99)
    done = walk(graph, stuck, Facts(arrival=PAID), NOON + timedelta(hours=1))
    assert parked(done).position.node == "paid"


def test_a_position_keeps_its_variant_through_a_wait() -> None:
    graph = runnable_journey(journey(wait("w", 1, "day"), note("n"), edges=["start -> w", "w -> n"]))
    position: Position = start_position(graph, NOON)[0]._replace(variant="B", is_holdout=True)
    waiting = parked(walk(graph, position, Facts(), NOON))
    assert (waiting.position.variant, waiting.position.is_holdout) == ("B", True)

"""The walk over light steps: entering, waiting, branching, looping, ending, yielding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.types import ActionResult, ActionStatus, Definition, Facts, Finish, NodeSpec, Park, Perform, Yield
from engine.walk import MAX_STEPS, retry_position, start_position, walk
from tests.engine.building import (
    NOON,
    ask,
    at_first,
    end,
    graph_of,
    kinds,
    line,
    note,
    parked,
    performing,
    person,
    ping,
    runnable,
    start,
    until,
    wait,
)

HOUR = timedelta(hours=1)
SENT = ActionResult(status=ActionStatus.SUCCESS)


def test_the_first_walk_enters_the_successor_of_start() -> None:
    graph = runnable(line(ping()))
    done = walk(graph, at_first(graph), Facts(), NOON)
    assert kinds(done) == ["node_entered ping"]
    perform = performing(done)
    assert (perform.action, perform.position.entered) == ("ping", True)


def test_a_start_delay_puts_the_due_moment_ahead() -> None:
    graph = runnable(line(start(initial_delay={"amount": 1, "unit": "hour"}), ping()))
    position, due = start_position(graph, NOON)
    assert due == NOON + HOUR
    assert parked(walk(graph, position, Facts(), NOON)).until == due
    performing(walk(graph, position, Facts(), due))


def test_a_duration_wait_counts_from_the_moment_it_was_reached() -> None:
    graph = runnable(line(wait("w", 30, "days"), ping()))
    done = walk(graph, at_first(graph, NOON - HOUR), Facts(), NOON)
    assert kinds(done) == ["node_entered w", "wait_started w"]
    assert (parked(done).until, parked(done).reason) == (NOON + timedelta(days=30), "wait")


def test_days_are_counted_in_the_workspaces_zone() -> None:
    graph = runnable(line(wait("w", 1, "day")))
    before_change = datetime(2026, 3, 28, 12, tzinfo=UTC)
    done = walk(
        graph, at_first(graph, before_change), Facts(workspace_timezone="Europe/Berlin"), before_change
    )
    assert parked(done).until == before_change + timedelta(hours=23)


def test_a_wait_that_ended_makes_the_next_step_eligible_at_its_end() -> None:
    graph = runnable(line(wait("w", 1, "hour"), ask("q"), ping()))
    waiting = parked(walk(graph, at_first(graph), Facts(), NOON)).position
    done = walk(graph, waiting, person(city="Tehran"), NOON + 3 * HOUR)  # a late worker
    assert kinds(done) == ["wait_finished w", "node_entered q", "condition_evaluated q", "node_entered ping"]
    assert isinstance(done.outcome, Yield)
    assert (done.outcome.due, done.outcome.consumes_budget) == (NOON + HOUR, True)
    assert done.outcome.position.eligible_at == NOON + HOUR


def test_a_budgeted_step_is_performed_once_it_was_claimed() -> None:
    graph = runnable(line(ask("q"), ping()))
    yielded = walk(graph, at_first(graph), person(city="Tehran"), NOON).outcome
    assert isinstance(yielded, Yield)
    done = walk(graph, yielded.position, Facts(), NOON + HOUR)
    assert (performing(done).position.eligible_at, kinds(done)) == (NOON, [])


def test_a_step_without_budget_is_performed_in_the_same_call() -> None:
    graph = runnable(line(ask("q"), note()))
    assert performing(walk(graph, at_first(graph), person(city="Tehran"), NOON)).action == "note"


def test_a_wait_asked_too_early_stays_parked_without_a_trace() -> None:
    graph = runnable(line(wait("w", 1, "hour")))
    waiting = parked(walk(graph, at_first(graph), Facts(), NOON)).position
    again = walk(graph, waiting, Facts(), NOON + timedelta(minutes=59))
    assert (kinds(again), parked(again).until) == ([], NOON + HOUR)


def test_a_wait_until_a_past_moment_passes_at_once() -> None:
    graph = runnable(line(until("u", "2026-05-01T12:00"), note()))
    done = walk(graph, at_first(graph), Facts(), NOON)
    assert kinds(done) == ["node_entered u", "wait_finished u", "node_entered note"]
    assert performing(done).position.eligible_at == NOON  # not yesterday: nobody jumps the queue


def test_a_wait_until_is_read_in_its_zone() -> None:
    graph = runnable(line(until("u", "2026-05-03 09:00", "Asia/Tehran")))
    done = walk(graph, at_first(graph), Facts(), NOON)
    assert parked(done).until == datetime(2026, 5, 3, 5, 30, tzinfo=UTC)


def test_a_wait_until_without_a_zone_is_in_the_workspaces() -> None:
    graph = runnable(line(until("u", "2026-05-03T09:00", "")))
    done = walk(graph, at_first(graph), Facts(workspace_timezone="Asia/Tehran"), NOON)
    assert parked(done).until == datetime(2026, 5, 3, 5, 30, tzinfo=UTC)


def test_two_waits_follow_each_other() -> None:
    graph = runnable(line(wait("a", 1, "hour"), wait("b", 1, "hour")))
    first = parked(walk(graph, at_first(graph), Facts(), NOON))
    second = parked(walk(graph, first.position, Facts(), NOON + HOUR))
    assert (second.position.node, second.until) == ("b", NOON + 2 * HOUR)


@pytest.mark.parametrize(("city", "branch"), [("Tehran", "yes"), ("Shiraz", "no")])
def test_a_condition_follows_its_answer(city: str, branch: str) -> None:
    graph = runnable(
        graph_of([start(), ask("q"), note("yes"), note("no"), end()], "start -> q", "q.yes -> yes",
                 "q.no -> no", "yes -> end", "no -> end")
    )  # fmt: skip
    done = walk(graph, at_first(graph), person(city=city), NOON)
    assert performing(done).position.node == branch
    assert done.trace[1].data == {"outcome": branch}


def test_a_condition_that_cannot_be_answered_takes_no_and_says_so() -> None:
    graph = runnable(line(ask("q", "target.age", ">", 5), note()))
    done = walk(graph, at_first(graph), person(age="old"), NOON)
    assert done.trace[1].data == {
        "outcome": "no", "fallback": True, "error": "type_mismatch", "field": "target.age"
    }  # fmt: skip
    assert isinstance(done.outcome, Finish)


def test_conditions_read_the_last_action_of_this_very_walk() -> None:
    graph = runnable(line(ping(), ask("q", "execution.last_action_status", "=", "unknown"), note()))
    asked = performing(walk(graph, at_first(graph), Facts(), NOON)).position
    done = walk(graph, asked, Facts(), NOON, ActionResult(status=ActionStatus.UNKNOWN))
    assert performing(done).position.node == "note"


@pytest.mark.parametrize("step", [ping(on=False), note("ping", on=False), wait("ping", 1, "day", on=False)])
def test_a_disabled_step_is_passed_over(step: NodeSpec) -> None:
    graph = runnable(line(step, note()))
    done = walk(graph, at_first(graph), Facts(), NOON)
    assert kinds(done) == ["node_entered ping", "skipped ping", "node_entered note"]
    assert not graph.consumes_budget("ping")


def test_a_disabled_condition_takes_no() -> None:
    graph = runnable(line(ask("q", on=False), note()))
    done = walk(graph, at_first(graph), person(city="Tehran"), NOON)
    assert kinds(done)[1] == "skipped q"
    assert isinstance(done.outcome, Finish)


@pytest.mark.parametrize(("behavior", "reason"), [("complete", "finished"), ("stop", "stopped")])
def test_ends(behavior: str, reason: str) -> None:
    graph = runnable(line(ask("q"), end("end", behavior)))
    done = walk(graph, at_first(graph), Facts(), NOON)
    assert isinstance(done.outcome, Finish)
    assert (done.outcome.status, done.outcome.reason) == ("completed", reason)
    assert (done.trace[-1].type, done.trace[-1].data) == ("completed", {"reason": reason})


DELAY = {"delay": {"amount": 1, "unit": "hour"}}


def test_a_loop_goes_back_after_its_delay_until_the_last_cycle() -> None:
    graph = runnable(line(note("a"), note("b"), end("end", "loop", to_node="b", max_cycles=3, **DELAY)))
    seen, position, now = [], at_first(graph), NOON
    for _ in range(20):
        done = walk(graph, position, Facts(), now)
        while isinstance(done.outcome, Perform):
            seen.append(f"{done.outcome.position.node}{done.outcome.position.cycle}")
            done = walk(graph, done.outcome.position, Facts(), now, SENT)
        if isinstance(done.outcome, Finish):
            break
        position, now = parked(done).position, parked(done).until
        assert (parked(done).reason, parked(done).clears_metadata) == ("delay", False)
    assert seen == ["a1", "b1", "b2", "b3"]
    assert isinstance(done.outcome, Finish)
    assert (done.outcome.status, now) == ("completed", NOON + 2 * HOUR)


def test_a_restart_begins_afresh_at_the_first_step() -> None:
    graph = runnable(line(note("a"), end("end", "restart", max_cycles=2, **DELAY)))
    asked = performing(walk(graph, at_first(graph), Facts(), NOON)).position
    done = parked(walk(graph, asked._replace(retries=2), Facts(), NOON, SENT))
    assert done.clears_metadata
    assert (done.position.node, done.position.cycle, done.position.retries) == ("a", 2, 0)
    assert (done.position.last_action, done.position.eligible_at) == ("", NOON + HOUR)


def test_a_new_cycle_enters_its_step_when_the_delay_is_over() -> None:
    graph = runnable(line(note("a"), end("end", "restart", max_cycles=2, **DELAY)))
    asked = performing(walk(graph, at_first(graph), Facts(), NOON)).position
    again = parked(walk(graph, asked, Facts(), NOON, SENT)).position
    done = walk(graph, again, Facts(), NOON + HOUR)
    assert (kinds(done), done.trace[0].data) == (["node_entered a"], {"cycle": 2})


def conditions(count: int) -> Definition:
    return line(*(ask(f"q{index}") for index in range(count)))


def calls_to_finish(count: int) -> tuple[int, Finish]:
    graph = runnable(conditions(count))
    position, calls = at_first(graph), 0
    while True:
        calls += 1
        outcome = walk(graph, position, person(city="Tehran"), NOON).outcome
        if isinstance(outcome, Finish):
            return calls, outcome
        assert isinstance(outcome, Yield)
        assert (outcome.due, outcome.consumes_budget) == (NOON, False)
        position = outcome.position


def test_a_chain_of_sixty_takes_two_calls() -> None:
    assert calls_to_finish(60)[0] == 2


def test_a_hundred_steps_without_a_wait_pass() -> None:
    assert calls_to_finish(MAX_STEPS)[1].status == "completed"


def test_the_hundred_and_first_step_without_a_wait_fails_in_the_third_call() -> None:
    calls, finish = calls_to_finish(MAX_STEPS + 1)
    assert (calls, finish.status, finish.reason) == (3, "failed", "step_limit")
    assert finish.position.node == f"q{MAX_STEPS}"


def test_a_wait_starts_the_count_again() -> None:
    steps = [*(ask(f"a{n}") for n in range(90)), wait("w", 1, "hour"), *(ask(f"b{n}") for n in range(100))]
    graph = runnable(line(*steps))
    position, now = at_first(graph), NOON
    while True:
        outcome = walk(graph, position, person(city="Tehran"), now, budget=1000).outcome
        if isinstance(outcome, Finish):
            break
        assert isinstance(outcome, Park)
        position, now = outcome.position, outcome.until
    assert outcome.status == "completed"


def test_steps_are_entered_once_however_often_the_call_ends() -> None:
    graph = runnable(conditions(9))
    entered, position = [], at_first(graph)
    while True:
        done = walk(graph, position, person(city="Tehran"), NOON, budget=2)
        entered += [entry.node for entry in done.trace if entry.type == "node_entered"]
        if isinstance(done.outcome, Finish):
            break
        position = done.outcome.position
    assert entered == [*(f"q{n}" for n in range(9)), "end"]


def test_a_node_that_is_not_in_the_graph_ends_the_walk_as_failed() -> None:
    graph = runnable(line(note()))
    for result in (None, SENT):
        outcome = walk(graph, at_first(graph)._replace(node="gone"), Facts(), NOON, result).outcome
        assert isinstance(outcome, Finish)
        assert (outcome.status, outcome.reason) == ("failed", "node_missing")


def test_an_unusable_workspace_zone_ends_the_walk_as_failed() -> None:
    graph = runnable(line(wait("w", 1, "day")))
    outcome = walk(graph, at_first(graph), Facts(workspace_timezone="Mars/Base"), NOON).outcome
    assert isinstance(outcome, Finish)
    assert (outcome.status, outcome.reason) == ("failed", "timezone_invalid")


def test_trying_by_hand_keeps_step_and_cycle() -> None:
    graph = runnable(line(ping()))
    stuck = at_first(graph)._replace(cycle=3, retries=3, steps_since_wait=100, wake_at=NOON)
    again = retry_position(stuck, NOON + HOUR)
    assert (again.node, again.cycle, again.retries, again.steps_since_wait) == ("ping", 3, 0, 0)
    assert kinds(walk(graph, again, Facts(), NOON + HOUR)) == []


def test_walking_changes_none_of_its_arguments() -> None:
    graph, facts = runnable(line(wait("w", 1, "hour"), ping())), person(city="x")
    position = at_first(graph)
    assert walk(graph, position, facts, NOON) == walk(graph, position, facts, NOON)


# -- any graph at all ------------------------------------------------------------------------------


@st.composite
def definitions(draw: st.DrawFn) -> Definition:
    """Valid definitions: steps only lead onwards, so there is no loop but through an end."""
    count = draw(st.integers(1, 12))
    makers: list[Callable[[str], NodeSpec]] = [
        ping,
        note,
        ask,
        lambda key: wait(key, 1, "hour"),
        lambda key: until(key, "2026-05-02T13:00"),
    ]
    nodes: list[NodeSpec] = [draw(st.sampled_from(makers))(f"n{index}") for index in range(count)]
    nodes = [replace(node, is_enabled=draw(st.integers(0, 4)) > 0) for node in nodes]
    edges = ["start -> n0"]
    for index, node in enumerate(nodes):
        following = [f"n{index + 1}"] if index + 1 < count else ["end"]
        targets = st.sampled_from([*following, *(f"n{later}" for later in range(index + 2, count)), "end"])
        if node.type == "condition":
            edges += [f"{node.key}.yes -> {following[0]}", f"{node.key}.no -> {draw(targets)}"]
        else:
            edges.append(f"{node.key} -> {following[0]}")
        if node.type == "action" and draw(st.booleans()):
            edges.append(f"{node.key}.failure -> {draw(targets)}")
    last = draw(st.sampled_from([end(), end("end", "loop", max_cycles=2, **DELAY)]))
    return graph_of([start(), *nodes, last], *edges)


results = st.builds(
    ActionResult,
    status=st.sampled_from(ActionStatus),
    reason=st.sampled_from(["", "window", "x"]),
    until=st.just(NOON + HOUR),
    halt_status=st.just("blacklisted"),
)


@given(definitions(), st.lists(results, max_size=60), st.integers(1, 60), st.sampled_from(["Tehran", "x"]))
def test_every_walk_ends_and_stays_within_its_budget(
    definition: Definition, outcomes: list[ActionResult], budget: int, city: str
) -> None:
    graph = runnable(definition)
    facts, now = person(city=city), NOON
    position, result = at_first(graph), None
    pending: list[Any] = list(outcomes)
    for _ in range(400):
        done = walk(graph, position, facts, now, result, budget=budget)
        assert (
            walk(graph, position, facts, now, result, budget=budget) == done
        )  # asked again, the same answer
        assert sum(entry.type == "node_entered" for entry in done.trace) <= budget + 1
        outcome, result = done.outcome, None
        assert outcome.position.node in graph.nodes
        position = outcome.position
        match outcome:
            case Finish():
                return
            case Park(until=until_):
                now = max(now, until_)
            case Perform():
                result = pending.pop() if pending else SENT
            case Yield(due=due):
                assert due <= now
    pytest.fail("the walk did not end")

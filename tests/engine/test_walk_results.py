"""What the walk does with the result of an action."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from engine.types import ActionResult, ActionStatus, Facts, Finish, Position, Walk, Yield
from engine.walk import walk
from tests.engine.building import (
    NOON,
    at_first,
    end,
    graph_of,
    kinds,
    line,
    note,
    parked,
    performing,
    ping,
    runnable,
    start,
    until,
    wait,
)

HOUR = timedelta(hours=1)
S = ActionStatus


def after(*results: ActionResult, to: str = "failure", **config: Any) -> Walk:
    """Perform `ping` and report each result in turn, an hour apart; `to` names its second exit."""
    nodes = [start(), ping(**config), note("next"), note("other"), end()]
    exits = ["start -> ping", "ping -> next", "next -> end", "other -> end"]
    graph = runnable(
        graph_of(nodes, *exits, f"ping.{to} -> other") if to else line(ping(**config), note("next"))
    )
    position, now = at_first(graph), NOON
    for result in results:
        asked = performing(walk(graph, position, Facts(), now)).position
        done = walk(graph, asked, Facts(), now, result)
        position, now = done.outcome.position, now + HOUR
    return done


def result(status: ActionStatus, **more: Any) -> ActionResult:
    return ActionResult(status=status, **more)


def finished(done: Walk) -> tuple[str, str]:
    assert isinstance(done.outcome, Finish), done.outcome
    return done.outcome.status, done.outcome.reason


def standing(done: Walk) -> Position:
    return done.outcome.position


FAILED = result(S.FAILED, reason="timeout")
ONCE = {"retry": {"enabled": False}}


def test_success_goes_on_by_default() -> None:
    assert (standing(after(result(S.SUCCESS))).node, standing(after(result(S.SUCCESS))).last_action) == (
        "next",
        "success",
    )


def test_success_prefers_its_own_exit() -> None:
    assert standing(after(result(S.SUCCESS), to="success")).node == "other"


def test_success_forgets_the_retries() -> None:
    done = after(FAILED, result(S.SUCCESS))
    assert (standing(done).node, standing(done).retries) == ("next", 0)


def test_the_step_after_an_action_is_eligible_when_it_ended() -> None:
    assert standing(after(FAILED, result(S.SUCCESS))).eligible_at == NOON + HOUR


def test_a_budgeted_step_after_an_action_is_never_performed_at_once() -> None:
    graph = runnable(line(ping("a"), ping("b")))
    asked = performing(walk(graph, at_first(graph), Facts(), NOON)).position
    done = walk(graph, asked, Facts(), NOON + HOUR, result(S.SUCCESS))
    assert isinstance(done.outcome, Yield)
    assert (done.outcome.position.node, done.outcome.due) == ("b", NOON + HOUR)
    assert done.outcome.consumes_budget


def test_the_wait_after_an_action_counts_from_its_end() -> None:
    graph = runnable(line(ping("a"), wait("w", 1, "day")))
    asked = performing(walk(graph, at_first(graph), Facts(), NOON)).position
    assert parked(walk(graph, asked, Facts(), NOON + HOUR, result(S.SUCCESS))).until == NOON + 25 * HOUR


@pytest.mark.parametrize("status", [S.SKIPPED, S.UNKNOWN])
def test_skipped_and_unknown_go_on_by_default_even_with_other_exits(status: ActionStatus) -> None:
    for other in ("failure", "success"):
        done = after(result(status, reason="why"), to=other)
        assert (standing(done).node, standing(done).last_action) == ("next", status)


def test_a_skip_leaves_its_reason() -> None:
    done = after(result(S.SKIPPED, reason="missing_personalisation"))
    assert (kinds(done)[0], done.trace[0].data) == ("skipped ping", {"reason": "missing_personalisation"})


def test_a_failure_is_tried_again_after_the_interval() -> None:
    done = after(FAILED, retry={"interval_seconds": 600})
    assert (parked(done).until, parked(done).reason) == (NOON + timedelta(minutes=10), "retry")
    assert (standing(done).retries, standing(done).eligible_at) == (1, NOON)
    assert done.trace[0].data == {"retry": 1, "until": "2026-05-02T12:10:00+00:00", "reason": "timeout"}


def test_a_retry_is_performed_without_entering_again() -> None:
    graph = runnable(line(ping()))
    asked = performing(walk(graph, at_first(graph), Facts(), NOON)).position
    again = parked(walk(graph, asked, Facts(), NOON, FAILED)).position
    done = walk(graph, again, Facts(), NOON + HOUR)
    assert (kinds(done), performing(done).position.retries) == ([], 1)


def test_the_other_side_may_ask_for_more_time() -> None:
    assert parked(after(result(S.FAILED, until=NOON + 5 * HOUR))).until == NOON + 5 * HOUR
    assert parked(after(result(S.FAILED, until=NOON))).until == NOON + timedelta(minutes=15)


def test_three_retries_mean_four_attempts() -> None:
    assert parked(after(FAILED, FAILED, FAILED, to="")).position.retries == 3
    assert finished(after(FAILED, FAILED, FAILED, FAILED, to="")) == ("failed", "timeout")


def test_the_failure_exit_comes_before_what_the_rule_says() -> None:
    done = after(FAILED, retry={"enabled": False, "on_exhausted": "fail"})
    assert (standing(done).node, standing(done).last_action) == ("other", "failed")


def test_a_rejection_is_not_tried_again() -> None:
    assert finished(after(result(S.REJECTED, reason="number"), to="")) == ("failed", "number")


@pytest.mark.parametrize("status", [S.FAILED, S.REJECTED])
def test_what_happens_when_nothing_is_left_to_try(status: ActionStatus) -> None:
    def exhausted(rule: str) -> Walk:
        return after(result(status), to="", retry={"enabled": False, "on_exhausted": rule})

    assert finished(exhausted("fail")) == ("failed", "action_failed")
    assert finished(exhausted("stop")) == ("completed", "stopped_after_failure")
    assert (standing(exhausted("skip_step")).node, standing(exhausted("skip_step")).last_action) == (
        "next",
        "skipped",
    )
    assert (standing(exhausted("continue")).node, standing(exhausted("continue")).last_action) == (
        "next",
        "failed",
    )
    assert "skipped ping" in kinds(exhausted("skip_step"))


def test_the_retry_rule_may_come_from_the_settings() -> None:
    graph = runnable(line(ping(), retry={"interval_seconds": 60, "max_attempts": 1}))
    asked = performing(walk(graph, at_first(graph), Facts(), NOON)).position
    assert parked(walk(graph, asked, Facts(), NOON, FAILED)).until == NOON + timedelta(minutes=1)


def test_a_failed_execution_stays_at_its_step() -> None:
    done = after(FAILED, to="", **ONCE)
    assert (standing(done).node, standing(done).entered) == ("ping", False)


def test_a_block_sets_the_status_it_asks_for() -> None:
    done = after(result(S.BLOCKED, halt_status="blacklisted", reason="listed"))
    assert finished(done) == ("blacklisted", "listed")
    assert (kinds(done), standing(done).node, standing(done).entered) == (["blacklisted ping"], "ping", False)


@pytest.mark.parametrize(
    ("reason", "event"),
    [
        ("window", "deferred_window"),
        ("limit", "deferred_limit"),
        ("provider", "deferred_provider"),
        ("frequency", "deferred_provider"),
        ("", "deferred_provider"),
    ],
)
def test_a_deferral_uses_nothing_up(reason: str, event: str) -> None:
    done = after(FAILED, result(S.DEFERRED, until=NOON + 9 * HOUR, reason=reason))
    assert (parked(done).until, parked(done).reason) == (NOON + 9 * HOUR, reason or "provider")
    assert (standing(done).retries, standing(done).eligible_at, standing(done).entered) == (1, NOON, False)
    assert kinds(done) == [f"{event} ping"]


def test_a_deferred_step_is_not_entered_again() -> None:
    graph = runnable(line(ping()))
    asked = performing(walk(graph, at_first(graph), Facts(), NOON)).position
    deferred = parked(walk(graph, asked, Facts(), NOON, result(S.DEFERRED, until=NOON + HOUR))).position
    assert kinds(walk(graph, deferred, Facts(), NOON + HOUR)) == []


def test_a_deferral_needs_a_moment() -> None:
    with pytest.raises(ValueError, match="moment"):
        after(result(S.DEFERRED))


def test_cancelling_ends_the_walk() -> None:
    done = after(result(S.CANCELLED, reason="target_removed"))
    assert (finished(done), kinds(done)) == (("cancelled", "target_removed"), ["cancelled ping"])


def test_a_held_action_is_not_repeated_after_resuming() -> None:
    graph = runnable(line(ping(), note("next")))
    asked = performing(walk(graph, at_first(graph), Facts(), NOON)).position
    done = walk(graph, asked, Facts(), NOON, result(S.HELD, reason="unknown_outcome"))
    assert finished(done) == ("paused", "unknown_outcome")
    assert kinds(done) == ["node_entered next", "paused ping"]
    resumed = walk(graph, standing(done), Facts(), NOON + HOUR)
    assert (performing(resumed).position.node, kinds(resumed)) == ("next", [])
    assert standing(done).last_action == "unknown"


def test_a_result_belongs_to_an_action() -> None:
    graph = runnable(line(until("u", "2026-05-03T12:00")))
    with pytest.raises(ValueError, match="no action"):
        walk(graph, at_first(graph), Facts(), NOON, result(S.SUCCESS))

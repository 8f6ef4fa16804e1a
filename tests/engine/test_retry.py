"""Retry rules: defaults, strategies, mistakes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.retry import STRATEGIES, RetryRule, check_retry, parse_retry


def test_without_a_rule_the_defaults_hold() -> None:
    rule = parse_retry(None)
    assert isinstance(rule, RetryRule)
    assert rule.to_json() == {
        "enabled": True,
        "strategy": "fixed",
        "max_attempts": 3,
        "interval_seconds": 900,
        "on_exhausted": "fail",
    }


def test_keys_left_out_come_from_the_level_above() -> None:
    base = RetryRule(max_attempts=7, on_exhausted="stop")
    assert parse_retry({"max_attempts": 1}, base) == RetryRule(max_attempts=1, on_exhausted="stop")


def test_a_rule_survives_its_json() -> None:
    rule = RetryRule(enabled=False, strategy="exponential", max_attempts=9, interval_seconds=61)
    assert parse_retry(rule.to_json()) == rule


@pytest.mark.parametrize("attempt", range(1, 6))
def test_fixed_gives_the_same_delay_each_time(attempt: int) -> None:
    assert RetryRule(interval_seconds=900).delay(attempt) == timedelta(seconds=900)


def test_exponential_doubles() -> None:
    rule = RetryRule(strategy="exponential", interval_seconds=900)
    assert [rule.delay(n) / timedelta(minutes=1) for n in (1, 2, 3)] == [15, 30, 60]


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_exponential_stays_between_a_minute_and_a_day(attempt: int, interval: int) -> None:
    delay = RetryRule(strategy="exponential", interval_seconds=interval).delay(attempt)
    assert timedelta(minutes=1) <= delay <= timedelta(hours=24)


@given(st.integers(1, 40), st.integers(1, 86_400))
def test_exponential_never_shrinks(attempt: int, interval: int) -> None:
    rule = RetryRule(strategy="exponential", interval_seconds=interval)
    assert rule.delay(attempt + 1) >= rule.delay(attempt)


@given(st.floats(allow_nan=False), st.sampled_from(["fixed", "exponential"]))
def test_jitter_adds_at_most_a_tenth(jitter: float, strategy: str) -> None:
    rule = RetryRule(strategy=strategy, interval_seconds=900)
    assert rule.delay(1) <= rule.delay(1, jitter=jitter) <= rule.delay(1) * 1.1


def test_a_new_strategy_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STRATEGIES, "patient", lambda attempt, interval: 42)
    rule = parse_retry({"strategy": "patient"})
    assert isinstance(rule, RetryRule)
    assert rule.delay(5) == timedelta(seconds=42)


def test_max_attempts_counts_retries() -> None:
    rule = RetryRule(max_attempts=3)
    assert [rule.allows(done) for done in range(5)] == [True, True, True, False, False]


def test_a_rule_that_is_off_allows_nothing() -> None:
    assert not RetryRule(enabled=False).allows(0)


@pytest.mark.parametrize(
    "raw",
    [
        {"enabled": 1},
        {"strategy": "hourly"},
        {"strategy": ["fixed"]},
        {"max_attempts": -1},
        {"max_attempts": True},
        {"max_attempts": 10**9},
        {"interval_seconds": -900},
        {"interval_seconds": 0},
        {"interval_seconds": 1.5},
        {"interval_seconds": float("inf")},
        {"on_exhausted": "explode"},
        {"on_exhausted": None},
    ],
)
def test_a_bad_value_is_one_problem_that_names_its_key(raw: dict[str, object]) -> None:
    (problem,) = check_retry(raw)
    assert (problem.code, problem.fields["key"]) == ("retry_value_invalid", next(iter(raw)))


def test_an_unknown_key_and_a_bad_form_are_refused() -> None:
    assert [problem.code for problem in check_retry({"speed": 1})] == ["retry_key_unknown"]
    assert [problem.code for problem in check_retry("fast")] == ["retry_malformed"]

"""When a failed action may be tried again, and what happens when it may not.

A strategy maps (retry number from 1, interval in seconds) to a delay in seconds. Strategies are looked
up by name when they are used, so a new one is one function and one entry in `STRATEGIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from engine.types import Problem

MIN_DELAY: Final = 60
MAX_DELAY: Final = 24 * 3600
MAX_ATTEMPTS: Final = 100
ON_EXHAUSTED: Final = ("fail", "stop", "skip_step", "continue")

Strategy = Callable[[int, int], float]


def fixed(_attempt: int, interval: int) -> float:
    """The same delay every time."""
    return interval


def exponential(attempt: int, interval: int) -> float:
    """Doubles with each retry, never below one minute and never above one day."""
    doublings = min(attempt - 1, 32)  # 2**32 intervals of a second are past the cap; more would overflow
    return float(min(max(interval * 2**doublings, MIN_DELAY), MAX_DELAY))


STRATEGIES: dict[str, Strategy] = {"fixed": fixed, "exponential": exponential}


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRule:
    """How often and how far apart a failed action is repeated.

    max_attempts: retries after the first try (3 means at most 4 attempts).
    on_exhausted: fail, stop, skip_step or continue; asked only where no failure path leads on.
    """

    enabled: bool = True
    strategy: str = "fixed"
    max_attempts: int = 3
    interval_seconds: int = 900
    on_exhausted: str = "fail"

    def allows(self, retries: int) -> bool:
        """Whether one more retry is left after `retries` of them."""
        return self.enabled and retries < self.max_attempts

    def delay(self, attempt: int, *, jitter: float = 0.0) -> timedelta:
        """How long to wait before retry number `attempt` (from 1).

        `jitter` (0.0 to 1.0) spreads retries of many: it adds up to a tenth of the delay, within one day.
        """
        seconds = STRATEGIES[self.strategy](max(attempt, 1), self.interval_seconds)
        spread = seconds * (1 + min(max(jitter, 0.0), 1.0) / 10)
        return timedelta(seconds=max(seconds, min(spread, MAX_DELAY)))

    def to_json(self) -> dict[str, Any]:
        return {
            "enabled": self.enabled,
            "strategy": self.strategy,
            "max_attempts": self.max_attempts,
            "interval_seconds": self.interval_seconds,
            "on_exhausted": self.on_exhausted,
        }


DEFAULT_RULE: Final = RetryRule()


def parse_retry(raw: object, base: RetryRule = DEFAULT_RULE) -> RetryRule | list[Problem]:
    """Read a stored rule. Keys left out, and a rule left out (None), keep the values of `base`.

    Returns the rule, or every problem found (codes `retry_malformed`, `retry_key_unknown`,
    `retry_value_invalid` with the field `key`).
    """
    if raw is None:
        return base
    if not isinstance(raw, Mapping):
        return [Problem(code="retry_malformed")]
    problems = [
        Problem(code="retry_key_unknown", fields={"key": str(key)[:40]}) for key in raw if key not in _CHECKS
    ]
    values = {key: raw[key] for key in _CHECKS if key in raw}
    problems += [
        Problem(code="retry_value_invalid", fields={"key": key})
        for key, value in values.items()
        if not _CHECKS[key](value)
    ]
    return problems or replace(base, **values)


def check_retry(raw: object) -> list[Problem]:
    """Every problem of a stored rule; none for a good one."""
    parsed = parse_retry(raw)
    return parsed if isinstance(parsed, list) else []


def _whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


_CHECKS: Final[Mapping[str, Callable[[object], bool]]] = {
    "enabled": lambda value: isinstance(value, bool),
    "strategy": lambda value: isinstance(value, str) and value in STRATEGIES,
    "max_attempts": lambda value: _whole(value, 0, MAX_ATTEMPTS),
    "interval_seconds": lambda value: _whole(value, 1, MAX_DELAY * 30),
    "on_exhausted": lambda value: isinstance(value, str) and value in ON_EXHAUSTED,
}

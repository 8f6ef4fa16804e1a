"""The settings of a version: the defaults its steps start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.portable import check_values
from engine.retry import DEFAULT_RULE, RetryRule, parse_retry
from engine.types import Problem
from engine.windows import SendWindow, WindowError

KEYS: Final = ("send_window", "daily_limit", "retry", "on_unknown_outcome")
ON_UNKNOWN: Final = ("continue", "hold", "reconcile")
MAX_LIMIT: Final = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`values` as stored; `retry` is the rule that nodes without an own one follow."""

    values: Mapping[str, Any]
    retry: RetryRule = DEFAULT_RULE


def read_settings(raw: object) -> tuple[Settings, list[Problem]]:
    """Read version settings. A key that is missing or null leaves the matter to the level above."""
    if not isinstance(raw, Mapping):
        return Settings(values={}), [Problem(code="settings_malformed")]
    problems = check_values(raw)
    if problems:
        return Settings(values={}), problems
    problems += [
        Problem(code="settings_key_unknown", fields={"key": str(key)[:40]}) for key in raw if key not in KEYS
    ]
    limit, on_unknown = raw.get("daily_limit"), raw.get("on_unknown_outcome")
    if limit is not None and not _is_limit(limit):
        problems.append(Problem(code="settings_value_invalid", fields={"key": "daily_limit"}))
    if on_unknown is not None and on_unknown not in ON_UNKNOWN:
        problems.append(Problem(code="settings_value_invalid", fields={"key": "on_unknown_outcome"}))
    if raw.get("send_window") is not None:
        problems += check_window(raw["send_window"])
    retry = parse_retry(raw.get("retry"))
    if isinstance(retry, list):
        return Settings(values=raw), problems + retry
    return Settings(values=raw, retry=retry), problems


def check_window(raw: object) -> list[Problem]:
    """Every problem of a stored window; none for a good one."""
    try:
        SendWindow.parse(raw)
    except WindowError as exc:
        return list(exc.problems)
    return []


def _is_limit(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_LIMIT

"""The settings of a version: the defaults its steps start from, and of a journey who enters and leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from engine.conditions import check_condition, compile_condition, events_of, fields_of, is_empty
from engine.graph import Leaving
from engine.portable import check_values
from engine.retry import DEFAULT_RULE, RetryRule, parse_retry
from engine.types import FieldType, Problem, Profile
from engine.windows import SendWindow, WindowError

KEYS: Final = ("send_window", "daily_limit", "retry", "on_unknown_outcome", "expire_after_minutes")
JOURNEY_KEYS: Final = ("entry_rule", "cooldown_hours", "reentry_window", "exit_criteria", "max_duration_days")
ON_UNKNOWN: Final = ("continue", "hold", "reconcile")
ENTRY_RULES: Final = ("once", "after_completion", "every_time")
REENTRY_WINDOWS: Final = ("day",)
MAX_LIMIT: Final = 10_000_000
MAX_DAYS: Final = 3650
MAX_EXPIRY_MINUTES: Final = 30 * 24 * 60

_JOURNEY_VALUES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "entry_rule": lambda value: value in ENTRY_RULES,
    "reentry_window": lambda value: value in REENTRY_WINDOWS,
    "cooldown_hours": lambda value: _is_whole(value, 0, 24 * MAX_DAYS),
    "max_duration_days": lambda value: _is_whole(value, 1, MAX_DAYS),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`values` as stored; `retry` is the rule that nodes without an own one follow.

    leaving: the ways out of a journey, if it has any. events: those they ask about, with days back.
    """

    values: Mapping[str, Any]
    retry: RetryRule = DEFAULT_RULE
    leaving: Leaving | None = None
    events: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SettingsReader:
    """Reads the settings of versions of one profile. `fields` and `events` are for its conditions."""

    profile: Profile
    fields: Mapping[str, FieldType]
    events: bool = False

    def read(self, raw: object) -> tuple[Settings, list[Problem]]:
        """The settings. A key that is missing or null leaves the matter to the level above."""
        if not isinstance(raw, Mapping):
            return Settings(values={}), [Problem(code="settings_malformed")]
        problems = check_values(raw)
        if problems:
            return Settings(values={}), problems
        problems += self._common(raw)
        retry = parse_retry(raw.get("retry"))
        problems += retry if isinstance(retry, list) else []
        leaving: Leaving | None = None
        asked: Mapping[str, int] = {}
        if self.profile is Profile.JOURNEY:
            found = _journey_values(raw) + self._criteria(raw.get("exit_criteria"))
            problems += found
            if not found:
                leaving, asked = self._leaving(raw)
        rule = DEFAULT_RULE if isinstance(retry, list) else retry
        return Settings(values=raw, retry=rule, leaving=leaving, events=asked), problems

    def _common(self, raw: Mapping[str, Any]) -> list[Problem]:
        problems = [self._unknown(str(key)) for key in raw if key not in KEYS and not self._is_journeys(key)]
        limit, on_unknown = raw.get("daily_limit"), raw.get("on_unknown_outcome")
        if limit is not None and not _is_whole(limit, 0, MAX_LIMIT):
            problems.append(Problem(code="settings_value_invalid", fields={"key": "daily_limit"}))
        expiry = raw.get("expire_after_minutes")
        if expiry is not None and not _is_whole(expiry, 1, MAX_EXPIRY_MINUTES):
            problems.append(Problem(code="settings_value_invalid", fields={"key": "expire_after_minutes"}))
        if on_unknown is not None and on_unknown not in ON_UNKNOWN:
            problems.append(Problem(code="settings_value_invalid", fields={"key": "on_unknown_outcome"}))
        if raw.get("send_window") is not None:
            problems += check_window(raw["send_window"])
        return problems

    def _is_journeys(self, key: object) -> bool:
        return self.profile is Profile.JOURNEY and key in JOURNEY_KEYS

    def _unknown(self, key: str) -> Problem:
        code = "settings_only_in_journeys" if key in JOURNEY_KEYS else "settings_key_unknown"
        return Problem(code=code, fields={"key": key[:40]})

    def _criteria(self, tree: object) -> list[Problem]:
        return [
            Problem(code="exit_criteria_invalid", fields={"reason": found.code, **found.fields})
            for found in check_condition(tree, self.fields, events=self.events)
        ]

    def _leaving(self, raw: Mapping[str, Any]) -> tuple[Leaving | None, Mapping[str, int]]:
        """An empty tree is no criterion: nobody leaves because of it."""
        tree, days = raw.get("exit_criteria"), raw.get("max_duration_days")
        stay = None if days is None else timedelta(days=days)
        if is_empty(tree):
            return (None if stay is None else Leaving(max_stay=stay)), {}
        test = compile_condition(tree, self.fields, events=self.events)
        own = any(name.startswith("execution.") for name in fields_of(tree))
        return Leaving(test=test, max_stay=stay, reads_execution=own), events_of(tree)


def check_window(raw: object) -> list[Problem]:
    """Every problem of a stored window; none for a good one."""
    try:
        SendWindow.parse(raw)
    except WindowError as exc:
        return list(exc.problems)
    return []


def _journey_values(raw: Mapping[str, Any]) -> list[Problem]:
    problems = [
        Problem(code="settings_value_invalid", fields={"key": key})
        for key, fits in _JOURNEY_VALUES.items()
        if raw.get(key) is not None and not fits(raw[key])
    ]
    if raw.get("reentry_window") is not None and raw.get("cooldown_hours") is not None:
        problems.append(Problem(code="reentry_twice"))
    return problems


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

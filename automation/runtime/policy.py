"""What the runtime must know of whoever owns an execution, and who tells it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from engine.windows import SendWindow


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPolicy:
    """One campaign, as the scheduler and the workers see it at one moment.

    running: its executions may be claimed and may send now. ended_reason: set once it will never run
    again; its executions found on their way are cancelled with that reason. Limits are units a
    calendar day of `timezone`; None is no limit, 0 is nothing. send_window is the effective one as JSON.
    """

    campaign_id: int
    workspace_id: int
    workflow_id: int
    version_id: int
    campaign_name: str = ""
    workspace_name: str = ""
    kind: str = "list"
    running: bool = True
    ended_reason: str = ""
    automation_enabled: bool = True
    timezone: str = "Asia/Tehran"
    send_window: Mapping[str, Any] | None = None
    campaign_limit: int | None = None
    workflow_limit: int | None = None
    workspace_limit: int | None = None
    on_unknown: str = "continue"
    expire_after_minutes: int | None = None  # a message later than that is not sent; None: never too late
    one_per_phone: bool = False  # people who share a number get each text once
    stop_statuses: frozenset[str] = frozenset()

    def day(self, moment: datetime) -> date:
        """The calendar day whose counters `moment` falls into."""
        return moment.astimezone(ZoneInfo(self.timezone)).date()

    def next_day(self, moment: datetime) -> datetime:
        """Midnight of the following calendar day (aware, in the policy's zone)."""
        local = moment.astimezone(ZoneInfo(self.timezone))
        day = date.fromordinal(local.toordinal() + 1)
        return datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(self.timezone))

    def day_start(self, moment: datetime, *, days_before: int = 0) -> datetime:
        """Midnight of the calendar day of `moment`, or of a day before it (aware, in the policy's zone)."""
        day = self.day(moment) - timedelta(days=days_before)
        return datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(self.timezone))

    def stops(self, status: str) -> bool:
        """Whether people of this status leave the campaign."""
        return bool(status) and status in self.stop_statuses

    def window(self) -> SendWindow | None:
        """The sending window; None is no restriction. Raises WindowError for one that was never valid."""
        return SendWindow.parse(self.send_window) if self.send_window is not None else None

    def next_open(self, moment: datetime) -> datetime:
        """`moment` when sending is allowed then, else the next opening."""
        window = self.window()
        return moment if window is None else window.next_open(moment)

    def is_open(self, moment: datetime) -> bool:
        window = self.window()
        return window is None or window.is_open(moment)


@dataclass(frozen=True, slots=True)
class DueCampaign:
    """A running campaign with somebody due: at a step of no cost (`light`), at a budgeted one (`sends`)."""

    policy: RunPolicy
    light: bool
    sends: bool


class PolicySource(Protocol):
    """The owner of campaigns. Both answers take a constant number of queries."""

    def due(self, now: datetime) -> list[DueCampaign]:
        """Every campaign that may run now and has somebody due, grouped by workspace.

        One query when nobody is due, however many campaigns wait.
        """
        ...

    def for_campaigns(self, workspace_id: int, campaign_ids: Iterable[int]) -> dict[int, RunPolicy]:
        """The named campaigns as they stand at this moment, running or not."""
        ...


class Readiness(Protocol):
    """Whether a workspace's channel can be used at all; "" is yes, else a stable reason word."""

    def __call__(self, workspace_id: int, now: datetime) -> str: ...


_source: PolicySource | None = None
_readiness: list[Readiness] = []


def register_policy_source(source: PolicySource) -> None:
    global _source
    _source = source


def policy_source() -> PolicySource:
    """The registered owner. Raises RuntimeError before `config.wiring` ran."""
    if _source is None:
        raise RuntimeError("no policy source is registered")
    return _source


def register_readiness(check: Readiness) -> None:
    if check not in _readiness:
        _readiness.append(check)


def readiness_problem(workspace_id: int, now: datetime) -> str:
    """The first reason why nothing of this workspace may be sent; "" when all is well."""
    for check in _readiness:
        if problem := check(workspace_id, now):
            return problem
    return ""

"""What a person decides about a campaign, checked in one place for pages, commands and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext as _

from campaigns.policy import ONE_PER_PHONE, STOP_STATUSES
from core.errors import Invalid
from core.text import normalize_text
from engine.windows import SendWindow, WindowError
from targets.models import TargetStatus

MAX_NAME: Final = 120
MAX_DESCRIPTION: Final = 2000
MAX_LIMIT: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One reason why the details are refused, and the field it belongs to."""

    field: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignDetails:
    """`starts_at` None starts by hand, `ends_at` None never ends by itself, `daily_limit` None is no limit
    and 0 sends nothing. `send_window` None follows the workflow, then the workspace. `one_per_phone`: of
    people who share a number only one gets each text."""

    name: str
    description: str = ""
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    daily_limit: int | None = None
    send_window: Mapping[str, Any] | None = None
    stop_statuses: frozenset[str] = frozenset()
    one_per_phone: bool = False


def columns_of(details: CampaignDetails, *, zone: str) -> dict[str, Any]:
    """The campaign's columns (without `settings`). `zone` is where a window without a zone is.

    Raises Invalid listing every FieldProblem.
    """
    problems = [*_text_problems(details), *_time_problems(details), *_stop_problems(details)]
    window, window_problems = _window(details.send_window, zone)
    problems += window_problems
    if problems:
        raise Invalid(_("The campaign cannot be saved like this."), problems=problems)
    return {
        "name": normalize_text(details.name),
        "description": normalize_text(details.description),
        "starts_at": details.starts_at,
        "ends_at": details.ends_at,
        "daily_limit": details.daily_limit,
        "send_window": window,
    }


def settings_of(details: CampaignDetails, current: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The campaign's settings with what the details hold of them replaced."""
    kept = {key: value for key, value in (current or {}).items() if key != ONE_PER_PHONE}
    shared = {ONE_PER_PHONE: True} if details.one_per_phone else {}
    return {**kept, **shared, STOP_STATUSES: sorted(details.stop_statuses)}


def _text_problems(details: CampaignDetails) -> list[FieldProblem]:
    problems = []
    name = normalize_text(details.name)
    if not name:
        problems.append(FieldProblem("name", _("Give the campaign a name.")))
    elif len(name) > MAX_NAME:
        problems.append(FieldProblem("name", _("The name is too long.")))
    if len(details.description) > MAX_DESCRIPTION:
        problems.append(FieldProblem("description", _("The description is too long.")))
    return problems


def _time_problems(details: CampaignDetails) -> list[FieldProblem]:
    problems = []
    if details.starts_at and details.ends_at and details.ends_at <= details.starts_at:
        problems.append(FieldProblem("ends_at", _("The end must be later than the start.")))
    if details.daily_limit is not None and not 0 <= details.daily_limit <= MAX_LIMIT:
        problems.append(FieldProblem("daily_limit", _("The daily limit is out of range.")))
    return problems


def _stop_problems(details: CampaignDetails) -> list[FieldProblem]:
    if details.stop_statuses <= set(TargetStatus.values):
        return []
    return [FieldProblem("stop_statuses", _("One of the statuses does not exist."))]


def _window(raw: Mapping[str, Any] | None, zone: str) -> tuple[dict[str, Any] | None, list[FieldProblem]]:
    if raw is None:
        return None, []
    try:
        return SendWindow.parse(raw, timezone=zone).to_json(), []
    except WindowError as exc:
        codes = {problem.code for problem in exc.problems}
        return None, [FieldProblem("send_window", _window_text(code)) for code in sorted(codes)]


def _window_text(code: str) -> str:
    texts = {
        "window_never_open": _("Open the window on at least one day."),
        "window_range_order": _("A time span must end later than it begins; split a night into two days."),
        "window_ranges_overlap": _("Two time spans of one day overlap."),
        "window_range_invalid": _("Write the times as hour:minute, for example 09:00 and 18:00."),
        "window_timezone_invalid": _("The time zone of the window does not exist."),
    }
    return texts.get(code, _("The sending window cannot be read."))

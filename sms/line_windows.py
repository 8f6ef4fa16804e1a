"""When a sender line may send, to all or to one operator's numbers: kept as rules, asked at send time.

Operators drop promotional texts at night and charge for them all the same, some for their own numbers only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import structlog
from django.db import transaction
from django.db.models import QuerySet

from core import clock
from core.errors import NotFound
from core.statements import load
from core.tenancy import current_workspace_id
from engine.windows import DAYS, SendWindow, WindowError
from sms.models import LineRule, Operator
from sms.operators import operator_of
from workspaces import audit
from workspaces.models import User, Workspace

log = structlog.get_logger(__name__)
EVERY_LINE: Final = "*"


@dataclass(frozen=True, slots=True)
class LineWindows:
    """The windows of the active workspace, by line and operator."""

    by_line: Mapping[tuple[str, str], SendWindow]

    @classmethod
    def load(cls) -> LineWindows:
        """One query. A window that was never valid restricts nothing, and is logged."""
        rows = load(LineRule, {"workspace_id": current_workspace_id()})
        windows = [(row, _window(row)) for row in rows if row.window is not None]
        return cls({(row.line, row.operator): window for row, window in windows if window is not None})

    def __bool__(self) -> bool:
        return bool(self.by_line)

    def next_open(self, line: str, mobile: str, now: datetime) -> datetime:
        """`now` when every rule for this line and number is open, else the first moment when all are."""
        keys = [(one, who) for one in (line, EVERY_LINE) for who in ("", str(operator_of(mobile)))]
        windows = [self.by_line[key] for key in keys if key in self.by_line]
        moment = now
        for _turn in range(50):  # windows that open in turns are found within days
            latest = max((window.next_open(moment) for window in windows), default=moment)
            if latest == moment:
                return moment
            moment = latest
        return moment


def _window(row: LineRule) -> SendWindow | None:
    try:
        return SendWindow.parse(row.window)
    except WindowError:
        log.error("line_window_invalid", line_rule_id=row.pk)
        return None


def every_day(opens: str, closes: str, timezone: str) -> dict[str, Any]:
    """The window that is open from `opens` to `closes` on each day, as JSON."""
    return SendWindow.parse({"days": {day: [[opens, closes]] for day in DAYS}}, timezone=timezone).to_json()


def all_rules() -> QuerySet[LineRule]:
    """Those of the active workspace, by line."""
    return LineRule.objects.order_by("line", "operator")


def keep_rule(
    workspace: Workspace, *, line: str, operator: str, window: Mapping[str, Any] | None,
    finality_hours: int | None, user: User,
) -> bool:  # fmt: skip
    """Add the rule of a line and operator, or replace what it says. True when anything changed."""
    wanted = {"window": None if window is None else dict(window), "finality_hours": finality_hours}
    with transaction.atomic():
        LineRule.objects.get_or_create(workspace=workspace, line=line, operator=operator)
        row = LineRule.objects.select_for_update(no_key=True).get(line=line, operator=operator)
        old, new = audit.changes({name: getattr(row, name) for name in wanted}, wanted)
        if not new:
            return False
        LineRule.objects.filter(pk=row.pk).update(**new, updated_at=clock.now())
        about = {"line": line, "operator": Operator(operator).value}
        audit.record(
            "sms.line_rules_changed", entity=row, old={**about, **old}, new={**about, **new}, user=user
        )
    return True


def drop_rule(pk: int, *, user: User) -> None:
    """Raises NotFound."""
    with transaction.atomic():
        row = LineRule.objects.filter(pk=pk).first()
        if row is None:
            raise NotFound
        old = {"line": row.line, "operator": row.operator, "window": row.window}
        audit.record("sms.line_rules_changed", entity=row, old=old, user=user)
        row.delete()

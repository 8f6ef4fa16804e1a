"""The clock of the tests: it stands still until a test moves it, for every thread of the process."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from core.clock import FrozenClock

TEHRAN = ZoneInfo("Asia/Tehran")
MONDAY_MORNING = datetime(2026, 11, 30, 9, 0, tzinfo=TEHRAN)


class MovableClock(FrozenClock):
    """A frozen clock with hands: `clock.advance(minutes=5)`, `clock.move_to(moment)`."""

    def advance(self, **delta: Any) -> datetime:
        """Move on by `timedelta(**delta)`; returns the new moment."""
        self.at += timedelta(**delta)
        return self.at

    def move_to(self, at: datetime) -> datetime:
        """Stand at another moment (aware)."""
        self.at = at.astimezone(self.at.tzinfo)
        return self.at

"""What the terminal shows: a bar while it runs, a line for each day, and the proof at the end."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date
from typing import TextIO

import jdatetime

from demo.proof import Check

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
BAR_WIDTH = 30


@dataclass(slots=True)
class Day:
    """What happened on one calendar day of the workspace."""

    day: date
    claimed: int = 0
    sent: int = 0
    retried: int = 0
    deferred_window: int = 0
    deferred_cap: int = 0
    delivered: int = 0
    undelivered: int = 0
    ended: int = 0

    def numbers(self) -> list[int]:
        """The columns of the table, in order."""
        return [int(getattr(self, field.name)) for field in fields(self)[1:]]

    def as_data(self) -> dict[str, object]:
        """For `--json`."""
        return {**asdict(self), "day": self.day.isoformat()}

    @property
    def quiet(self) -> bool:
        """Whether nothing happened at all."""
        return not any(self.numbers())


TITLES = ("claimed", "sent", "retried", "def.window", "def.cap", "delivered", "undeliv.", "ended")


class Screen:
    """Writes to one stream. The bar is drawn only on a terminal; lines go everywhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self._bar_shown = False

    def say(self, text: str = "") -> None:
        """One line above the bar."""
        self._clear()
        print(text, file=self.stream, flush=True)

    def bar(self, done: int, of: int, day: date) -> None:
        """Redraw the progress bar in place."""
        if not self.stream.isatty():
            return
        filled = BAR_WIDTH * done // max(of, 1)
        text = f"[{'#' * filled}{'.' * (BAR_WIDTH - filled)}] {done}/{of} ended, it is {in_words(day)}"
        self.stream.write("\r\x1b[2K" + text)
        self.stream.flush()
        self._bar_shown = True

    def header(self) -> None:
        """The titles of the table of days."""
        self.say(f"{'day':<15}" + "".join(f"{title:>11}" for title in TITLES))

    def day(self, row: Day) -> None:
        """One line of the table."""
        self.say(f"{in_words(row.day):<15}" + "".join(f"{number:>11}" for number in row.numbers()))

    def total(self, rows: Sequence[Day]) -> None:
        """The sums under the table."""
        sums = [sum(column) for column in zip(*(row.numbers() for row in rows), strict=True)]
        self.say("-" * (15 + 11 * len(TITLES)))
        self.say(f"{'all days':<15}" + "".join(f"{number:>11}" for number in sums))

    def proof(self, checks: Sequence[Check]) -> None:
        """One line for each promise, with examples of what broke it."""
        for check in checks:
            word = "holds " if check.holds else "BROKEN"
            self.say(
                f"  {word}  {check.promise} ({check.looked_at} looked at, {check.violations} violations)"
            )
            for example in check.examples:
                self.say(f"          {example}")

    def _clear(self) -> None:
        if self._bar_shown:
            self.stream.write("\r\x1b[2K")
            self._bar_shown = False


def in_words(day: date) -> str:
    """`Sat 1405-02-12`: the weekday and the Jalali date."""
    return f"{WEEKDAYS[day.weekday()]} {jdatetime.date.fromgregorian(date=day).strftime('%Y-%m-%d')}"

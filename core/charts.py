"""Bar charts as geometry: the template draws them as SVG, so they need no script and print as they are.

Time runs from left to right in every language; only the words around the chart follow the language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

WIDTH: Final = 720
HEIGHT: Final = 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 8, 12, 32  # room for the numbers and the names of the bars
_GAP: Final = 0.3  # of the room of one bar
_LEAST: Final = 1.5  # a bar of anything above nothing can be seen
_STEPS: Final = 4


@dataclass(frozen=True, slots=True)
class Part:
    """One coloured piece of a bar. `series` counts from 1, as the colours do."""

    series: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Bar:
    """`labelled`: its name stands under it; `minor`: but not on a narrow screen."""

    name: str
    x: float
    width: float
    middle: float
    parts: tuple[Part, ...]
    values: tuple[int, ...]
    labelled: bool
    minor: bool

    @property
    def total(self) -> int:
        return sum(self.values)


@dataclass(frozen=True, slots=True)
class Chart:
    """Stacked bars over a scale that begins at nothing."""

    series: tuple[str, ...]
    bars: tuple[Bar, ...]
    scale: tuple[tuple[float, int], ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    base: int = HEIGHT - _BOTTOM

    @property
    def total(self) -> int:
        return sum(bar.total for bar in self.bars)

    @property
    def most(self) -> Bar | None:
        """The highest bar, the first of several; None when there is nothing."""
        highest = max(self.bars, key=lambda bar: bar.total, default=None)
        return highest if highest is not None and highest.total else None

    @property
    def names_y(self) -> int:
        return self.height - 8


def bars(
    series: Sequence[str], points: Sequence[tuple[str, Sequence[int]]], *, label_every: int = 1
) -> Chart:
    """Bars of `points` (name and one value for each of `series`), stacked in that order.

    Every `label_every`-th bar carries its name, on a narrow screen every second of those.
    """
    top = _round_up(max((sum(values) for _name, values in points), default=0))
    room = (WIDTH - _LEFT - _RIGHT) / max(1, len(points))
    drawn = [
        _bar(name, tuple(values), place, room, top, label_every)
        for place, (name, values) in enumerate(points)
    ]
    scale = tuple((_y(top * step / _STEPS, top), top * step // _STEPS) for step in range(_STEPS + 1))
    return Chart(tuple(series), tuple(drawn), scale)


def _bar(name: str, values: tuple[int, ...], place: int, room: float, top: int, label_every: int) -> Bar:
    x, width = _LEFT + room * (place + _GAP / 2), room * (1 - _GAP)
    parts, below = [], float(HEIGHT - _BOTTOM)
    for number, value in enumerate(values, start=1):
        if value > 0:
            height = max(_LEAST, HEIGHT - _BOTTOM - _y(value, top))
            below -= height
            parts.append(Part(number, round(below, 1), round(height, 1)))
    labelled = place % label_every == 0
    return Bar(
        name=name, x=round(x, 1), width=round(width, 1), middle=round(x + width / 2, 1), parts=tuple(parts),
        values=values, labelled=labelled, minor=labelled and place // label_every % 2 == 1,
    )  # fmt: skip


def _y(value: float, top: int) -> float:
    return round(HEIGHT - _BOTTOM - (HEIGHT - _BOTTOM - _TOP) * value / top, 1)


def _round_up(value: int) -> int:
    """The next 4, 8, 20, 40, 80, 200, ...: a quarter of it is a round number too."""
    top = _STEPS
    while top < value:
        top = top * 5 // 2 if str(top).startswith("8") else top * 2
    return top

"""Draws what `bench.growth` measured, as SVG written by hand: readable on light and dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

WIDTH, HEIGHT, LEFT, TOP, GAP = 860, 340, 64, 56, 96
PLOT_W, PLOT_H = 330, 220
COLOURS = ("#3b6ea5", "#c0673a", "#3f8f6b", "#8a5ea8")
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1d2733}.title{font-weight:600}.axis{stroke:#8793a1;stroke-width:1}"
    "@media(prefers-color-scheme:dark){text{fill:#dfe6ee}}"
)


class Sample(Protocol):
    @property
    def people(self) -> int: ...
    @property
    def messages(self) -> int: ...
    @property
    def sent(self) -> int: ...
    @property
    def cost(self) -> float: ...
    @property
    def memory(self) -> float: ...


def growth(samples: Sequence[Sample]) -> str:
    """Two plots: cost of a hundred messages over the share of the campaign that was sent, and memory."""
    sizes = sorted({sample.people for sample in samples})
    costs = [[(s.sent / people * 100, s.cost) for s in samples if s.people == people] for people in sizes]
    memory = [[(s.messages, s.memory) for s in samples]]
    left = _plot(LEFT, "Processor ms a hundred messages", costs, COLOURS, "% of the campaign sent")
    right = _plot(LEFT + PLOT_W + GAP, "Memory of the worker, MiB", memory, COLOURS[3:], "messages")
    legend = "".join(
        f'<circle cx="{LEFT + 150 * n}" cy="{HEIGHT - 14}" r="5" fill="{COLOURS[n]}"/>'
        f'<text x="{LEFT + 150 * n + 12}" y="{HEIGHT - 9}">{people:,} people</text>'
        for n, people in enumerate(sizes)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="Cost a message and memory of a worker over the messages it sent">'
        f"<style>{STYLE}</style>{left}{right}{legend}</svg>\n"
    )


def _plot(
    x: int, title: str, lines: Sequence[Sequence[tuple[float, float]]], colours: Sequence[str], unit: str
) -> str:
    """One plot whose axes begin at zero."""
    right = max(point[0] for line in lines for point in line)
    high = max(point[1] for line in lines for point in line) * 1.15
    bottom = TOP + PLOT_H
    parts = [
        f'<text class="title" x="{x}" y="{TOP - 22}">{title}</text>',
        f'<path class="axis" fill="none" d="M{x} {TOP}V{bottom}H{x + PLOT_W}"/>',
        f'<text x="{x + PLOT_W}" y="{bottom + 20}" text-anchor="end">{right:,.0f} {unit}</text>',
        f'<text x="{x}" y="{bottom + 20}">0</text>',
        f'<text x="{x - 8}" y="{TOP + 5}" text-anchor="end">{high:,.0f}</text>',
    ]
    for line, colour in zip(lines, colours, strict=False):
        points = " ".join(
            f"{x + at / right * PLOT_W:.1f},{bottom - value / high * PLOT_H:.1f}" for at, value in line
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
    return "".join(parts)

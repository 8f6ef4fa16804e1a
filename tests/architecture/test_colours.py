"""The contrast of the design's colour pairs, computed from the style sheet itself."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings

SHEET = Path(settings.BASE_DIR) / "static" / "css" / "app.css"
_TOKEN = re.compile(r"--([\w-]+):\s*light-dark\((#[0-9a-f]{6}),\s*(#[0-9a-f]{6})\)")
TEXT, GRAPHIC = 4.5, 3.0

TEXT_PAIRS = [
    *[
        ("text", on)
        for on in ("bg", "surface", "surface-2", "primary-weak", "danger-weak", "warn-weak", "info-weak")
    ],
    *[("muted", on) for on in ("bg", "surface", "surface-2")],
    *[("primary", on) for on in ("bg", "surface", "primary-weak")],
    *[(tone, on) for tone in ("danger", "success", "warn", "info") for on in ("surface", f"{tone}-weak")],
    *[("primary-hover", on) for on in ("bg", "surface", "surface-2")],
    ("on-primary", "primary"),
    ("on-primary", "primary-hover"),
    ("on-danger", "danger"),
    ("on-danger", "danger-hover"),
    ("danger", "surface-2"),
    ("text", "success-weak"),
]
GRAPHIC_PAIRS = [
    *[("line-strong", on) for on in ("bg", "surface", "surface-2")],
    *[("info", on) for on in ("bg", "surface", "surface-2")],  # the focus ring
    *[(f"s{i}", "surface") for i in range(1, 6)],
]


@cache
def tokens() -> dict[str, tuple[str, str]]:
    return {name: (light, dark) for name, light, dark in _TOKEN.findall(SHEET.read_text(encoding="utf-8"))}


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    bright, dim = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def test_black_on_white_is_21_to_1() -> None:
    assert round(contrast("#000000", "#ffffff"), 2) == 21


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("ink", "paper"), TEXT_PAIRS)
def test_text_can_be_read(ink: str, paper: str, theme: int) -> None:
    assert contrast(tokens()[ink][theme], tokens()[paper][theme]) >= TEXT


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("ink", "paper"), GRAPHIC_PAIRS)
def test_controls_and_graphics_can_be_seen(ink: str, paper: str, theme: int) -> None:
    assert contrast(tokens()[ink][theme], tokens()[paper][theme]) >= GRAPHIC


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_the_arrow_of_a_select_can_be_seen(theme: int) -> None:
    stroke = re.search(r'stroke="(#[0-9a-f]{6})"', (SHEET.parent.parent / "img" / "select.svg").read_text())
    assert stroke is not None
    assert contrast(stroke.group(1), tokens()["surface"][theme]) >= GRAPHIC


@pytest.mark.parametrize(
    ("ink", "paper", "light", "dark"),
    [
        ("text", "surface", 16.4, 13.9),
        ("muted", "surface-2", 6.1, 6.8),
        ("primary", "primary-weak", 6.4, 7.0),
        ("line-strong", "surface-2", 3.6, 4.6),
        ("danger", "danger-weak", 5.6, 8.3),
    ],
)
def test_the_ratios_are_those_of_the_design(ink: str, paper: str, light: float, dark: float) -> None:
    found = [round(contrast(tokens()[ink][i], tokens()[paper][i]), 1) for i in (0, 1)]
    assert found == [light, dark]

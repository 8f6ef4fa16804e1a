"""What templates, style sheets and scripts may not contain: the CSP and two directions depend on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SHEETS = sorted((ROOT / "static" / "css").glob("*.css"))
SCRIPTS = sorted((ROOT / "static" / "js").rglob("*.js"))

FORBIDDEN_IN_TEMPLATES = {
    "an inline style": re.compile(r"<[^>]*\sstyle\s*=", re.I),
    "an inline handler": re.compile(r"<[^>]*\son[a-z]+\s*=", re.I),
    "hx-on": re.compile(r"hx-on[:-]", re.I),
    "a js: value": re.compile(r"""["']\s*(?:js|javascript):""", re.I),
    "an inline script": re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)", re.I),
    "a style element": re.compile(r"<style\b", re.I),
    "a filter in hx-trigger": re.compile(r"""hx-trigger(?::inherited)?=["'][^"']*\[""", re.I),
    "an outside address": re.compile(r"""(?:src|href|action)=["'](?:https?:)?//""", re.I),
    "a target without a swap of its own": re.compile(
        r"<[^>]*hx-(?:get|post)=(?![^>]*hx-swap=)[^>]*hx-target=", re.I
    ),
}
_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_PHYSICAL = re.compile(
    r"\b(?:left|right)\b|(?:margin|padding|border)-(?:left|right|top|bottom)|(?<![-\w])(?:top|bottom)\s*:"
)
_IMPORT = re.compile(r"^\s*(?:import|export)\b.*from .*$|^\s*import \".*$", re.M)
SAMPLES = {
    "an inline style": '<p style="color:red">',
    "an inline handler": '<a onclick="x()">',
    "hx-on": '<a hx-on:click="x()">',
    "a js: value": "<a hx-vals='js:{a: 1}'>",
    "an inline script": "<script>x()</script>",
    "a style element": "<style>p{}</style>",
    "a filter in hx-trigger": '<a hx-trigger="click[ctrlKey]">',
    "an outside address": '<script src="https://cdn.example/x.js"></script>',
    "a target without a swap of its own": '<a hx-get="/x" hx-target="#y">',
}


def _found(text: str, pattern: re.Pattern[str], file: Path) -> Iterator[str]:
    for match in pattern.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield f"{file.relative_to(ROOT)}:{line} {match.group(0)[:80]!r}"


@pytest.mark.parametrize("what", FORBIDDEN_IN_TEMPLATES)
def test_no_template_has(what: str) -> None:
    pattern = FORBIDDEN_IN_TEMPLATES[what]
    assert [
        hit for file in TEMPLATES for hit in _found(file.read_text(encoding="utf-8"), pattern, file)
    ] == []


@pytest.mark.parametrize("what", FORBIDDEN_IN_TEMPLATES)
def test_the_rule_finds_a_planted_fault(what: str) -> None:
    assert FORBIDDEN_IN_TEMPLATES[what].search(SAMPLES[what])


def test_an_ordinary_element_breaks_no_rule() -> None:
    good = (
        '<a class="btn" href="/x" hx-get="/x" hx-target="#y" hx-swap="outerMorph" data-once="1">on time</a>'
    )
    assert [what for what, pattern in FORBIDDEN_IN_TEMPLATES.items() if pattern.search(good)] == []


def test_own_style_sheets_know_no_left_or_right() -> None:
    sheets = {file: _COMMENT.sub("", file.read_text(encoding="utf-8")) for file in SHEETS}
    assert [hit for file, text in sheets.items() for hit in _found(text, _PHYSICAL, file)] == []


@pytest.mark.parametrize("fault", ["float: left", "margin-right: 1px", "padding-left: 0", "top: 0"])
def test_a_physical_side_in_a_sheet_is_found(fault: str) -> None:
    assert _PHYSICAL.search(fault)


def test_own_style_sheets_load_nothing_from_elsewhere() -> None:
    outside = re.compile(r"url\(\s*[\"']?(?:https?:|//|data:)|@import")
    assert [hit for file in SHEETS for hit in _found(file.read_text(encoding="utf-8"), outside, file)] == []


def test_every_import_of_a_script_ends_with_a_semicolon() -> None:
    """The hashed static storage rewrites only those."""
    imports = [(file, line) for file in SCRIPTS for line in _IMPORT.findall(file.read_text(encoding="utf-8"))]
    assert [(file.name, line) for file, line in imports if not line.rstrip().endswith(";")] == []


def test_scripts_write_no_markup_from_text() -> None:
    unsafe = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function")
    assert [hit for file in SCRIPTS for hit in _found(file.read_text(encoding="utf-8"), unsafe, file)] == []


def test_every_page_extends_a_shared_frame() -> None:
    """A page that starts its own document misses language, direction, scripts and the live region."""
    own = [f.relative_to(ROOT).as_posix() for f in TEMPLATES if "<html" in f.read_text(encoding="utf-8")]
    assert own == ["templates/base.html", "templates/errors/plain.html"]


def test_every_icon_that_a_template_names_is_drawn() -> None:
    drawn = set(
        re.findall(r'<symbol id="([\w-]+)"', (ROOT / "static/img/icons.svg").read_text(encoding="utf-8"))
    )
    named = {
        name
        for file in TEMPLATES
        for name in re.findall(r'(?:{% icon |icon=)"([\w-]+)"', file.read_text(encoding="utf-8"))
    }
    assert named - drawn == set()

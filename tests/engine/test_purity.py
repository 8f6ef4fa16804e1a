"""The engine decides and does nothing: no I/O, no clock, no chance, no word of what it is used for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import engine

FILES = sorted(Path(engine.__file__).parent.glob("**/*.py"))
ALLOWED = {
    "__future__",
    "collections",
    "collections.abc",
    "dataclasses",
    "datetime",
    "dateutil.relativedelta",
    "enum",
    "functools",
    "hashlib",
    "itertools",
    "operator",
    "re",
    "typing",
    "zoneinfo",
}
CLOCKS = {"now", "today", "utcnow", "fromtimestamp", "utcfromtimestamp"}
DYNAMIC = {"eval", "exec", "compile", "open", "input", "print", "__import__", "globals", "getattr", "setattr"}
FOREIGN = re.compile(r"sms|blacklist|daily_?(limit|cap)|campaigns|django|celery", re.IGNORECASE)


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def imports(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield node.module or ""


def identifiers(path: Path) -> Iterator[str]:
    for node in nodes(path):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.alias(name=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_only_the_standard_library_and_dateutil_are_imported(path: Path) -> None:
    foreign = {name for name in imports(path) if not name.startswith("engine.") and name not in ALLOWED}
    assert foreign == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_clock_is_read_and_nothing_is_run_by_name(path: Path) -> None:
    called = set()
    for node in nodes(path):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Attribute(value=ast.Name(id="datetime" | "date"), attr=name) if name in CLOCKS:
                    called.add(name)
                case ast.Name(id=name) if name in DYNAMIC:
                    called.add(name)
                case ast.Attribute(attr="format" | "format_map"):
                    called.add("str.format")
    assert called == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_name_speaks_of_what_the_engine_is_used_for(path: Path) -> None:
    assert [name for name in identifiers(path) if FOREIGN.search(name)] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_functions_are_short_and_modules_fit_a_screenful_of_screens(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
    long = [
        node.name
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno + 1 > 45
    ]
    assert long == []

"""The page of faults names one test a row, by its id, and each of them exists."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache

import pytest

from tests.faults.house import ROOT
from tests.faults.test_failpoints import calls

SECTIONS = (
    "Claim and dispatch",
    "Reserve, call, record",
    "Workers, broker, operating system",
    "Database",
    "What comes in, imports, selections",
)
ROW = re.compile(r"^\| (?P<fault>[^|]+) \| (?P<behaviour>[^|]+) \| (?P<test>[^|]+) \|$")
ID = re.compile(r"`(?P<file>[\w/]+\.py)::(?P<name>\w+)(?P<case>\[[\w-]+\])?`")


def rows(section: str) -> list[re.Match[str]]:
    page = (ROOT / "docs/faults.md").read_text(encoding="utf-8")
    body = page.split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in body.splitlines() if line.startswith("|")][2:]
    found = [ROW.match(line) for line in lines]
    assert all(found), section
    return [row for row in found if row]


def named() -> list[str]:
    return [row["test"] for section in SECTIONS for row in rows(section)]


@cache
def collected() -> set[str]:
    """The ids of all tests in the files that the page names, with and without their case."""
    files = sorted({f"tests/{match['file']}" for match in map(ID.fullmatch, named()) if match})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    ids = {line.removeprefix("tests/") for line in done.stdout.splitlines() if "::" in line}
    return ids | {one.split("[")[0] for one in ids}


@pytest.mark.parametrize("section", SECTIONS)
def test_each_row_names_one_test_that_exists(section: str):
    for row in rows(section):
        match = ID.fullmatch(row["test"])
        assert match, f"name one test by its id: {row['fault']}"
        assert row["test"].strip("`") in collected(), row["test"]


def test_no_two_rows_name_the_same_test():
    twice = {test for test in named() if named().count(test) > 1}
    assert not twice


def test_every_place_where_a_process_is_killed_is_on_the_page():
    """Its row names the case of the kill matrix, or the test of the job it belongs to does."""
    page = (ROOT / "docs/faults.md").read_text(encoding="utf-8")
    chunked = (ROOT / "tests/faults/test_chunked_jobs.py").read_text(encoding="utf-8")
    places = {str(getattr(argument, "value", "")) for argument in calls()}
    missing = [name for name in places if f"[{name}-" not in page and f"{name}=kill" not in chunked]
    assert not missing

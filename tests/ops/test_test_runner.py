"""The test command's own decisions: what it runs, and what its exit code means."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from script import run_tests
from script.run_tests import Report, Step

PYTEST = Step("tests", ("pytest",), is_pytest=True, may_be_empty=True)
LINT = Step("lint", ("ruff",))


def steps(*arguments: str) -> list[Step]:
    return run_tests.pytest_steps(
        run_tests.parse(arguments), "postgresql://x", "redis://y", Path("/chromium")
    )


def test_everything_runs_by_default() -> None:
    assert [step.title for step in steps()] == [
        "tests on PostgreSQL", "database tests on SQLite", "faults on PostgreSQL", "browser", "demos",
        "concurrency on PostgreSQL",
    ]  # fmt: skip


def test_fast_leaves_out_browser_concurrency_and_faults() -> None:
    assert [step.title for step in steps("--fast")] == ["tests on PostgreSQL", "database tests on SQLite"]


def test_the_soak_is_part_of_a_whole_run_only() -> None:
    asked = [run_tests.soak_steps(run_tests.parse(words)) for words in ([], ["--fast"], ["-k", "x"])]
    assert [[step.title for step in steps] for steps in asked] == [["3 minutes of random faults"], [], []]


def test_other_arguments_go_to_every_test_run() -> None:
    assert all(step.command[-2:] == ("-k", "window") for step in steps("--fast", "-k", "window"))


def test_the_second_run_does_not_see_the_first_database() -> None:
    by_title = {step.title: step for step in steps()}

    assert by_title["tests on PostgreSQL"].env["TEST_DATABASE_URL"] == "postgresql://x"
    assert by_title["database tests on SQLite"].env["TEST_DATABASE_URL"] == ""


def test_a_failed_step_fails_the_run() -> None:
    report = Report()
    report.add(LINT, 1, 0.1)
    report.add(PYTEST, 0, 0.1)

    assert report.exit_code == 1


@pytest.mark.parametrize(("code", "failed"), [(0, []), (3, ["3 minutes of random faults"])])
def test_what_runs_beside_others_is_shown_and_counts(
    code: int, failed: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = f"import sys; print('a seed'); sys.exit({code})"
    soak = Step("3 minutes of random faults", (sys.executable, "-c", program))
    beside = Step("demos", (sys.executable, "-c", "print('a story')"))
    report = Report()

    run_tests.run_beside([soak], [beside], report, tmp_path)

    assert report.failed == failed
    assert len(report.lines) == 2
    printed = capfd.readouterr().out
    assert printed.index("a story") < printed.index("3 minutes of random faults") < printed.index("a seed")


def test_a_selection_that_is_empty_in_one_run_only_is_fine() -> None:
    report = Report()
    report.add(PYTEST, 0, 0.1)
    report.add(PYTEST, run_tests.NO_TESTS, 0.1)

    assert report.exit_code == 0


def test_a_selection_that_is_empty_everywhere_is_an_error() -> None:
    report = Report()
    report.add(PYTEST, run_tests.NO_TESTS, 0.1)

    assert report.exit_code == run_tests.NO_TESTS


def test_a_run_without_any_test_is_an_error_where_nobody_selected() -> None:
    report = Report()
    report.add(Step("tests", ("pytest",), is_pytest=True), run_tests.NO_TESTS, 0.1)

    assert report.exit_code == 1


def test_workers_that_crashed_do_not_pass_for_an_empty_selection() -> None:
    report = Report()
    report.add(PYTEST, 0, 0.1)
    report.add(PYTEST, run_tests.NO_TESTS, 0.1, crashed=True)

    assert report.exit_code == 1


@pytest.mark.parametrize(
    ("line", "passed", "failed"),
    [
        ("==== 12 passed, 3 skipped in 4.56s ====", 12, 0),
        ("1 failed, 7 passed, 2 deselected in 61.02s (0:01:01)", 7, 1),
        ("\x1b[32m5 passed\x1b[0m\x1b[32m in 0.10s\x1b[0m", 5, 0),
        ("the 4 passed tests", 0, 0),
    ],
)
def test_closing_lines_are_counted(line: str, passed: int, failed: int) -> None:
    counts = run_tests.counts_of(line)

    assert (counts["passed"], counts["failed"]) == (passed, failed)

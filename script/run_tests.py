"""Everything that must hold before a change is good, in one command.

    script/test [--fast] [--static-only] [pytest arguments]

Lint, types, import contracts, migrations, deployment check, translations and vendored files first;
then the tests on PostgreSQL, those that use a database once more on SQLite, those about faults, those in a
browser, and last three minutes of random faults (`script/soak`) beside the demos and the tests about
concurrency, which leave half of two processors idle. Servers are started for the run unless
TEST_DATABASE_URL and TEST_REDIS_URL name some. `--fast` leaves out all but the first two; arguments for
pytest leave out the soak. A failure does not hide the ones after it; the exit code is 0 only when nothing
failed.
"""

from __future__ import annotations

import base64
import os
import re
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from script import processes, services

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
LOG = ROOT / "var" / "log" / "test-setup.log"
SOAK_MINUTES = "3"
BESIDE_THE_SOAK = ("demos", "concurrency on PostgreSQL")
NO_TESTS = 5  # pytest's exit code when its arguments select nothing
PYTHON_FOLDERS = (
    "automation", "blacklist", "bench", "campaigns", "config", "core", "demo", "engine", "script",
    "sms", "targets", "tests", "workspaces",
)  # fmt: skip
CRASH = re.compile(r"^(?:\[gw\d+\] node down|INTERNALERROR>|ERROR: )")
CLOSING_LINE = re.compile(r"^=*\s*((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s")


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asked for."""

    fast: bool
    static_only: bool
    to_pytest: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One command with the title it is announced by."""

    title: str
    command: tuple[str | Path, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    is_pytest: bool = False
    may_be_empty: bool = False


@dataclass(slots=True)
class Report:
    """What ran, how long, and what came out."""

    lines: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    pytest_runs: int = 0
    empty_runs: int = 0

    def add(self, step: Step, code: int, seconds: float, *, crashed: bool = False) -> None:
        """Note the end of a step.

        That nothing was selected is no failure of a single step where arguments made the selection,
        and a test run whose workers crashed before they found a test only looks like that.
        """
        nothing = step.may_be_empty and code == NO_TESTS and not crashed
        ok = code == 0 or nothing
        word = "nothing selected" if nothing else "ok" if ok else f"FAILED (exit {code})"
        self.lines.append(f"{seconds:7.1f} s  {step.title}: {word}")
        if not ok:
            self.failed.append(step.title)
        self.pytest_runs += step.is_pytest
        self.empty_runs += nothing

    @property
    def exit_code(self) -> int:
        """0 when nothing failed and at least one test ran where tests were asked for."""
        nothing_ran = self.pytest_runs > 0 and self.empty_runs == self.pytest_runs
        return 1 if self.failed else NO_TESTS if nothing_ran else 0


def parse(arguments: Sequence[str]) -> Options:
    """Take out our own switches; everything else is pytest's."""
    ours = {"--fast", "--static-only"}
    return Options(
        fast="--fast" in arguments,
        static_only="--static-only" in arguments,
        to_pytest=tuple(argument for argument in arguments if argument not in ours),
    )


def counts_of(line: str) -> Counter[str]:
    """The numbers in pytest's closing line; empty for any other line."""
    found = CLOSING_LINE.match(re.sub(r"\x1b\[[0-9;]*m", "", line).strip())
    if not found:
        return Counter()
    pairs = (part.split() for part in found.group(1).split(", ") if part)
    return Counter({word: int(number) for number, word in pairs})


def fresh_secrets() -> dict[str, str]:
    """Keys for one run: nothing in the repository is a key."""
    return {
        "PEYK_SECRET_KEY": secrets.token_urlsafe(48),
        "PEYK_DATA_KEYS": "k1:" + base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
    }


def static_steps(scratch: Path) -> list[Step]:
    """The checks that need no test."""
    python = sys.executable
    local = {**fresh_secrets(), "PEYK_VAR_DIR": str(scratch), "PEYK_HTTPS": "0"}
    local["DATABASE_URL"] = f"sqlite:///{scratch / 'checks.sqlite3'}"
    production = {
        **fresh_secrets(),
        "PEYK_VAR_DIR": str(scratch),
        "PEYK_HTTPS": "1",
        "PEYK_ALLOWED_HOSTS": "peyk.example",
        "DATABASE_URL": "postgresql://peyk:unused@127.0.0.1:5432/peyk",
        "REDIS_URL": "redis://127.0.0.1:6379/0",
        "PEYK_QUEUE": "celery",
        "PEYK_METRICS_TOKEN": secrets.token_urlsafe(32),
    }
    folders = [folder for folder in PYTHON_FOLDERS if (ROOT / folder).is_dir()]
    manage = (python, "-W", "error::RuntimeWarning", "manage.py")
    return [
        Step("ruff format", (BIN / "ruff", "format", "--check", ".")),
        Step("ruff check", (BIN / "ruff", "check", ".")),
        Step("mypy --strict", (BIN / "mypy", "--strict", *folders), local),
        Step("import contracts", (BIN / "lint-imports", "--no-cache"), local),
        Step("migrations are complete", (*manage, "makemigrations", "--check", "--dry-run"), local),
        Step("check --deploy", (*manage, "check", "--deploy", "--fail-level", "WARNING"), production),
        Step("translations", (python, "-m", "script.translations", "--check"), local),
        Step("vendored files", (python, "script/vendor.py", "check")),
    ]


def pytest_steps(options: Options, database: str, redis: str, chromium: Path | None) -> list[Step]:
    """The test runs. Concurrency tests run one at a time: they measure races.

    Tests of faults wait for leases and those in a browser for pages more than they work, so two files of
    them run side by side, and so do two demos.
    """
    on_postgres = {"TEST_DATABASE_URL": database, "TEST_REDIS_URL": redis}
    on_sqlite = {"TEST_DATABASE_URL": "", "TEST_REDIS_URL": redis}
    parallel = ("-n", "2", "--dist", "loadscope")
    plain = "not browser and not concurrency and not soak"
    at_once = "concurrency and not browser and not soak"
    wanted = [
        ("tests on PostgreSQL", (*parallel, "-m", plain), on_postgres, True),
        (
            "database tests on SQLite",
            (*parallel, "-p", "script.only_database_tests", "-m", f"{plain} and not postgres"),
            on_sqlite,
            True,
        ),
        (
            "faults on PostgreSQL",
            ("-n", "2", "--dist", "loadfile", "-m", f"{at_once} and faults"),
            on_postgres,
            not options.fast,
        ),
        (
            "browser",
            ("-n", "2", "--dist", "loadfile", "-m", "browser"),
            {**on_postgres, "CHROMIUM": str(chromium or "")},
            not options.fast,
        ),
        (
            "demos",
            ("-n", "2", "--dist", "loadgroup", "-m", f"{at_once} and demo"),
            on_postgres,
            not options.fast,
        ),
        (
            "concurrency on PostgreSQL",
            ("-m", f"{at_once} and not faults and not demo"),
            on_postgres,
            not options.fast,
        ),
    ]
    return [
        Step(
            title,
            (sys.executable, "-m", "pytest", *how, *options.to_pytest),
            env,
            is_pytest=True,
            may_be_empty=bool(options.to_pytest),
        )
        for title, how, env, asked in wanted
        if asked
    ]


def soak_steps(options: Options) -> list[Step]:
    """The same seed each time: a change that fails here fails here again. `script/soak` takes others."""
    if options.fast or options.to_pytest:
        return []
    command = (sys.executable, "-m", "tests.faults", "--minutes", SOAK_MINUTES, "--seed", "1")
    return [Step(f"{SOAK_MINUTES} minutes of random faults", command)]


def run_beside(aside: Sequence[Step], steps: Sequence[Step], report: Report, folder: Path) -> None:
    """Run `steps` in turn while those of `aside` run; what these print is shown when all have ended.

    Their seconds are those of the whole: nobody looks when they end.
    """
    start = time.monotonic()
    with ExitStack() as stack:
        children = []
        for step in aside:
            child = processes.start(
                step.command, log=folder / step.title, env={**os.environ, **step.env}, cwd=ROOT
            )
            stack.callback(processes.stop, child, first=signal.SIGINT)
            children.append((step, child))
        for step in steps:
            run_step(step, report)
        ended = [(step, child.wait()) for step, child in children]
    for step, code in ended:
        announce(f"{step.title}, beside the above")
        print((folder / step.title).read_text(errors="replace"), flush=True)
        report.add(step, code, time.monotonic() - start)


def announce(title: str) -> None:
    print(f"\n== {title} " + "=" * max(3, 92 - len(title)), flush=True)


def run_step(step: Step, report: Report) -> None:
    """Announce a step, run it with its output shown as it comes, and note how it went."""
    announce(step.title)
    start, crashed = time.monotonic(), False

    def show(line: str) -> None:
        nonlocal crashed
        sys.stdout.write(line)
        sys.stdout.flush()
        if step.is_pytest:
            report.counts.update(counts_of(line))
            crashed = crashed or bool(CRASH.search(line))

    code = processes.run(step.command, env={**os.environ, **step.env}, cwd=ROOT, each_line=show)
    report.add(step, code, time.monotonic() - start, crashed=crashed)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for this run, outside the checkout."""
    folder = Path(tempfile.mkdtemp(prefix="peyk-test-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def start_services(stack: ExitStack, folder: Path) -> tuple[str, str]:
    """URLs of the database server and of Redis, started here unless the environment names them."""
    database = os.environ.get("TEST_DATABASE_URL", "")
    redis = os.environ.get("TEST_REDIS_URL", "")
    if not database:
        programs = services.require(services.POSTGRES, log=LOG, say=print)
        database = stack.enter_context(services.postgres(folder, programs=programs))
    if not redis:
        program = services.require(services.REDIS, log=LOG, say=print)
        redis = stack.enter_context(services.redis(folder / "redis", program=program))
    return database, redis


def run(options: Options, report: Report) -> None:
    """Every step, whatever failed before it. Raises ServiceError when a service cannot be had."""
    with scratch_folder() as folder, ExitStack() as stack:
        static_folder = folder / "static"
        static_folder.mkdir()
        for step in static_steps(static_folder):
            run_step(step, report)
        if options.static_only:
            return
        chromium = None if options.fast else services.require(services.CHROMIUM, log=LOG, say=print)
        database, redis = start_services(stack, folder)
        steps = pytest_steps(options, database, redis, chromium)
        for step in steps:
            if step.title not in BESIDE_THE_SOAK:
                run_step(step, report)
        rest = [step for step in steps if step.title in BESIDE_THE_SOAK]
        run_beside(soak_steps(options), rest, report, folder)


def close(report: Report) -> int:
    """Print what ran and the sum of all test runs; the exit code."""
    print("\n== summary " + "=" * 84)
    print("\n".join(report.lines))
    for title in report.failed:
        print(f"FAILED: {title}")
    if report.pytest_runs:
        failed = report.counts["failed"] + report.counts["error"] + report.counts["errors"]
        print(f"{report.counts['passed']} passed, {failed} failed, {report.counts['skipped']} skipped")
    return report.exit_code


def main(arguments: Sequence[str]) -> int:
    """Entry point."""
    report = Report()
    try:
        with processes.unwinding_on_signals():
            run(parse(arguments), report)
    except services.ServiceError as error:
        print(error, file=sys.stderr)
        close(report)
        return 1
    except processes.Stopped as stopped:
        print("Stopped; every server that was started is gone.", file=sys.stderr)
        return stopped.exit_code
    return close(report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

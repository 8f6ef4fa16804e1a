"""One small host: SQLite and the embedded queue, through the whole chain to a panel without delay.

Two ways to work the queue are measured: a permanent django-q2 worker, and `--drain` from cron alone, where
the tick's own process works it. Fails when a message is lost.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import house, traffic
from bench.installation import ROOT, Installation, Panel, installation

WARM_UP = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--people", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="peyk-bench-") as folder,
        installation(database=f"sqlite:///{folder}/peyk.sqlite3", queue="django_q") as made,
    ):
        Path(made.environment["PEYK_VAR_DIR"]).mkdir(parents=True)
        house.set_up(made.environment)
        panel = made.start_panel()
        campaign = house.one_campaign(rows=options.rows, due=0, targets=True, provider_url=panel.url)
        drained = [_drained(campaign, made, panel, options.people) for _ in range(options.rounds)]
        made.start_django_q()
        traffic.make_due(campaign, WARM_UP)
        traffic.send_all(panel, WARM_UP)
        worked = [_worked(campaign, panel, options.people) for _ in range(options.rounds)]
        _print("automation_tick --drain, nothing else running", drained)
        _print("a permanent django-q2 worker (two processes)", worked)
        print(traffic.check_books(panel))


def _worked(campaign: Any, panel: Panel, people: int) -> float:
    traffic.make_due(campaign, people)
    return people / traffic.send_all(panel, people)


def _drained(campaign: Any, made: Installation, panel: Panel, people: int) -> float:
    """The command as cron starts it, its start included."""
    import os

    traffic.make_due(campaign, people)
    before, began = panel.counts()["messages"], time.perf_counter()
    done = subprocess.run(
        [sys.executable, "manage.py", "automation_tick", "--drain", "--json"], cwd=ROOT, check=False,
        env={**os.environ, **made.environment}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    seconds = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"the tick failed: {done.stderr[-2000:]}")
    sent = panel.counts()["messages"] - before
    if sent != people:
        sys.exit(f"{sent} of {people} were sent: {json.loads(done.stdout.splitlines()[-1])}")
    return people / seconds


def _print(label: str, rates: list[float]) -> None:
    print(f"{label}: {sorted(rates)[len(rates) // 2]:.0f} messages/s")


if __name__ == "__main__":
    main()

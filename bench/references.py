"""Runs the reference scripts of another folder as they are, beside the product.

They are hand-written for one table of their own: what this machine can do with nothing but the work itself
(set-based), what most teams write (one by one), and a durable-execution library (DBOS). `--floors` names
their folder and `--floors-python` an interpreter with their requirements.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from bench import house
from script import processes

PREPARE = """
import sys
sys.argv = ["b7", "{rows}"]
import b7_composite as b7
with b7.connect() as c:
    b7.F.create(c); b7.F.fill(c, b7.TOTAL, 0); b7.F.index(c); b7.F.vacuum(c)
    b7.b.counters(c); b7.F.vacuum(c, "send_counter"); b7.F.checkpoint(c)
"""
RUN = """
import sys
sys.argv = ["b7", "{rows}"]
import b7_composite as b7
b7.run("{case}", b7.tick_{case}, {people}, {workers}, {delay}, {threads}, reps=1)
"""
DBOS = """
import sys
sys.argv = ["b4", "dbos"]
import b4_dbos2
print("rate", b4_dbos2.go({workers}, {walks}, 4))
"""


class References:
    """The scripts of `folder` against databases of their own on the bench's servers."""

    def __init__(self, folder: Path, python: str, *, redis_at: str, rows: int, results: Path) -> None:
        self.folder, self.python, self.rows, self.results = folder, python, rows, results
        base = house.database_url().rsplit("/", 1)[0]
        self.port = processes.free_port()
        ours = ("DJANGO_", "PEYK_", "TEST_")
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(ours)},
            "DATABASE_URL": f"{base}/floors",
            "REDIS_URL": redis_at,
            "FLOORS_HTTP_PORT": str(self.port),
            "FLOORS_RESULTS": str(results),
            "FLOORS_QUIET_WAIT": "0",
            "FLOORS_PROBE": "0",
            "PYTHONPATH": str(folder),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        for name in ("floors", "floors_dbos"):
            house.new_database(f"{base}/{name}")

    def start_provider(self) -> subprocess.Popen[str]:
        """Their stand-in for a provider; the caller stops it."""
        return processes.start(
            [self.python, self.folder / "fake_provider.py", str(self.port)],
            log=self.results / "provider.log", env=self.environment,
        )  # fmt: skip

    def prepare(self) -> None:
        self._python(PREPARE.format(rows=self.rows))

    def rate(self, case: str, *, people: int, delay: int, workers: int, threads: int) -> float:
        """Messages a second of `set` (set-based) or `naive` (one by one)."""
        code = RUN.format(
            rows=self.rows, case=case, people=people, workers=workers, delay=delay, threads=threads
        )
        self._python(code)
        rows = json.loads((self.results / "b7_composite.json").read_text())["rows"]
        return float(rows[0]["values"][0])

    def dbos_rate(self, *, workers: int, walks: int) -> float:
        """Durable walks of two steps and a timer a second; they call no provider."""
        output = self._python(DBOS.format(workers=workers, walks=walks))
        return float(next(line for line in output.splitlines() if line.startswith("rate ")).split()[1])

    def _python(self, code: str) -> str:
        done = subprocess.run(
            [self.python, "-c", code], env=self.environment, cwd=self.results, capture_output=True, text=True,
            timeout=900, check=False,
        )  # fmt: skip
        if done.returncode:
            sys.exit(f"a reference script failed:\n{done.stderr[-2000:]}")
        return done.stdout
